/*
 * Two runs side by side: what they were told that differs, and what became of each figure. For
 * those who change an algorithm, a link or this program, and ask whether anything is worse.
 *
 * Cases are matched by name; where both runs have one case, those are compared whatever their
 * names. A figure is worse when it has moved the wrong way by more than the tolerance: shares of
 * time by points, times of exchanges by a share of A's. The busiest link's rate is neither good
 * nor bad.
 */
#pragma once

#include "bench/scenario/scenario.h"
#include "results/record.h"

#define COMPARE_POINTS .02 /* of single runs on packets, on one machine */
#define COMPARE_SHARE .05

enum judgement { JUDGED_SAME, JUDGED_BETTER, JUDGED_WORSE, JUDGED_OTHER };
const char *judgement_name(enum judgement judgement); /* "same", ... "different" */

struct compare_figure {
	const char *case_name; /* A's, borrowed from its record */
	enum metric metric;
	double a, b; /* base units; NaN: unknown */
	/* b - a of shares, b / a - 1 of others; NaN where either is unknown */
	double change;
	enum judgement judged;
};

struct compare_setting {
	char *key;   /* "links.wan.rate"; items of lists counted from 1 */
	char *a, *b; /* NULL: not there */
};

struct run_comparison {
	size_t n_figures, n_settings, n_notes;
	struct compare_figure *figures; /* those that either run knows */
	struct compare_setting *settings;
	char **notes; /* a case that only one has, a verdict that is another */
	bool worse;   /* a figure is, a verdict does not hold any more, or a case is missing */
	bool invalid; /* a case of either run has no verdict because it was no valid run */
};

struct compare_tolerance {
	double points, share;
};

/* Both records are borrowed for as long as the comparison lives. */
struct run_comparison *compare_runs(
	const struct record *a, const struct record *b, const struct compare_tolerance *tolerance);
struct run_comparison *run_comparison_free(
	struct run_comparison *c); /* accepts NULL, returns NULL */
