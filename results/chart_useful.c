/*
 * Useful work of every case: the run's answer in one picture, with what was expected and what
 * the plan had predicted for a link without faults.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/charts.h"

#define BOTTOM 56
#define RIGHT 84 /* room for the number at a bar's end */

static const struct paint paint_bar = {"useful work", "#0072B2", "solid 1", NULL, 1};
static const struct paint paint_failed = {
	"useful work, an expectation failed", "#0072B2", "pattern 4", "#0072B2", 1};
static const struct paint paint_no_verdict = {
	"no verdict: invalid or cut short", "#888888", "pattern 5", "#888888", 1};

static const struct paint *look(const struct record_case *c)
{
	if (!strcmp(c->verdict, "fails"))
		return &paint_failed;
	if (!strcmp(c->verdict, "invalid") || !strcmp(c->verdict, "partial"))
		return &paint_no_verdict;
	return &paint_bar;
}

/* What is expected of useful_work; NaN if nothing is. */
static double expected(const struct record_case *c)
{
	for (size_t i = 0; i < c->n_expect; i++)
		if (!strcmp(c->expect[i].metric, "useful_work"))
			return c->expect[i].want;
	return NAN;
}

static void build_legend(struct legend *l, const struct record *record)
{
	const struct paint *const looks[] = {&paint_bar, &paint_failed, &paint_no_verdict};
	bool any_expected = false, any_predicted = false;

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < record->n_cases; i++)
			if (look(record->cases[i]) == looks[k]) {
				legend_paint(l, looks[k], NULL);
				break;
			}
	for (size_t i = 0; i < record->n_cases; i++) {
		any_expected |= !isnan(expected(record->cases[i]));
		any_predicted |= record->cases[i]->predicted_utilisation >= 0;
	}
	if (any_expected)
		legend_stroke(l, &stroke_expected, NULL);
	if (any_predicted)
		legend_stroke(l, &stroke_predicted, "predicted without TCP, loss and faults");
}

static void write_data(struct chart *c, const struct record *record)
{
	chart_data(c, "# row, useful work, expected, predicted (all in %%)\n");
	for (size_t i = 0; i < record->n_cases; i++) {
		const struct record_case *k = record->cases[i];

		chart_data(c, "# %s\n%zu\t", k->name, i);
		chart_number(c, 100 * k->useful_work);
		chart_number(c, 100 * expected(k));
		chart_number(c, 100 * k->predicted_utilisation);
		chart_data(c, "\n");
	}
	chart_data(c, "\n");
}

static void bars(struct chart *c, const struct record *record)
{
	const char *between = "plot";

	for (size_t i = 0; i < record->n_cases; i++) {
		chart_add(c,
			"%s '%s.dat' every ::%zu::%zu using 2:1:(0):2:($1-0.3):($1+0.3) "
			"with boxxyerror ",
			between, c->stem, i, i);
		chart_fill(c, look(record->cases[i]));
		between = ", \\\n ";
	}
}

/* A mark across the bar at the column's value, apart from its neighbours'. */
static void mark(struct chart *c, int column, const struct stroke *stroke)
{
	chart_add(c, ", \\\n '%s.dat' using %d:($1-0.44):(0):(0.88) with vectors nohead ", c->stem,
		column);
	chart_line(c, stroke);
}

int chart_useful(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	const struct record *record = from->record;
	_free_ const char **names = memory_zero(record->n_cases, sizeof *names);
	struct legend legend = {0};
	struct chart c;
	bool known = false;
	int top, r;

	for (size_t i = 0; i < record->n_cases; i++) {
		names[i] = *record->cases[i]->name ? record->cases[i]->name : "this run";
		known |= record->cases[i]->useful_work >= 0;
	}
	if (!known)
		return 0;
	build_legend(&legend, record);
	top = chart_top(&legend);
	r = chart_begin(
		&c, from->dir, stem, top + (int)record->n_cases * 34 + BOTTOM, title, &legend, err);
	if (r)
		return r;
	write_data(&c, record);
	chart_frame(&c, chart_names_margin(names, record->n_cases), RIGHT, top, BOTTOM);
	chart_rows(&c, names, record->n_cases);
	chart_add(&c, "set xrange [0:100]\n"
		      "set xlabel 'useful work (%% of the accelerators'' time)' offset 0,0.3\n");
	bars(&c, record);
	mark(&c, 4, &stroke_predicted);
	mark(&c, 3, &stroke_expected);
	chart_add(&c,
		", \\\n '%s.dat' using (100):1:(sprintf('%%.1f %%%%', $2)) with labels left "
		"offset 0.8,0 font 'sans-serif,13'\n",
		stem);
	return chart_end(&c, err);
}
