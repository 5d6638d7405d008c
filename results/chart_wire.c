/*
 * What the wire carried: few sites each in a panel of its own, up above and down below zero, so
 * that neither hides the other; many sites as a band from the least to the most busy of them
 * with the median in it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"
#include "base/units.h"
#include "results/charts.h"
#include "results/text.h"

#define PANELS_MAX 8
#define LEFT 84
#define PANEL 92
#define BAND 190
#define GAP 24 /* above each panel: its name and its faults */
#define BOTTOM 56

static const struct stroke stroke_median = {"their median", "#000000", 1.6, "solid"};

static double at(const double *values, int i)
{
	return values ? values[i] : NAN;
}

/* Of one site, or of all when it is NULL. */
static double greatest(const struct series *s, const char *site)
{
	double top = 0;

	for (size_t i = 0; i < s->n_lines; i++) {
		if (site && strcmp(site, s->lines[i].site))
			continue;
		for (int b = 0; b < s->bins; b++)
			top = fmax(top, fmax(s->lines[i].rate_bps[b], s->lines[i].limit_bps[b]));
	}
	return top > 0 ? top : 1e6;
}

/* A link a third as fast as another, or slower, would be a line along the axis beside it. */
static bool scales_differ(const struct series *s, const char *const *sites, size_t n)
{
	double top = greatest(s, NULL);

	for (size_t i = 0; i < n; i++)
		if (greatest(s, sites[i]) < top / 3)
			return true;
	return false;
}

static bool about(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b) || (isnan(a) && isnan(b));
}

/* With the rate itself where it is one and the same for all and all the time. */
static void legend_limit(struct legend *l, const struct series *s)
{
	double low = INFINITY, high = 0;
	char text[64], rate[32];

	for (size_t i = 0; i < s->n_lines; i++)
		for (int b = 0; b < s->bins; b++) {
			low = fmin(low, s->lines[i].limit_bps[b]);
			high = fmax(high, s->lines[i].limit_bps[b]);
		}
	quantity_format(rate, sizeof rate, QUANTITY_RATE, llround(high), false);
	snprintf(text, sizeof text, "%s, %s", stroke_limit.label, rate);
	legend_stroke(l, &stroke_limit, high > 0 && about(low, high) ? text : NULL);
}

static const struct series_line *find_line(const struct series *s, const char *site, bool up)
{
	static const struct series_line none;

	for (size_t i = 0; i < s->n_lines; i++)
		if (s->lines[i].up == up && !strcmp(s->lines[i].site, site))
			return &s->lines[i];
	return &none;
}

static size_t list_sites(const struct series *s, const char **sites)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_lines; i++) {
		size_t k = 0;

		while (k < n && strcmp(sites[k], s->lines[i].site))
			k++;
		if (k == n)
			sites[n++] = s->lines[i].site;
	}
	return n;
}

static void axis_time(struct chart *c, double until_s, bool last)
{
	chart_add(c, "set xrange [0:%.9g]\n", until_s);
	if (last)
		chart_add(c, "set format x '%%g'\nset xlabel 'time (s)' offset 0,0.3\n");
	else
		chart_add(c, "set format x ''\nunset xlabel\n");
}

/* Labels of both halves are positive. */
static void axis_mirrored(struct chart *c, double top)
{
	double step = chart_step(top, 2);

	chart_add(c, "set yrange [%.9g:%.9g]\nset ytics (", -1.12 * top, 1.12 * top);
	for (int i = -(int)(1.1 * top / step); i <= (int)(1.1 * top / step); i++)
		chart_add(c, "%s'%g' %.9g", i == -(int)(1.1 * top / step) ? "" : ", ",
			fabs(i * step), i * step);
	chart_add(c, ")\n");
}

/* Bin b is like both its neighbours: a straight line needs no point there. */
static bool is_inner(const double *values, int b, int bins)
{
	return !values || (b && b + 1 < bins && about(values[b - 1], values[b]) &&
				  about(values[b + 1], values[b]));
}

/*
 * Two columns at both edges of each bin: steps as a line, so that an area is one shape. Where
 * nothing was sampled an empty line ends it; a block of nothing still is one, for gnuplot's count.
 */
static void step_rows(struct chart *c, const struct series *s, const double *up, const double *down)
{
	double bin_s = s->until_s / s->bins;
	bool any = false, open = false;

	for (int b = 0; b < s->bins; b++) {
		if (isnan(at(up, b)) && isnan(at(down, b))) {
			chart_data(c, "%s", open ? "\n" : "");
			open = false;
			continue;
		}
		any = open = true;
		if (is_inner(up, b, s->bins) && is_inner(down, b, s->bins))
			continue;
		for (int edge = 0; edge < 2; edge++) {
			chart_number(c, (b + edge) * bin_s);
			chart_number(c, at(up, b));
			chart_number(c, at(down, b));
			chart_data(c, "\n");
		}
	}
	chart_data(c, "%s\n\n", any ? "" : "NaN\tNaN\tNaN\n");
}

static void panel_data(struct chart *c, const struct series *s, const char *site)
{
	const struct series_line *up = find_line(s, site, true), *down = find_line(s, site, false);
	_free_ char *name = text_line(site);

	chart_data(c, "# %s: time (s), rate up, rate down (bit/s)\n", name);
	step_rows(c, s, up->rate_bps, down->rate_bps);
	chart_data(c, "# %s: time (s), limit up, limit down (bit/s)\n", name);
	step_rows(c, s, up->limit_bps, down->limit_bps);
}

static void panel_plot(struct chart *c, int panel, double unit)
{
	const struct paint *paints[] = {&paint_up, &paint_down};

	chart_add(c, "plot ");
	for (int i = 0; i < 2; i++) {
		chart_add(c, "'%s.dat' index %d using 1:(%s$%d/%g) with filledcurves y1=0 ",
			c->stem, 2 * panel, i ? "-" : "", i + 2, unit);
		chart_fill(c, paints[i]);
		chart_add(c, ", \\\n ");
	}
	for (int i = 0; i < 2; i++) {
		chart_add(c, "%s'%s.dat' index %d using 1:(%s$%d/%g) with lines ",
			i ? ", \\\n " : "", c->stem, 2 * panel + 1, i ? "-" : "", i + 2, unit);
		chart_line(c, &stroke_limit);
	}
	chart_add(c, "\nunset label\nunset object\nunset arrow\n");
}

static void shade_outages(struct chart *c, const struct chart_source *from, const char *site)
{
	_free_ struct span *spans = NULL;
	size_t n = marks_outages(from, find_line(from->series, site, true), &spans);

	for (size_t i = 0; i < n; i++)
		chart_shade(c, &spans[i], &paint_outage);
}

static bool any_outage(const struct chart_source *from)
{
	for (size_t i = 0; i < from->series->n_lines; i++) {
		_free_ struct span *spans = NULL;

		if (marks_outages(from, &from->series->lines[i], &spans))
			return true;
	}
	return false;
}

static int draw_panels(const struct chart_source *from, const char *stem, const char *title,
	const char *const *sites, size_t n, struct error *err)
{
	bool own = scales_differ(from->series, sites, n);
	double unit, top = greatest(from->series, NULL);
	const char *unit_name = chart_rate_unit(top, &unit);
	struct legend legend = {0};
	struct chart c;
	char axis[64];
	int r, y;

	legend_paint(&legend, &paint_up, "up (above zero)");
	legend_paint(&legend, &paint_down, "down (below zero)");
	legend_limit(&legend, from->series);
	marks_legend(&legend, from->c, NULL);
	if (any_outage(from))
		legend_paint(&legend, &paint_outage, NULL);
	y = chart_top(&legend);
	r = chart_begin(
		&c, from->dir, stem, y + (int)n * (PANEL + GAP) + BOTTOM, title, &legend, err);
	if (r)
		return r;
	snprintf(axis, sizeof axis, "rate on the wire (%s)",
		own ? "unit beside the site" : unit_name);
	chart_add(&c, "set multiplot\nset xzeroaxis linetype 1 linecolor rgb '#888888'\n");
	chart_add(&c, "set label %d '%s' at screen 0.02,%.5f center rotate\n", ++c.tag, axis,
		1 - (y + n * (PANEL + GAP) / 2.) / c.height);
	for (size_t i = 0; i < n; i++, y += PANEL + GAP) {
		char name[256];

		if (own)
			top = greatest(from->series, sites[i]);
		unit_name = chart_rate_unit(top, &unit);
		if (own)
			snprintf(name, sizeof name, "%s (%s)", sites[i], unit_name);
		else
			snprintf(name, sizeof name, "%s", sites[i]);
		panel_data(&c, from->series, sites[i]);
		chart_frame(&c, LEFT, CHART_RIGHT, y + GAP, c.height - y - GAP - PANEL);
		axis_time(&c, from->until_s, i + 1 == n);
		axis_mirrored(&c, top / unit);
		chart_label(&c, LEFT, y + GAP - 9, "left", 12, name);
		shade_outages(&c, from, sites[i]);
		marks_draw(&c, from, NULL, sites[i], LEFT, LEFT + chart_text_width(name) + 16,
			y + GAP - 9);
		panel_plot(&c, (int)i, unit);
	}
	chart_add(&c, "unset multiplot\n");
	return chart_end(&c, err);
}

/* Over all sites: least, median and greatest of a bin's rates, least and greatest limit. */
static void band_row(struct chart *c, const struct series *s, bool up, int bin, double *sort)
{
	double low = NAN, high = NAN;
	size_t n = 0;

	for (size_t i = 0; i < s->n_lines; i++) {
		const struct series_line *line = &s->lines[i];

		if (line->up != up)
			continue;
		low = fmin(low, line->limit_bps[bin]);
		high = fmax(high, line->limit_bps[bin]);
		if (!isnan(line->rate_bps[bin]))
			sort[n++] = line->rate_bps[bin];
	}
	chart_number(c, (bin + .5) * s->until_s / s->bins);
	chart_number(c, stats_quantile(sort, n, 0));
	chart_number(c, stats_quantile(sort, n, .5));
	chart_number(c, stats_quantile(sort, n, 1));
	chart_number(c, low);
	chart_number(c, high);
	chart_data(c, "\n");
}

static void band_data(struct chart *c, const struct series *s, bool up)
{
	_free_ double *sort = memory_zero(s->n_lines, sizeof *sort);

	chart_data(c,
		"# %s: time (s); over the sites least, median, greatest rate (bit/s); "
		"least, greatest limit (bit/s)\n",
		up ? "up" : "down");
	for (int b = 0; b < s->bins; b++)
		band_row(c, s, up, b, sort);
	chart_data(c, "\n\n");
}

static void band_plot(struct chart *c, bool up, double unit)
{
	const struct paint *paint = up ? &paint_up : &paint_down;
	int index = up ? 0 : 1;

	chart_add(c, "plot '%s.dat' index %d using 1:($2/%g):($4/%g) with filledcurves ", c->stem,
		index, unit, unit);
	chart_add(
		c, "fillcolor rgb '%s' fillstyle solid %g noborder", paint->colour, up ? .55 : .8);
	chart_add(c, ", \\\n '' index %d using 1:($3/%g) with lines ", index, unit);
	chart_line(c, &stroke_median);
	for (int column = 5; column <= 6; column++) {
		chart_add(
			c, ", \\\n '' index %d using 1:($%d/%g) with lines ", index, column, unit);
		chart_line(c, &stroke_limit);
	}
	chart_add(c, "\nunset label\nunset object\nunset arrow\n");
}

/* Bins in which at least half of the links were down, as spans. */
static void shade_common_outages(struct chart *c, const struct series *s)
{
	struct span open = {-1, -1};

	for (int b = 0; b <= s->bins; b++) {
		double t = (b + .5) * s->until_s / s->bins;
		size_t down = 0;

		for (size_t i = 0; b < s->bins && i < s->n_lines; i++)
			for (size_t k = 0; k < s->lines[i].n_outages; k++)
				down += t >= s->lines[i].outages[k].from_s &&
					t < s->lines[i].outages[k].until_s;
		if (2 * down >= s->n_lines && open.from_s < 0 && b < s->bins)
			open.from_s = b * s->until_s / s->bins;
		if (2 * down < s->n_lines && open.from_s >= 0) {
			open.until_s = b * s->until_s / s->bins;
			chart_shade(c, &open, &paint_outage);
			open.from_s = -1;
		}
	}
}

static int draw_bands(const struct chart_source *from, const char *stem, const char *title,
	size_t n_sites, struct error *err)
{
	double unit, top = greatest(from->series, NULL);
	const char *unit_name = chart_rate_unit(top, &unit);
	struct legend legend = {0};
	struct chart c;
	char text[64];
	int r, y;

	snprintf(text, sizeof text, "up, least to greatest of %zu sites", n_sites);
	legend_paint(&legend, &paint_up, text);
	legend_paint(&legend, &paint_down, "down, the same");
	legend_stroke(&legend, &stroke_median, NULL);
	legend_limit(&legend, from->series);
	marks_legend(&legend, from->c, NULL);
	y = chart_top(&legend);
	r = chart_begin(&c, from->dir, stem, y + 2 * (BAND + GAP) + BOTTOM, title, &legend, err);
	if (r)
		return r;
	chart_add(&c, "set multiplot\n");
	for (int i = 0; i < 2; i++, y += BAND + GAP) {
		band_data(&c, from->series, !i);
		chart_frame(&c, LEFT, CHART_RIGHT, y + GAP, c.height - y - GAP - BAND);
		axis_time(&c, from->until_s, i == 1);
		chart_add(&c,
			"set yrange [0:%.9g]\nset ylabel 'rate on the wire (%s)' offset 0.5,0\n",
			1.12 * top / unit, unit_name);
		chart_label(&c, LEFT, y + GAP - 9, "left", 12, i ? "down" : "up");
		shade_common_outages(&c, from->series);
		marks_draw(&c, from, NULL, NULL, LEFT, LEFT + 60, y + GAP - 9);
		band_plot(&c, !i, unit);
	}
	chart_add(&c, "unset multiplot\n");
	return chart_end(&c, err);
}

int chart_wire(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	_free_ const char **sites = NULL;
	size_t n;

	if (!from->series)
		return 0;
	sites = memory_zero(from->series->n_lines, sizeof *sites);
	n = list_sites(from->series, sites);
	return n <= PANELS_MAX ? draw_panels(from, stem, title, sites, n, err)
			       : draw_bands(from, stem, title, n, err);
}
