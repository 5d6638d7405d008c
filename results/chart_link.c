/*
 * The idle link as probes found it before the run: one-way delays over time, and the share of them
 * within a delay, with those of sampled packets of the run where packets were captured.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"
#include "results/charts.h"
#include "results/csv.h"

#define LEFT 84
#define PANEL 200
#define GAP 40
#define BOTTOM 56
#define POINTS_MAX 2000
#define DELAYS_MAX 200000

enum series_kind { THERE, BACK, PACKETS, KINDS };

static const struct stroke strokes[KINDS] = {
	{"probes there", "#0072B2", 1.6, "solid"},
	{"probes back", "#E69F00", 1.4, "(8,4)"},
	{"packets of the run", "#555555", 1.2, "(2,3)"},
};
static const struct stroke stroke_asked = {"asked", "#777777", 1.0, "(2,2)"};

struct delays {
	size_t n;
	double *at_s, *delay_s;
};

static void take(struct delays *d, double at_s, double delay_s)
{
	if (isnan(at_s) || isnan(delay_s) || d->n == DELAYS_MAX)
		return;
	if (d->n % 1024 == 0) {
		d->at_s = memory_resize(d->at_s, d->n + 1024, sizeof *d->at_s);
		d->delay_s = memory_resize(d->delay_s, d->n + 1024, sizeof *d->delay_s);
	}
	d->at_s[d->n] = at_s;
	d->delay_s[d->n++] = delay_s;
}

static void release(struct delays d[KINDS])
{
	for (int i = 0; i < KINDS; i++) {
		free(d[i].at_s);
		free(d[i].delay_s);
	}
}

/* "probes.csv", or "probes-2.csv" of the second case: as the case itself is numbered. */
static char *numbered(const struct chart_source *from, const char *stem, const char *end)
{
	size_t i = 0;

	while (i < from->record->n_cases && from->record->cases[i] != from->c)
		i++;
	return i ? memory_format("%s-%zu%s", stem, i + 1, end) : memory_format("%s%s", stem, end);
}

static void read_probes(struct delays d[KINDS], const char *folder, const char *file)
{
	struct csv *csv = csv_open(folder, file);
	int at, there, back;

	if (!csv)
		return;
	at = csv_column(csv, "t_s");
	there = csv_column(csv, "there_s");
	back = csv_column(csv, "back_s");
	while (csv_next(csv)) {
		take(&d[THERE], csv_number(csv, at), csv_number(csv, there));
		take(&d[BACK], csv_number(csv, at), csv_number(csv, back));
	}
	csv_close(csv);
}

/* Of the way that the probes went. */
static void read_packets(
	struct delays *d, const struct chart_source *from, const char *folder, const char *file)
{
	const struct record_case *c = from->c;
	struct csv *csv = c->n_checks ? csv_open(folder, file) : NULL;
	int at, delay, site, to;

	if (!csv)
		return;
	at = csv_column(csv, "t_s");
	delay = csv_column(csv, "delay_s");
	site = csv_column(csv, "from");
	to = csv_column(csv, "to");
	while (csv_next(csv))
		if (!strcmp(csv_text(csv, site), c->checks[0].from) &&
			!strcmp(csv_text(csv, to), c->checks[0].to))
			take(d, csv_number(csv, at), csv_number(csv, delay));
	csv_close(csv);
}

/* The first way's one-way delay as asked; NaN if unknown. */
static double asked(const struct record_case *c)
{
	for (size_t i = 0; i < c->n_checks; i++)
		if (!strcmp(c->checks[i].check, "one_way_delay"))
			return c->checks[i].want;
	return NAN;
}

static void write_times(struct chart *c, const struct delays *d)
{
	size_t step = d->n / POINTS_MAX + 1;

	if (!d->n)
		return;
	for (size_t i = 0; i < d->n; i += step)
		chart_data(c, "%.9g\t%.9g\n", d->at_s[i], 1e3 * d->delay_s[i]);
	chart_data(c, "\n\n");
}

static void write_shares(struct chart *c, const struct delays *d)
{
	_free_ double *sorted = memory_zero(d->n, sizeof *sorted);
	size_t points = d->n < POINTS_MAX ? d->n : POINTS_MAX;

	if (!d->n)
		return;
	memcpy(sorted, d->delay_s, d->n * sizeof *sorted);
	stats_quantile(sorted, d->n, 0); /* sorts */
	for (size_t i = 1; i <= points; i++)
		chart_data(c, "%.9g\t%.9g\n", 1e3 * sorted[i * d->n / points - 1],
			100. * (double)i / (double)points);
	chart_data(c, "\n\n");
}

static void line(struct chart *c, bool vertical, double at)
{
	if (isnan(at))
		return;
	chart_add(c,
		vertical ? "set arrow %d from first %.9g, graph 0 to first %.9g, graph 1 nohead "
			 : "set arrow %d from graph 0, first %.9g to graph 1, first %.9g nohead ",
		++c->tag, at, at);
	chart_line(c, &stroke_asked);
	chart_add(c, "\n");
}

/* Blocks of data are counted by gnuplot, which does not see empty ones: none is written. */
static void plot(
	struct chart *c, const struct delays d[KINDS], int first, int kinds, const char *with)
{
	bool points = !strncmp(with, "points", 6);
	const char *between = "plot ";

	for (int i = 0; i < kinds; i++) {
		if (!d[i].n)
			continue;
		chart_add(c, "%s'%s.dat' index %d using 1:2 with %s ", between, c->stem, first++,
			with);
		if (points)
			chart_add(c, "linecolor rgb '%s'", strokes[i].colour);
		else
			chart_line(c, &strokes[i]);
		between = ", \\\n ";
	}
	chart_add(c, "\nunset label\nunset arrow\n");
}

/* Room around the middle 99.8 %, so that one late probe does not flatten the rest. */
static void range(struct chart *c, char axis, const struct delays d[KINDS], int kinds, double want)
{
	double low = want, high = want, slack;

	for (int i = 0; i < kinds; i++) {
		_free_ double *sorted = memory_zero(d[i].n, sizeof *sorted);

		if (!d[i].n)
			continue;
		memcpy(sorted, d[i].delay_s, d[i].n * sizeof *sorted);
		low = fmin(low, stats_quantile(sorted, d[i].n, 0));
		high = fmax(high, stats_quantile(sorted, d[i].n, .998));
	}
	slack = fmax((high - low) / 10, 1e-5);
	chart_add(c, "set %crange [%.9g:%.9g]\n", axis, 1e3 * (low - slack), 1e3 * (high + slack));
}

static void draw_both(struct chart *c, const struct delays d[KINDS], int top, double want)
{
	int blocks = 0;

	for (int i = 0; i < KINDS; i++)
		blocks += d[i].n > 0;
	chart_add(c, "set multiplot\n");
	chart_frame(c, LEFT, CHART_RIGHT, top, BOTTOM + PANEL + GAP + 16);
	range(c, 'y', d, PACKETS, want);
	chart_add(c, "set xrange [0:*]\nset ylabel 'one-way delay (ms)' offset 0.5,0\n"
		     "set xlabel 'time of the probes (s)' offset 0,0.3\n");
	line(c, false, 1e3 * want);
	plot(c, d, 0, PACKETS, "points pointtype 7 pointsize 0.2");
	chart_frame(c, LEFT, CHART_RIGHT, top + PANEL + GAP + 16, BOTTOM);
	range(c, 'x', d, KINDS, want);
	chart_add(c, "set yrange [0:103]\nset ytics 0,25,100\nset ylabel 'within it (%%)' offset "
		     "0.5,0\nset xlabel 'one-way delay (ms)' offset 0,0.3\n");
	line(c, true, 1e3 * want);
	plot(c, d, blocks, KINDS, "steps");
	chart_add(c, "unset multiplot\n");
}

int chart_link(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	_free_ char *folder = memory_format("%s/..", from->dir);
	_free_ char *probes = numbered(from, "probes", ".csv");
	_free_ char *packets = numbered(from, "capture", "/delays.csv");
	struct delays d[KINDS] = {0};
	struct legend legend = {0};
	double want = asked(from->c);
	struct chart c;
	char text[64];
	int r = 0, top;

	read_probes(d, folder, probes);
	read_packets(&d[PACKETS], from, folder, packets);
	for (int i = 0; i < KINDS; i++) {
		snprintf(text, sizeof text, "%s (%zu)", strokes[i].label, d[i].n);
		if (d[i].n)
			legend_stroke(&legend, &strokes[i], text);
	}
	if (!isnan(want))
		legend_stroke(&legend, &stroke_asked, NULL);
	top = chart_top(&legend);
	if (d[THERE].n || d[BACK].n)
		r = chart_begin(&c, from->dir, stem, top + 2 * PANEL + GAP + 16 + BOTTOM, title,
			&legend, err);
	if (!r && (d[THERE].n || d[BACK].n)) {
		for (int i = 0; i < KINDS; i++)
			write_times(&c, &d[i]);
		for (int i = 0; i < KINDS; i++)
			write_shares(&c, &d[i]);
		draw_both(&c, d, top, want);
		r = chart_end(&c, err);
	}
	release(d);
	return r;
}
