/*
 * Statistics: quantiles of a sample, a logarithmic histogram for times, binomial intervals.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The q-quantile (0 <= q <= 1) of n values by linear interpolation between order statistics
 * (Hyndman and Fan's type 7). Sorts values in place. NaN when n is 0.
 */
double stats_quantile(double *values, size_t n, double q);

/*
 * A histogram of non-negative times with 32 buckets per power of two: quantiles are right
 * within 3.2 %. Fixed size, so that it can live in shared memory; zeroed is empty.
 */
#define HISTOGRAM_SUB 32
#define HISTOGRAM_BUCKETS (HISTOGRAM_SUB * 44)
struct histogram {
	uint64_t count;
	int64_t max_ns;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, int64_t ns);
/* The upper edge of the bucket that holds the q-quantile; never above max_ns; -1 when empty. */
int64_t histogram_quantile(const struct histogram *h, double q);

/*
 * Wilson's score interval for k successes of n at z standard deviations (2.576 for 99 %).
 * Source: E. B. Wilson, JASA 22 (1927) 209.
 */
void stats_wilson(uint64_t k, uint64_t n, double z, double *low, double *high);

/*
 * The mean of n values and half the width of its 95 % confidence interval by Student's t: NaN
 * for less than two values. The values are summed in their order.
 */
void stats_mean(const double *values, size_t n, double *mean, double *half_width);
