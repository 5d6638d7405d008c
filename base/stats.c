/* Quantiles, the time histogram, and Wilson's interval. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stats_quantile(double *values, size_t n, double q)
{
	double position, whole;
	size_t i;

	if (n == 0)
		return NAN;
	qsort(values, n, sizeof *values, compare_double);
	position = modf(q * (double)(n - 1), &whole);
	i = (size_t)whole;
	if (i + 1 >= n)
		return values[n - 1];
	return values[i] + position * (values[i + 1] - values[i]);
}

/* Values below HISTOGRAM_SUB have a bucket each; above, the top 5 bits after
 * the first select it. */
static size_t bucket_of(int64_t ns)
{
	uint64_t v = ns > 0 ? (uint64_t)ns : 0;
	int exponent;
	size_t i;

	if (v < HISTOGRAM_SUB)
		return (size_t)v;
	exponent = 63 - __builtin_clzll(v) - 5;
	i = (size_t)(exponent + 1) * HISTOGRAM_SUB + (size_t)((v >> exponent) - HISTOGRAM_SUB);
	return i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1;
}

static int64_t bucket_upper(size_t i)
{
	size_t exponent;

	if (i < HISTOGRAM_SUB)
		return (int64_t)i;
	exponent = i / HISTOGRAM_SUB - 1;
	return (int64_t)(((i % HISTOGRAM_SUB) + HISTOGRAM_SUB + 1) << exponent) - 1;
}

void histogram_add(struct histogram *h, int64_t ns)
{
	h->count++;
	h->bucket[bucket_of(ns)]++;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

int64_t histogram_quantile(const struct histogram *h, double q)
{
	uint64_t rank, seen = 0;

	if (h->count == 0)
		return -1;
	rank = (uint64_t)ceil(q * (double)h->count);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank && seen > 0)
			return bucket_upper(i) < h->max_ns ? bucket_upper(i) : h->max_ns;
	}
	return h->max_ns;
}

void stats_wilson(uint64_t k, uint64_t n, double z, double *low, double *high)
{
	double p = n ? (double)k / (double)n : 0, m = n ? (double)n : 1;
	double centre = (p + z * z / (2 * m)) / (1 + z * z / m);
	double half = z / (1 + z * z / m) * sqrt(p * (1 - p) / m + z * z / (4 * m * m));

	/* at the ends they are exact, and rounding must not say otherwise */
	*low = k ? fmax(0, centre - half) : 0;
	*high = k < n ? fmin(1, centre + half) : 1;
}

/*
 * The 97.5 % quantile of Student's t, within 1 % from 3 degrees of freedom on: Abramowitz and
 * Stegun 26.7.5. The first two are known exactly.
 */
static double student(double freedom)
{
	const double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	if (freedom < 3)
		return freedom < 2 ? 12.7062047362 : 4.3026527297;
	return z + (z3 + z) / (4 * freedom) +
	       (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

void stats_mean(const double *values, size_t n, double *mean, double *half_width)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	*mean = n ? sum / (double)n : NAN;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - *mean) * (values[i] - *mean);
	*half_width =
		n < 2 ? NAN
		      : student((double)(n - 1)) * sqrt(squares / ((double)(n - 1) * (double)n));
}
