/*
 * A table for a terminal or a pipe: columns as wide as what stands in them, the last one as long
 * as it is.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#define GRID_COLUMNS_MAX 24

/* columns and heads are the caller's to set, before grid_begin; heads are borrowed. */
struct grid {
	size_t columns, rows;
	const char *heads[GRID_COLUMNS_MAX];
	char **cells; /* rows * columns, all to be set between grid_begin and grid_print */
};

void grid_begin(struct grid *g, size_t rows);
/* Where a cell's text goes, in valid UTF-8 and one line; the grid frees it. */
char **grid_cell(const struct grid *g, size_t row, size_t column);
/*
 * Prints and releases it. colour (NULL: none) tells of a cell's text how to begin its row, "" for
 * nothing; the last cell that has something decides.
 */
void grid_print(struct grid *g, FILE *out, const char *(*colour)(const char *text));
