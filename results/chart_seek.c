/*
 * What a seek looked at: the metric at every value tried, the line it has to reach, the value
 * found, and real packets beside the model where they were asked.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "results/chart_axis.h"
#include "results/chart_sweep.h"
#include "results/sweep_view.h"

#define HEIGHT 420
#define BOTTOM 56
#define LEFT 84
#define BAND_ROW 20
#define MARK_MODEL 7   /* a full circle */
#define MARK_PACKETS 8 /* an open triangle */
/* The axis goes so many times to either side of what was found: there the curve decides. */
#define AROUND 30.
#define AROUND_CHECKED 3. /* where points 5 % apart are to be told from each other */

static const struct stroke stroke_model = {"the model", "#0072B2", 2, "solid"};
static const struct stroke stroke_packets = {"real packets", "#D55E00", 2, "solid"};

/* The unit of the axis: the view's where a row names the key, else the kind's own. */
static char *x_name(const struct seek_record *s, double *scale)
{
	const struct view_kind *k = view_kind_of(s->key);

	if (k->key && !k->round_trip) {
		*scale = k->scale;
		return memory_format("%s: %s (%s)", s->key, k->name, k->unit);
	}
	*scale = !strcmp(s->kind, "rate") ? 1e9 : !strcmp(s->kind, "ratio") ? .01 : 1;
	return memory_format("%s%s", s->key,
		!strcmp(s->kind, "rate")    ? " (Gbit/s)"
		: !strcmp(s->kind, "time")  ? " (s)"
		: !strcmp(s->kind, "ratio") ? " (%)"
					    : "");
}

static double y_scale(const struct seek_record *s)
{
	return !strcmp(s->metric, "wire_rate")			       ? 1e9
	       : !strncmp(s->metric, "exchange_", strlen("exchange_")) ? 1
								       : .01;
}

static void write_data(struct chart *c, const struct seek_record *s, double x, double y)
{
	chart_data(c, "# value, %s by the model\n", s->metric);
	for (size_t i = 0; i < s->n_points; i++) {
		chart_number(c, s->points[i].value / x);
		chart_number(c, s->points[i].got / y);
		chart_data(c, "\n");
	}
	chart_data(c, "\n\n# value, %s by real packets\n", s->metric);
	for (size_t i = 0; i < s->n_checks; i++) {
		chart_number(c, s->checks[i].value / x);
		chart_number(c, s->checks[i].packets / y);
		chart_data(c, "\n");
	}
	if (!s->n_checks)
		chart_data(c, "NaN\tNaN\n");
}

static void set_axes(const struct seek_record *s, double x_scale, double scale,
	struct chart_axis *x, struct chart_axis *y)
{
	double around = s->n_checks ? AROUND_CHECKED : AROUND;

	x->low = s->low / x_scale;
	x->high = s->high / x_scale;
	x->log = s->low > 0 && s->high >= 10 * s->low;
	if (x->log && s->found > 0) {
		x->low = fmax(x->low, s->found / around / x_scale);
		x->high = fmin(x->high, s->found * around / x_scale);
	}
	y->low = 0;
	y->high = s->want / scale;
	for (size_t i = 0; i < s->n_points; i++)
		if (!isnan(s->points[i].got))
			y->high = fmax(y->high, s->points[i].got / scale);
	chart_axis_fit(x, false);
	if (scale == .01) {
		y->high = 102;
		return;
	}
	y->high *= 1.05;
}

static void plot(struct chart *c, const struct seek_record *s, double x, double y)
{
	if (!isnan(s->found)) {
		chart_add(c,
			"set arrow %d from first %.9g, graph 0 to first %.9g, graph 1 nohead "
			"back ",
			++c->tag, s->found / x, s->found / x);
		chart_line(c, &stroke_limit);
		chart_add(c, "\n");
	}
	chart_add(c, "plot %.9g with lines ", s->want / y);
	chart_line(c, &stroke_expected);
	chart_add(c,
		", \\\n '%s.dat' index 0 using 1:2 with linespoints pointtype %d pointsize 0.6 ",
		c->stem, MARK_MODEL);
	chart_line(c, &stroke_model);
	chart_add(c,
		", \\\n '%s.dat' index 1 using 1:2 with points pointtype %d pointsize 1.3 "
		"linecolor rgb '%s' linewidth %g\n",
		c->stem, MARK_PACKETS, stroke_packets.colour, stroke_packets.width);
}

int chart_seek(const struct seek_record *s, const char *dir, struct error *err)
{
	double x_scale, scale = y_scale(s);
	_free_ char *name = x_name(s, &x_scale);
	_free_ char *y_name = memory_format("%s%s", s->metric,
		scale == .01 ? " (%)"
		: scale == 1 ? " (s)"
			     : " (Gbit/s)");
	_free_ char *title = memory_format("%s against %s", s->metric, s->key);
	_free_ char *found = memory_format("%s: %s", s->outcome, s->text ? s->text : "");
	struct chart_axis x = {.letter = 'x', .name = name}, y = {.letter = 'y', .name = y_name};
	struct chart_place place = {.left = LEFT, .right = CHART_RIGHT, .bottom = BOTTOM};
	bool rate = !strcmp(s->kind, "rate");
	struct legend legend = {0};
	struct chart c;
	int r;

	legend_marked(&legend, &stroke_model, MARK_MODEL, NULL);
	legend_stroke(&legend, &stroke_expected, s->condition);
	if (!isnan(s->found))
		legend_stroke(&legend, &stroke_limit, found);
	if (s->n_checks)
		legend_points(&legend, &stroke_packets, MARK_PACKETS, NULL);
	place.top = chart_top(&legend) + (rate ? BAND_ROW : 0);
	r = chart_begin(&c, dir, "seek", place.top + HEIGHT, title, &legend, err);
	if (r)
		return r;
	write_data(&c, s, x_scale, scale);
	chart_frame(&c, place.left, place.right, place.top, place.bottom);
	set_axes(s, x_scale, scale, &x, &y);
	chart_axis_set(&c, &x);
	chart_axis_set(&c, &y);
	if (rate)
		chart_bands(&c, &x, &place);
	plot(&c, s, x_scale, scale);
	return chart_end(&c, err);
}
