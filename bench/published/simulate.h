/*
 * Published jobs and measurements in simulated time: the real strategies on the event-driven model.
 */
#pragma once

#include "base/error.h"
#include "results/published/published.h"

#define SIMULATE_IDEAL 0. /* as rtt_s: an ideal link without delay, instead of TCP */

/*
 * Compute utilisation, 0..1, of the job over links of rate_bps with this round trip: two sites (as
 * many as replicas), the program's default transport and queue. Strided fragments become as
 * many buckets as a fragment has layers, even in the backward pass.
 */
int simulate_utilisation(double *out, const struct published_job *job, double rate_bps,
	double rtt_s, struct error *err);

/*
 * The least rate, bit/s, at which it is at least `utilisation`, to 2 % (0.1 % when ideal): searched
 * from ideal_bps, what an ideal link needs, up to SIMULATE_MOST times as much. NaN: not even
 * there.
 */
#define SIMULATE_MOST 100.
int simulate_rate(double *out, const struct published_job *job, double utilisation,
	double ideal_bps, double rtt_s, struct error *err);

/* What a measurement's scenario gives for this case, as the table's quantity is. */
int simulate_measured(double *out, const struct published_table *table, const char *scenario,
	int case_index, struct error *err);
