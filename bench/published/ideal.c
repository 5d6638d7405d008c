/* The published simulators' closed form; see ideal.h. */
#include "bench/published/ideal.h"

#include <math.h>

#define RATE_LOW_BPS 1e3
#define RATE_HIGH_BPS 1e15

/* Buckets of one exchange. */
static int buckets_of(const struct published_job *job)
{
	return job->layout == PUBLISHED_STRIDED ? job->buckets / job->fragments : job->buckets;
}

/* Where in the backward pass bucket k of a fragment is ready, 0..1. */
static double position(const struct published_job *job, int fragment, int k)
{
	int before = k;

	if (job->layout == PUBLISHED_STRIDED)
		before = fragment + k * job->fragments;
	return (double)(before + 1) / job->buckets;
}

static double stall_s(const struct published_job *job, int fragment, double rate_bps)
{
	double factor = 2. * (job->replicas - 1) / job->replicas;
	double bits = factor * job->parameters * job->bits / job->fragments / buckets_of(job);
	double T = job->step_s, end_s = 0;

	for (int k = 0; k < buckets_of(job); k++)
		end_s = fmax(end_s, T / 3 + position(job, fragment, k) * 2 * T / 3) +
			bits / rate_bps;
	return fmax(0, end_s - (1 + job->overlap) * T);
}

double ideal_utilisation(const struct published_job *job, double rate_bps)
{
	double compute_s = job->period * job->step_s, stalls_s = 0;

	for (int p = 0; p < job->fragments; p++)
		stalls_s += stall_s(job, p, rate_bps);
	return compute_s / (compute_s + stalls_s);
}

double ideal_rate_bps(const struct published_job *job, double utilisation)
{
	double low = RATE_LOW_BPS, high = RATE_HIGH_BPS;

	while (high / low > 1 + 1e-9) {
		double middle = sqrt(low * high);

		if (ideal_utilisation(job, middle) < utilisation)
			low = middle;
		else
			high = middle;
	}
	return high;
}

int ideal_grid_point(const struct published_job *job, double utilisation)
{
	int i = PUBLISHED_GRID_POINTS - 1;

	while (i >= 0 && ideal_utilisation(job, published_grid_bps(i)) >= utilisation)
		i--;
	return i;
}
