/*
 * Charts of fleets: goodput against the number of chips, where the chips' time went, and how much
 * one seed differs from another.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"
#include "base/units.h"
#include "results/charts.h"

#define LEFT 72
#define HEIGHT 330
#define BOTTOM 56
#define CURVES_MAX 8 /* told apart by colour and dashes */
#define TICS_MAX 12
#define PARTS 6

static const struct stroke looks[CURVES_MAX] = {
	{NULL, "#0072B2", 2.0, "solid"},
	{NULL, "#E69F00", 2.1, "solid"},
	{NULL, "#009E73", 2.2, "(8,3)"},
	{NULL, "#882255", 2.3, "(8,3)"},
	{NULL, "#56B4E9", 2.4, "solid"},
	{NULL, "#D55E00", 2.5, "(3,2)"},
	{NULL, "#332288", 2.6, "(3,2)"},
	{NULL, "#555555", 2.7, "solid"},
};
static const struct stroke stroke_formula = {"closed formula", "#888888", 1.2, "(2,3)"};

static const struct paint parts[PARTS] = {
	{"useful", "#0072B2", "solid 1", NULL, 1},
	{"lost", "#D55E00", "pattern 1", "#D55E00", 1},
	{"waiting for the quorum", "#F0E442", "solid 1", "#A89B1C", 1},
	{"checkpoint", "#44AA99", "pattern 4", "#44AA99", 1},
	{"stopped to reconfigure", "#882255", "pattern 5", "#882255", 1},
	{"in repair", "#000000", "solid 1", NULL, 1},
};

/* Cases that differ in their chips only are one curve. */
struct curve {
	char *name;
	size_t n;
	const struct record_fleet **at; /* by chips */
};

static char *name_without_chips(const struct record_case *c)
{
	char *name = memory_string("");

	for (size_t i = 0; i < c->n_set; i++) {
		char *longer;

		if (!strcmp(c->set[i].key, "fleet.chips"))
			continue;
		longer = memory_format("%s%s%s %s", name, *name ? ", " : "",
			strrchr(c->set[i].key, '.') ? strrchr(c->set[i].key, '.') + 1
						    : c->set[i].key,
			c->set[i].value);
		free(name);
		name = longer;
	}
	return name;
}

static bool is_known(const struct record_case *c)
{
	return c->fleet && c->fleet->goodput.n;
}

static void put(struct curve *curve, const struct record_fleet *f)
{
	size_t i = curve->n++;

	curve->at = memory_resize(curve->at, curve->n, sizeof *curve->at);
	for (; i && curve->at[i - 1]->chips > f->chips; i--)
		curve->at[i] = curve->at[i - 1];
	curve->at[i] = f;
}

static size_t collect(struct curve *curves, const struct record *record)
{
	size_t n = 0, i;

	for (size_t k = 0; k < record->n_cases; k++) {
		char *name;

		if (!is_known(record->cases[k]))
			continue;
		name = name_without_chips(record->cases[k]);
		for (i = 0; i < n && strcmp(curves[i].name, name); i++)
			;
		if (i == n && n < CURVES_MAX)
			curves[n++].name = memory_string(name);
		if (i < n)
			put(&curves[i], record->cases[k]->fleet);
		free(name);
	}
	return n;
}

static void release(struct curve *curves, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(curves[i].name);
		free(curves[i].at);
	}
}

/* The expectation of goodput, if it is one for all; else NaN. */
static double expected_by_all(const struct record *record)
{
	double want = NAN;

	for (size_t k = 0; k < record->n_cases; k++) {
		const struct record_case *c = record->cases[k];

		for (size_t i = 0; i < c->n_expect; i++) {
			if (strcmp(c->expect[i].metric, "goodput"))
				continue;
			if (!isnan(want) && c->expect[i].want != want)
				return NAN;
			want = c->expect[i].want;
		}
	}
	return want;
}

static void write_curves(struct chart *c, const struct curve *curves, size_t n)
{
	chart_data(
		c, "# chips, goodput, its 5th and 95th percentile, closed formula (all in %%)\n");
	for (size_t i = 0; i < n; i++) {
		chart_data(c, "%s# %s\n", i ? "\n\n" : "", curves[i].name);
		for (size_t k = 0; k < curves[i].n; k++) {
			const struct record_fleet *f = curves[i].at[k];

			chart_number(c, f->chips);
			chart_number(c, 100 * f->goodput.mean);
			chart_number(c, 100 * f->goodput.p5);
			chart_number(c, 100 * f->goodput.p95);
			chart_number(c, 100 * f->goodput_predicted);
			chart_data(c, "\n");
		}
	}
}

/* A tic at each number of chips there is, of the curve that has most. */
static void tics(struct chart *c, const struct curve *curve)
{
	char text[32];

	if (curve->n > TICS_MAX)
		return;
	chart_add(c, "set xtics ()\n");
	for (size_t k = 0; k < curve->n; k++)
		chart_add(c, "set xtics add ('%s' %.15g)\n",
			quantity_format(text, sizeof text, QUANTITY_COUNT,
				(int64_t)curve->at[k]->chips, false),
			curve->at[k]->chips);
}

static void axes(struct chart *c, const struct curve *most, double low, double high)
{
	chart_add(c,
		"set logscale x\nset xrange [%.9g:%.9g]\nset yrange [0:103]\n"
		"set ytics 0,20,100\nunset mxtics\n"
		"set ylabel 'goodput (%%)' offset 0.5,0\nset xlabel 'chips' offset 0,0.3\n",
		low / 1.2, high * 1.2);
	tics(c, most);
}

static void plot_curves(struct chart *c, size_t n, double expected)
{
	const char *between = "plot";

	if (!isnan(expected)) {
		chart_add(c, "plot %.9g with lines ", 100 * expected);
		chart_line(c, &stroke_expected);
		between = ", \\\n";
	}
	for (size_t i = 0; i < n; i++) {
		chart_add(c, "%s '%s.dat' index %zu using 1:5 with lines ", between, c->stem, i);
		chart_line(c, &stroke_formula);
		chart_add(c, ", \\\n '%s.dat' index %zu using 1:2 with lines ", c->stem, i);
		chart_line(c, &looks[i]);
		chart_add(c,
			", \\\n '%s.dat' index %zu using 1:2:3:4 with yerrorbars pointtype 7 "
			"pointsize 0.5 linecolor rgb '%s' linewidth 1.3 dashtype solid",
			c->stem, i, looks[i].colour);
		between = ", \\\n";
	}
	chart_add(c, "\n");
}

static void legend_curves(struct legend *l, const struct curve *curves, size_t n, double expected)
{
	for (size_t i = 0; i < n; i++)
		legend_marked(l, &looks[i], 7, *curves[i].name ? curves[i].name : "simulated");
	legend_stroke(l, &stroke_formula, NULL);
	if (!isnan(expected))
		legend_stroke(l, &stroke_expected, NULL);
}

static int draw_curves(const struct chart_source *from, const char *stem, const char *title,
	const struct curve *curves, size_t n, struct error *err)
{
	const struct curve *most = &curves[0];
	double low = INFINITY, high = 0, expected = expected_by_all(from->record);
	struct legend legend = {0};
	struct chart c;
	int top, r;

	for (size_t i = 0; i < n; i++) {
		low = fmin(low, curves[i].at[0]->chips);
		high = fmax(high, curves[i].at[curves[i].n - 1]->chips);
		if (curves[i].n > most->n)
			most = &curves[i];
	}
	if (!(high > low))
		return 0;
	legend_curves(&legend, curves, n, expected);
	top = chart_top(&legend);
	r = chart_begin(&c, from->dir, stem, top + HEIGHT + BOTTOM, title, &legend, err);
	if (r)
		return r;
	write_curves(&c, curves, n);
	chart_frame(&c, LEFT, CHART_RIGHT, top, BOTTOM);
	axes(&c, most, low, high);
	plot_curves(&c, n, expected);
	return chart_end(&c, err);
}

int chart_goodput(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	struct curve curves[CURVES_MAX] = {0};
	size_t n = collect(curves, from->record);
	int r = n ? draw_curves(from, stem, title, curves, n, err) : 0;

	release(curves, n);
	return r;
}

static double share(const struct record_fleet *f, int part)
{
	const struct record_shares *s = &f->shares;
	const double all[PARTS] = {
		s->useful, s->lost, s->waiting, s->checkpoint, s->reconfigure, s->repair};

	return all[part];
}

static bool is_used(const struct record_case *const *list, size_t n, int part)
{
	for (size_t i = 0; i < n; i++)
		if (share(list[i]->fleet, part) > 0)
			return true;
	return false;
}

static void write_shares(struct chart *c, const struct record_case *const *list, size_t n)
{
	chart_data(c, "# row, then the right edge of each part in %% of all chips' time:");
	for (int p = 0; p < PARTS; p++)
		chart_data(c, " %s;", parts[p].label);
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		chart_data(c, "\n# %s\n%zu\t", list[i]->name, i);
		for (int p = 0; p < PARTS; p++) {
			sum += share(list[i]->fleet, p);
			chart_number(c, 100 * sum);
		}
	}
	chart_data(c, "\n");
}

static void plot_shares(struct chart *c, const struct record_case *const *list, size_t n)
{
	const char *between = "plot";

	for (int p = 0; p < PARTS; p++) {
		char left[16] = "(0)";

		if (!is_used(list, n, p))
			continue;
		if (p)
			snprintf(left, sizeof left, "%d", p + 1);
		chart_add(c, "%s '%s.dat' using %d:1:%s:%d:($1-0.36):($1+0.36) with boxxyerror ",
			between, c->stem, p + 2, left, p + 2);
		chart_fill(c, &parts[p]);
		between = ", \\\n";
	}
	chart_add(c, "\n");
}

int chart_shares(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	const struct record *record = from->record;
	_free_ const struct record_case **list = memory_zero(record->n_cases, sizeof *list);
	_free_ const char **names = memory_zero(record->n_cases, sizeof *names);
	struct legend legend = {0};
	struct chart c;
	size_t n = 0;
	int top, r;

	for (size_t i = 0; i < record->n_cases; i++)
		if (is_known(record->cases[i])) {
			names[n] = record->cases[i]->name;
			list[n++] = record->cases[i];
		}
	if (!n)
		return 0;
	for (int p = 0; p < PARTS; p++)
		if (is_used(list, n, p))
			legend_paint(&legend, &parts[p], NULL);
	top = chart_top(&legend);
	r = chart_begin(&c, from->dir, stem, top + (int)n * 28 + BOTTOM, title, &legend, err);
	if (r)
		return r;
	write_shares(&c, list, n);
	chart_frame(&c, chart_names_margin(names, n), CHART_RIGHT, top, BOTTOM);
	chart_rows(&c, names, n);
	chart_add(&c, "set xrange [0:100]\nset grid front\n"
		      "set xlabel 'share of the time of all chips (%%)' offset 0,0.3\n");
	plot_shares(&c, list, n);
	return chart_end(&c, err);
}
