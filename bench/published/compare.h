/*
 * A published table beside what this program says of the same cells.
 *
 * For simulated rates ours is the published simulators' closed form (ideal.h), printed by the
 * table's own rule; for a fleet's goodput the formula of goodput.h. What differs is shown and, as
 * far as it is known, explained; nothing is fitted to a single cell.
 */
#pragma once

#include "base/error.h"
#include "results/published/published.h"

struct compared_cell {
	double theirs, ours; /* as the table's quantity is; NaN: none */
	double exact;	     /* rates: before rounding to their grid */
	double ratio;	     /* ours / theirs */
	int steps;	     /* on the grid: from theirs to ours */
	double low, high;    /* rates: ours over the rounding of their step time */
};

struct comparison {
	const struct published_table *table;
	const char *how;		/* what ours is, a sentence */
	const char *why;		/* what is known of the differences */
	struct compared_cell *cells;	/* row by row; owned */
	int n_cells, n_exact, n_within; /* on the grid: printed alike, and within one step */
	double ratio_low, ratio_high;
	double most_off; /* shares of time: the largest difference */
};

int compare_table(struct comparison **out, const struct published_table *table, struct error *err);
struct comparison *comparison_free(struct comparison *c); /* accepts NULL */

const struct compared_cell *comparison_cell(const struct comparison *c, size_t row, size_t column);
