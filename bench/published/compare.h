/*
 * A published table beside what this program says of the same cells.
 *
 * For simulated rates ours is the published simulators' closed form (ideal.h), printed by the
 * table's own rule; for a fleet's goodput the formula of goodput.h; for measurements a scenario of
 * scenarios/published/ in simulated time. What differs is shown and, as far as it is known,
 * explained; nothing is fitted to a single cell.
 *
 * Simulated rates can be asked for more: what the program's own strategies need on the event-driven
 * model, over an ideal link and over TCP at some round trips, which nobody has published.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "results/published/published.h"

#define COMPARE_RTTS 3
extern const double compare_rtt_s[COMPARE_RTTS]; /* 30, 100, 600 ms */

struct compared_cell {
	double theirs, ours;	  /* as the table's quantity is; NaN: none */
	double exact;		  /* rates: before rounding to their grid */
	double ratio;		  /* ours / theirs */
	int steps;		  /* on the grid: from theirs to ours */
	double low, high;	  /* rates: ours over the rounding of their step time */
	double engine;		  /* rates: the strategies over an ideal link; NaN: not asked for */
	double tcp[COMPARE_RTTS]; /* and over TCP; NaN: not asked for, or no rate is enough */
};

struct comparison {
	const struct published_table *table;
	const char *how;		/* what ours is, a sentence */
	const char *why;		/* what is known of the differences */
	struct compared_cell *cells;	/* row by row; owned */
	int n_cells, n_exact, n_within; /* on the grid: printed alike, and within one step */
	double ratio_low, ratio_high;
	bool tcp;	 /* the strategies were asked */
	double most_off; /* shares of time: the largest difference */
};

/* tcp: fill in engine and tcp too, of simulated rates. */
int compare_table(
	struct comparison **out, const struct published_table *table, bool tcp, struct error *err);
struct comparison *comparison_free(struct comparison *c); /* accepts NULL */

const struct compared_cell *comparison_cell(const struct comparison *c, size_t row, size_t column);
