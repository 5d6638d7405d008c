/*
 * What the links of one case carried, from samples.csv: per direction a line of bins over the
 * run's time, few enough to draw, and the times when it was down.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct span {
	double from_s, until_s;
};

/* One direction of a site's link. Arrays of `bins` values; NaN where nothing was sampled. */
struct series_line {
	char *site;
	bool up;
	double *rate_bps;  /* mean over the bin, weighted by time: sums to what samples.csv says */
	double *limit_bps; /* likewise */
	double *delay_low_s, *delay_high_s; /* least and greatest in the bin */
	size_t n_outages;
	struct span *outages;
};

struct series {
	double until_s; /* of the last sample; bin i covers [i, i + 1) * until_s / bins */
	int bins;
	size_t n_lines;
	struct series_line *lines; /* in the order of samples.csv */
	size_t expected;	   /* while reading: the line whose row is likely the next */
};

/*
 * NULL when there are no samples of this case. At most bins_max bins (> 0). Samples later than
 * latest_s are damage and passed over.
 */
struct series *series_load(const char *folder, int case_index, int bins_max, double latest_s);
struct series *series_free(struct series *s); /* accepts NULL, returns NULL */
