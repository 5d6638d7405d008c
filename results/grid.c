/* See grid.h. */
#include "results/grid.h"

#include <stdlib.h>

#include "base/memory.h"
#include "results/text.h"

void grid_begin(struct grid *g, size_t rows)
{
	g->rows = rows;
	g->cells = memory_zero(rows * g->columns + 1, sizeof *g->cells);
}

char **grid_cell(const struct grid *g, size_t row, size_t column)
{
	return &g->cells[row * g->columns + column];
}

/* Empty cells at a row's end are left out, with the blanks before them. */
static void print_row(const struct grid *g, const char *const *cells, const int *widths,
	const char *on, FILE *out)
{
	size_t last = g->columns;

	while (last > 1 && !*cells[last - 1])
		last--;
	fputs(on, out);
	for (size_t i = 0; i < last; i++) {
		int pad = widths[i] - text_columns(cells[i]);

		fprintf(out, "%s%s%*s", i ? "  " : "", cells[i], i + 1 == last ? 0 : pad, "");
	}
	fputs(*on ? "\033[0m\n" : "\n", out);
}

void grid_print(struct grid *g, FILE *out, const char *(*colour)(const char *text))
{
	int widths[GRID_COLUMNS_MAX];

	for (size_t i = 0; i < g->columns; i++) {
		widths[i] = text_columns(g->heads[i]);
		for (size_t k = 0; k < g->rows; k++)
			if (text_columns(*grid_cell(g, k, i)) > widths[i])
				widths[i] = text_columns(*grid_cell(g, k, i));
	}
	print_row(g, g->heads, widths, "", out);
	for (size_t k = 0; k < g->rows; k++) {
		const char *on = "";

		for (size_t i = 0; colour && i < g->columns; i++)
			on = *colour(*grid_cell(g, k, i)) ? colour(*grid_cell(g, k, i)) : on;
		print_row(g, (const char *const *)grid_cell(g, k, 0), widths, on, out);
	}
	for (size_t i = 0; i < g->rows * g->columns; i++)
		free(g->cells[i]);
	free(g->cells);
}
