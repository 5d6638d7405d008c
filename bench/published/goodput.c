/* Goodput of a fleet; see goodput.h. */
#include "bench/published/goodput.h"

double goodput(const struct published_fleet *fleet, double chips)
{
	double failures_per_s = chips / fleet->learners / fleet->mtbi_s;

	return 1 / (1 + failures_per_s * (fleet->elastic ? GOODPUT_RESIZE_S : GOODPUT_REPAIR_S));
}
