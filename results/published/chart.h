/* The chart of a published table: theirs, and what is held against it. */
#pragma once

#include "base/error.h"
#include "results/published/published.h"

#define PUBLISHED_SERIES 5

struct published_series {
	const char *label; /* "ours" */
	const double
		*values; /* a number per cell, row by row, in the table's base unit; NaN: none */
};

/*
 * Draws NAME.svg of the table into the directory, beside the script and the data that made it.
 * theirs is drawn as the first series, at most PUBLISHED_SERIES others over it.
 */
int published_chart(const struct published_table *table, const struct published_series *series,
	size_t n, const char *dir, struct error *err);
