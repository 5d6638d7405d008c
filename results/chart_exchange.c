/*
 * How long exchanges took: the share that was done within a time, against the time that the
 * formula gives for an idle link without loss.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"
#include "base/units.h"
#include "results/charts.h"

#define POINTS_MAX 2000
#define LEFT 84
#define HEIGHT 300
#define BOTTOM 56

/* Unlike in colour or width too: after the same of both, gnuplot's SVG keeps the last dashes. */
static const struct stroke stroke_half = {"half within", "#777777", 1.2, "solid"};
static const struct stroke stroke_most = {"99 % within", "#555555", 1.2, "(8,4)"};

static void legend_time(struct legend *l, const struct stroke *stroke, double s)
{
	char text[64], time[32];

	quantity_format(time, sizeof time, QUANTITY_TIME, llround(s * 1e9), false);
	snprintf(text, sizeof text, "%s %s", stroke->label, time);
	legend_stroke(l, stroke, text);
}

static void write_data(struct chart *c, const double *sorted, size_t n)
{
	size_t points = n < POINTS_MAX ? n : POINTS_MAX;

	chart_data(c, "# exchange time (s), share of exchanges done within it (%%)\n");
	chart_number(c, sorted[0]);
	chart_data(c, "0\n");
	for (size_t i = 1; i <= points; i++) {
		size_t rank = i * n / points; /* 1 to n */

		chart_number(c, sorted[rank - 1]);
		chart_data(c, "%.9g\n", 100. * (double)rank / (double)n);
	}
}

static void vertical(struct chart *c, double x, const struct stroke *stroke)
{
	chart_add(c, "set arrow %d from first %.9g, graph 0 to first %.9g, graph 1 nohead front ",
		++c->tag, x, x);
	chart_line(c, stroke);
	chart_add(c, "\n");
}

/* From zero where that leaves the curve its room, else logarithmic. */
static void axes(struct chart *c, double low, double high)
{
	chart_add(c, "set yrange [0:103]\nset ytics 0,25,100\n"
		     "set ylabel 'exchanges done (%%)' offset 0.5,0\n"
		     "set xlabel 'time of an exchange (s)' offset 0,0.3\n");
	if (low > 0 && high / low > 30)
		chart_add(c, "set logscale x\nset xrange [%.9g:%.9g]\n", low / 1.3, high * 1.3);
	else
		chart_add(c, "set xrange [0:%.9g]\n", high > 0 ? 1.08 * high : 1);
}

static size_t copy_known(double *to, const struct record_case *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_exchanges; i++)
		if (c->exchange_s[i] >= 0 && isfinite(c->exchange_s[i]))
			to[n++] = c->exchange_s[i];
	return n;
}

int chart_exchange(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	_free_ double *sorted = memory_zero(from->c->n_exchanges, sizeof *sorted);
	size_t n = copy_known(sorted, from->c);
	double half = stats_quantile(sorted, n, .5), most = stats_quantile(sorted, n, .99);
	double predicted = from->c->exchange_predicted_s;
	struct legend legend = {0};
	struct chart c;
	char text[64];
	int top, r;

	if (!n)
		return 0;
	snprintf(text, sizeof text, "%s (%zu)",
		record_simulated(from->record) ? "simulated" : "measured", n);
	legend_stroke(&legend, &stroke_measured, text);
	legend_time(&legend, &stroke_half, half);
	legend_time(&legend, &stroke_most, most);
	if (predicted > 0)
		legend_time(&legend, &stroke_predicted, predicted);
	top = chart_top(&legend);
	r = chart_begin(&c, from->dir, stem, top + HEIGHT + BOTTOM, title, &legend, err);
	if (r)
		return r;
	write_data(&c, sorted, n);
	chart_frame(&c, LEFT, CHART_RIGHT, top, BOTTOM);
	axes(&c, fmin(sorted[0], predicted > 0 ? predicted : INFINITY),
		fmax(sorted[n - 1], predicted));
	vertical(&c, half, &stroke_half);
	vertical(&c, most, &stroke_most);
	if (predicted > 0)
		vertical(&c, predicted, &stroke_predicted);
	chart_add(&c, "plot '%s.dat' using 1:2 with steps ", stem);
	chart_line(&c, &stroke_measured);
	chart_add(&c, "\n");
	return chart_end(&c, err);
}
