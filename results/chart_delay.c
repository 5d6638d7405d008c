/*
 * The link's own delay over time, for links that change: a recorded trace or outages. Sites whose
 * links behaved alike share a panel.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/charts.h"

#define PANELS_MAX 6
#define LEFT 84
#define PANEL 150
#define GAP 26
#define BOTTOM 56

static const struct paint paint_delay = {
	"from the least to the greatest", "#44AA99", "solid 1", NULL, 1};

struct group {
	const struct series_line *line; /* the first of those alike */
	size_t n;
};

static bool alike(const struct series *s, const struct series_line *a, const struct series_line *b)
{
	for (int i = 0; i < s->bins; i++)
		if (fabs(a->delay_low_s[i] - b->delay_low_s[i]) > 1e-9 ||
			fabs(a->delay_high_s[i] - b->delay_high_s[i]) > 1e-9)
			return false;
	return a->n_outages == b->n_outages;
}

static bool changes(const struct series *s, const struct series_line *line)
{
	double low = INFINITY, high = -INFINITY;

	for (int i = 0; i < s->bins; i++) {
		low = fmin(low, line->delay_low_s[i]);
		high = fmax(high, line->delay_high_s[i]);
	}
	return high - low > 1e-9;
}

static bool worth_showing(const struct chart_source *from, const struct series_line *line)
{
	_free_ struct span *spans = NULL;

	return marks_outages(from, line, &spans) || changes(from->series, line);
}

/* Up directions only: a trace gives both the same delay. Returns how many groups there are. */
static size_t find_groups(const struct chart_source *from, struct group *groups)
{
	const struct series *s = from->series;
	size_t n = 0;

	for (size_t i = 0; i < s->n_lines; i++) {
		size_t k = 0;

		if (!s->lines[i].up || !worth_showing(from, &s->lines[i]))
			continue;
		while (k < n && !alike(s, groups[k].line, &s->lines[i]))
			k++;
		if (k == n)
			groups[n++] = (struct group){.line = &s->lines[i]};
		groups[k].n++;
	}
	return n;
}

static double write_data(struct chart *c, const struct series *s, const struct series_line *line)
{
	double top = 0;

	chart_data(c, "# %s: time (s), least and greatest one-way delay (s)\n", line->site);
	for (int b = 0; b <= s->bins; b++) {
		int i = b < s->bins ? b : s->bins - 1;

		chart_number(c, b * s->until_s / s->bins);
		chart_number(c, line->delay_low_s[i]);
		chart_number(c, line->delay_high_s[i]);
		chart_data(c, "\n");
		top = fmax(top, line->delay_high_s[i]);
	}
	chart_data(c, "\n\n");
	return top > 0 ? top : 1e-3;
}

static void draw_group(struct chart *c, const struct chart_source *from, const struct group *g,
	int index, int y, bool last)
{
	double top = write_data(c, from->series, g->line);
	_free_ struct span *spans = NULL;
	size_t n = marks_outages(from, g->line, &spans);
	char name[128];

	snprintf(name, sizeof name, "%.63s", g->line->site);
	if (g->n > 1)
		snprintf(name + strlen(name), sizeof name - strlen(name), " and %zu alike",
			g->n - 1);
	chart_label(c, LEFT, y + GAP - 9, "left", 12, name);
	chart_frame(c, LEFT, CHART_RIGHT, y + GAP, c->height - y - GAP - PANEL);
	chart_add(c,
		"set xrange [0:%.9g]\nset yrange [0:%.9g]\n"
		"set ylabel 'one-way delay (ms)' offset 0.5,0\n",
		from->until_s, 1.1e3 * top);
	chart_add(c, last ? "set format x '%%g'\nset xlabel 'time (s)' offset 0,0.3\n"
			  : "set format x ''\n");
	for (size_t i = 0; i < n; i++)
		chart_shade(c, &spans[i], &paint_outage);
	marks_draw(c, from, "blackout", g->line->site, LEFT, LEFT + chart_text_width(name) + 16,
		y + GAP - 9);
	chart_add(c, "plot '%s.dat' index %d using 1:($2*1e3):($3*1e3) with filledcurves ", c->stem,
		index);
	chart_fill(c, &paint_delay);
	chart_add(c,
		", \\\n '' index %d using 1:($3*1e3) with lines linecolor rgb '%s' linewidth 1.5",
		index, paint_delay.colour); /* where both are one */
	chart_add(c, "\nunset label\nunset object\nunset arrow\n");
}

int chart_delay(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	_free_ struct group *groups = NULL;
	struct legend legend = {0};
	size_t n, shown;
	struct chart c;
	int r, y;

	if (!from->series)
		return 0;
	groups = memory_zero(from->series->n_lines, sizeof *groups);
	n = find_groups(from, groups);
	shown = n < PANELS_MAX ? n : PANELS_MAX;
	if (!n)
		return 0;
	legend_paint(&legend, &paint_delay, "one-way delay, least to greatest at the time");
	legend_paint(&legend, &paint_outage, NULL);
	marks_legend(&legend, from->c, "blackout");
	y = chart_top(&legend);
	r = chart_begin(
		&c, from->dir, stem, y + (int)shown * (PANEL + GAP) + BOTTOM, title, &legend, err);
	if (r)
		return r;
	chart_add(&c, "set multiplot\n");
	for (size_t i = 0; i < shown; i++, y += PANEL + GAP)
		draw_group(&c, from, &groups[i], (int)i, y, i + 1 == shown);
	chart_add(&c, "unset multiplot\n");
	return chart_end(&c, err);
}
