/*
 * What each participant did when: one lane each, coloured by state, with faults as bars under
 * the lanes they hit.
 *
 * Spans are drawn as thick lines, a path per state: a picture of thousands of them stays small.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/charts.h"

#define BOTTOM 56
#define FAULT_HEIGHT .12 /* of a lane */

/* Its place among the case's participants; past their end if it is none of them. */
static size_t place_of(const struct record_case *c, const char *name)
{
	size_t i = 0;

	while (i < c->n_participants && strcmp(c->participants[i].name, name))
		i++;
	return i;
}

/* A syncer's accelerator is always idle, and so its lane says nothing. */
static bool says_something(const struct lane *lane)
{
	return lane->n_spans > 1 || lane->spans[0].state != STATE_IDLE;
}

/* In the record's order, the same as in the ledger. */
static size_t list_shown(const struct chart_source *from, const struct lane **list)
{
	size_t n = 0, k;

	for (size_t i = 0; i < from->lanes->n_lanes; i++) {
		const struct lane *lane = &from->lanes->lanes[i];
		size_t place = place_of(from->c, lane->participant);

		if (!says_something(lane))
			continue;
		for (k = n++; k && place_of(from->c, list[k - 1]->participant) > place; k--)
			list[k] = list[k - 1];
		list[k] = lane;
	}
	return n;
}

static bool state_is_used(const struct lane *const *list, size_t n, enum state state)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < list[k]->n_spans; i++)
			if (list[k]->spans[i].state == state)
				return true;
	return false;
}

/* A block per state, spans apart by an empty line. */
static void write_state(struct chart *c, const struct lane *const *list, size_t n, enum state state)
{
	chart_data(c, "# %s: time (s), lane\n", state_name(state));
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < list[k]->n_spans; i++) {
			const struct lane_span *s = &list[k]->spans[i];

			if (s->state == state && s->until_s > s->from_s)
				chart_data(
					c, "%.9g\t%zu\n%.9g\t%zu\n\n", s->from_s, k, s->until_s, k);
		}
	chart_data(c, "NaN\tNaN\n\n\n"); /* a block of nothing is not one for gnuplot */
}

static void plot(struct chart *c, const struct lane *const *list, size_t n, int row)
{
	const char *between = "plot";
	int index = 0;

	for (int s = 0; s < STATE_COUNT; s++) {
		const struct paint *paint = paint_state((enum state)s);

		if (!state_is_used(list, n, (enum state)s))
			continue;
		write_state(c, list, n, (enum state)s);
		chart_add(c,
			"%s '%s.dat' index %d using 1:2 with lines linecolor rgb '%s' linewidth "
			"%.1f",
			between, c->stem, index++, paint->colour, .7 * row * paint->height);
		between = ", \\\n";
	}
	chart_add(c, "\n");
}

static bool is_hit(const struct record_case *c, const struct record_fault *f, const char *name)
{
	size_t place = place_of(c, name);
	const char *site = place < c->n_participants ? c->participants[place].site : NULL;

	return !strcmp(f->target, name) || (site && fault_is_on(c, f, site));
}

static void draw_faults(struct chart *chart, const struct chart_source *from,
	const struct lane *const *list, size_t n)
{
	double least_s = 3 * from->until_s / CHART_WIDTH; /* three pixels, to be seen */

	for (size_t i = 0; i < from->c->n_faults; i++) {
		const struct record_fault *f = &from->c->faults[i];
		struct paint solid = *paint_fault(f->kind);
		struct span span = {f->at_s, f->at_s + fmax(least_s, f->for_s)};

		if (!f->happened || !(f->at_s < from->until_s))
			continue;
		span.until_s = fmin(span.until_s, from->until_s);
		solid.fill = "solid 1";
		for (size_t k = 0; k < n; k++)
			if (is_hit(from->c, f, list[k]->participant))
				chart_bar(chart, &span, k + .38, k + .38 + FAULT_HEIGHT, &solid);
	}
}

static void fault_legend(struct legend *l, const struct record_case *c)
{
	struct legend faults = {0};

	marks_legend(&faults, c, NULL);
	for (int i = 0; i < faults.n; i++) {
		faults.entries[i].paint.height = 2 * FAULT_HEIGHT;
		legend_lane(l, &faults.entries[i].paint);
	}
}

int chart_timeline(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	size_t room = from->lanes ? from->lanes->n_lanes : 0, n = 0;
	_free_ const struct lane **list = memory_zero(room, sizeof *list);
	_free_ const char **names = memory_zero(room, sizeof *names);
	struct legend legend = {0};
	struct chart c;
	int row, top, r;

	if (from->lanes)
		n = list_shown(from, list);
	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		names[i] = list[i]->participant;
	row = n <= 16 ? 26 : n <= 32 ? 20 : 16;
	for (int s = 0; s < STATE_COUNT; s++)
		if (state_is_used(list, n, (enum state)s))
			legend_lane(&legend, paint_state((enum state)s));
	fault_legend(&legend, from->c);
	top = chart_top(&legend);
	r = chart_begin(&c, from->dir, stem, top + (int)n * row + BOTTOM, title, &legend, err);
	if (r)
		return r;
	chart_frame(&c, chart_names_margin(names, n), CHART_RIGHT, top, BOTTOM);
	chart_rows(&c, names, n);
	chart_add(&c, "set xrange [0:%.9g]\nset xlabel 'time (s)' offset 0,0.3\n", from->until_s);
	draw_faults(&c, from, list, n);
	plot(&c, list, n, row);
	return chart_end(&c, err);
}
