/* How much one seed of a fleet differs from another: the share of seeds up to a goodput. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/stats.h"
#include "results/charts.h"

#define LEFT 72
#define HEIGHT 240
#define BOTTOM 56

static const struct paint paint_interval = {"mean, 95 % interval", "#E69F00", "solid 0.5", NULL, 1};
static const struct stroke stroke_seeds = {"seeds", "#0072B2", 2, "solid"};

static void write_data(struct chart *c, const double *sorted, size_t n)
{
	chart_data(c, "# goodput (%%), share of the seeds up to it (%%)\n");
	chart_number(c, 100 * sorted[0]);
	chart_data(c, "0\n");
	for (size_t i = 0; i < n; i++) {
		chart_number(c, 100 * sorted[i]);
		chart_data(c, "%.9g\n", 100. * (double)(i + 1) / (double)n);
	}
}

/* Narrow as the seeds are; the formula is in sight where it is near them. */
static void axes(struct chart *c, double low, double high, double formula)
{
	double room = fmax(high - low, 1e-4), pad;

	if (fabs(formula - low) < 2 * room || fabs(formula - high) < 2 * room) {
		low = fmin(low, formula);
		high = fmax(high, formula);
	}
	pad = .1 * fmax(high - low, 1e-4);
	chart_add(c,
		"set yrange [0:103]\nset ytics 0,25,100\nset ylabel 'seeds (%%)' offset 0.5,0\n"
		"set xlabel 'goodput (%%)' offset 0,0.3\nset xrange [%.9g:%.9g]\n",
		100 * (low - pad), 100 * (high + pad));
}

int chart_spread(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	const struct record_spread *g = from->c->fleet ? &from->c->fleet->goodput : NULL;
	_free_ double *sorted = NULL;
	struct legend legend = {0};
	struct span interval;
	struct chart c;
	int top, r;

	if (!g || g->n < 2)
		return 0;
	sorted = memory_zero(g->n, sizeof *sorted);
	for (size_t i = 0; i < g->n; i++)
		sorted[i] = g->values[i];
	stats_quantile(sorted, g->n, .5); /* sorts */
	interval = (struct span){
		.from_s = 100 * (g->mean - g->ci95), .until_s = 100 * (g->mean + g->ci95)};
	legend_stroke(&legend, &stroke_seeds, NULL);
	legend_paint(&legend, &paint_interval, NULL);
	legend_stroke(&legend, &stroke_predicted, "closed formula");
	top = chart_top(&legend);
	r = chart_begin(&c, from->dir, stem, top + HEIGHT + BOTTOM, title, &legend, err);
	if (r)
		return r;
	write_data(&c, sorted, g->n);
	chart_frame(&c, LEFT, CHART_RIGHT, top, BOTTOM);
	axes(&c, sorted[0], sorted[g->n - 1], from->c->fleet->goodput_predicted);
	chart_shade(&c, &interval, &paint_interval);
	chart_add(&c, "set arrow %d from first %.9g, graph 0 to first %.9g, graph 1 nohead front ",
		++c.tag, 100 * from->c->fleet->goodput_predicted,
		100 * from->c->fleet->goodput_predicted);
	chart_line(&c, &stroke_predicted);
	chart_add(&c, "\nplot '%s.dat' using 1:2 with steps ", stem);
	chart_line(&c, &stroke_seeds);
	chart_add(&c, "\n");
	return chart_end(&c, err);
}
