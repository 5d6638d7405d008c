/*
 * The chart of a published table; see chart.h. A row for each of the table's, in it a line for each
 * column, from top to bottom, and on that line a mark for each series: a wide pale one for theirs,
 * so that ours is seen to lie on it or beside it.
 */
#include "results/published/chart.h"

#include <math.h>

#include "base/memory.h"
#include "results/chart_file.h"
#include "results/published/words.h"

#define BOTTOM 56
#define RIGHT 76 /* room for the column's name */
#define LINE 14	 /* pixels a column takes */
#define GAP 10	 /* between rows */

static const struct stroke stroke_theirs = {"published", "#BBBBBB", 7, "solid"};
static const struct stroke strokes[PUBLISHED_SERIES] = {
	{"", "#0072B2", 2, "solid"},
	{"", "#009E73", 2, "(2,2)"},
	{"", "#E69F00", 2, "solid"},
	{"", "#D55E00", 2, "solid"},
	{"", "#882255", 2, "solid"},
};

/* What the x axis is in: percents and Gbit/s, not shares and bit/s. */
static double scale(const struct published_table *t)
{
	return t->quantity == PUBLISHED_RATE						  ? 1e-9
	       : t->quantity == PUBLISHED_GOODPUT || t->quantity == PUBLISHED_UTILISATION ? 100
											  : 1;
}

static int row_height(const struct published_table *t)
{
	return (int)t->n_columns * LINE + GAP;
}

/* Where in the row's unit of y a column lies. */
static double offset(const struct published_table *t, size_t column)
{
	return ((double)column - (double)(t->n_columns - 1) / 2) * LINE / row_height(t);
}

static void write_data(struct chart *c, const struct published_table *t,
	const struct published_series *series, size_t n, double *low, double *high)
{
	chart_data(c, "# y, published, then each series (%s)\n", published_unit(t));
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t row = i / t->n_columns, column = i % t->n_columns;

		chart_number(c, (double)row + offset(t, column));
		for (size_t s = 0; s <= n; s++) {
			double value = scale(t) *
				       (s ? series[s - 1].values[i] : t->rows[row].value[column]);

			chart_number(c, value);
			if (isfinite(value) && value > 0) {
				*low = fmin(*low, value);
				*high = fmax(*high, value);
			}
		}
		chart_data(c, "%s\n", published_column(t, column).text);
	}
}

static void axis(struct chart *c, const struct published_table *t, double low, double high)
{
	if (scale(t) == 100)
		chart_add(c, "set xrange [0:100]\n");
	else
		chart_add(c, "set logscale x\nset xrange [%.9g:%.9g]\n", low / 1.25, high * 1.25);
	chart_add(c, "set xlabel '%s' offset 0,0.3\n",
		t->quantity == PUBLISHED_RATE ? "rate (Gbit/s)"
		: scale(t) == 100	      ? "share of the time (%)"
					      : "time (s)");
}

/* A mark per cell at the column's value, as tall as a line. */
static void marks(
	struct chart *c, const struct published_table *t, int column, const struct stroke *stroke)
{
	double height = (LINE - 3.) / row_height(t);

	chart_add(c, "%s '%s.dat' using %d:($1-%.5f):(0):(%.5f) with vectors nohead ",
		column == 2 ? "plot" : ", \\\n", c->stem, column, height / 2, height);
	chart_line(c, stroke);
}

int published_chart(const struct published_table *t, const struct published_series *series,
	size_t n, const char *dir, struct error *err)
{
	_free_ const char **names = memory_zero(t->n_rows, sizeof *names);
	_free_ char *storage = memory_zero(t->n_rows, 64);
	double low = INFINITY, high = 0;
	struct legend legend = {0};
	struct chart c;
	int top, r;

	for (size_t i = 0; i < t->n_rows; i++) {
		names[i] = storage + 64 * i;
		snprintf(storage + 64 * i, 64, "%s, %s", t->rows[i].group, t->rows[i].name);
	}
	legend_stroke(&legend, &stroke_theirs, NULL);
	for (size_t s = 0; s < n; s++)
		legend_stroke(&legend, &strokes[s], series[s].label);
	top = chart_top(&legend);
	r = chart_begin(&c, dir, t->name, top + (int)t->n_rows * row_height(t) + BOTTOM, t->title,
		&legend, err);
	if (r)
		return r;
	write_data(&c, t, series, n, &low, &high);
	chart_frame(&c, chart_names_margin(names, t->n_rows), RIGHT, top, BOTTOM);
	chart_rows(&c, names, t->n_rows);
	axis(&c, t, low, high);
	marks(&c, t, 2, &stroke_theirs);
	for (size_t s = 0; s < n; s++)
		marks(&c, t, (int)s + 3, &strokes[s]);
	chart_add(&c,
		", \\\n '%s.dat' using (%.9g):1:%zu with labels left offset 0.8,0 font "
		"'sans-serif,10' textcolor rgb '#555555'\n",
		c.stem, scale(t) == 100 ? 100 : high * 1.25, n + 3);
	return chart_end(&c, err);
}
