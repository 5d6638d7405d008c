/* See simulate.h. Nobody interrupts it in order: what computes is a process that can be killed. */
#include "bench/cli/simulate.h"

#include "bench/case.h"
#include "bench/model/fleet.h"

int simulate_case(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err)
{
	struct progress progress = {.quiet = true};
	const struct case_context context = {.folder = folder,
		.progress = &progress,
		.signal_fd = -1,
		.index = index,
		.n_cases = 1};

	return scenario_is_fleet(s) ? fleet_case(c, s, &context, err)
				    : case_model(c, s, &context, err);
}
