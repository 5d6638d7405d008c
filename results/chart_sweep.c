/*
 * Lines of a sweep; see chart_sweep.h. A line is a strategy's where strategies are compared, in
 * its colour; lines of one strategy, and lines of no strategy, differ in their dashes and marks.
 */
#include "results/chart_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/chart_axis.h"
#include "results/palette.h"
#include "results/sweep_view.h"

#define HEIGHT 460
#define BOTTOM 56
#define LEFT 84
#define BAND_ROW 20 /* above the plot, for the bands' names */

static struct stroke look(const struct view_line *l)
{
	static const char *const dashes[] = {"solid", "(8,4)", "(2,3)", "(10,3,2,3)"};
	static const char *const colours[] = {
		"#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#56B4E9"};
	struct stroke s = {.label = l->name, .width = 2};

	if (!l->strategy) {
		s.colour = colours[l->dash % 6];
		s.dash = dashes[l->dash % 4];
		return s;
	}
	s = *stroke_strategy(l->strategy);
	if (l->dash)
		s.dash = dashes[l->dash % 4];
	return s;
}

/* gnuplot's point types that differ in form: filled and open circles, squares, triangles. */
static int point_type(const struct view *v, size_t i)
{
	static const int types[] = {7, 5, 9, 13, 6, 4, 8, 12};

	return v->lines[i].strategy ? types[stroke_strategy_index(v->lines[i].strategy) % 8]
				    : types[i % 8];
}

static void write_data(struct chart *c, const struct view *v)
{
	chart_data(c, "# %s, %s, least, greatest\n", v->x_name, v->y_name);
	for (size_t i = 0; i < v->n; i++) {
		chart_data(c, "# %s\n", v->lines[i].name);
		for (size_t k = 0; k < v->lines[i].n; k++) {
			const struct view_point *p = &v->lines[i].points[k];

			chart_number(c, p->x);
			chart_number(c, p->y);
			chart_number(c, p->low);
			chart_number(c, p->high);
			chart_data(c, "\n");
		}
		if (!v->lines[i].n)
			chart_data(c, "NaN\tNaN\tNaN\tNaN\n");
		chart_data(c, "\n\n");
	}
}

/* What is at 0 on a logarithmic axis stands at the axis' place for it. */
static void plot(struct chart *c, const struct view *v, const struct chart_axis *x)
{
	const char *between = "plot";

	for (size_t i = 0; i < v->n; i++) {
		struct stroke s = look(&v->lines[i]);

		chart_add(c,
			"%s '%s.dat' index %zu using ($1>0||%d?$1:%.9g):2:3:4 with "
			"yerrorlines pointtype %d pointsize 0.7 ",
			between, c->stem, i, x->zero > 0 ? 0 : 1, x->zero, point_type(v, i));
		chart_line(c, &s);
		between = ", \\\n ";
	}
	chart_add(c, "\n");
}

static void range_of(const struct view *v, struct chart_axis *x, struct chart_axis *y, bool *zero)
{
	x->low = y->low = INFINITY;
	x->high = y->high = -INFINITY;
	for (size_t i = 0; i < v->n; i++)
		for (size_t k = 0; k < v->lines[i].n; k++) {
			const struct view_point *p = &v->lines[i].points[k];

			*zero |= p->x == 0;
			if (p->x > 0 || !x->log)
				x->low = fmin(x->low, p->x);
			x->high = fmax(x->high, p->x);
			y->low = fmin(y->low, p->low);
			y->high = fmax(y->high, p->high);
		}
}

static void set_axes(const struct view *v, struct chart_axis *x, struct chart_axis *y)
{
	bool zero = false;

	*x = (struct chart_axis){.letter = 'x', .name = v->x_name, .log = v->x_log};
	*y = (struct chart_axis){.letter = 'y', .name = v->y_name, .log = v->y_log};
	range_of(v, x, y, &zero);
	if (!(x->low < INFINITY))
		x->low = x->high;
	chart_axis_fit(x, zero);
	if (v->percent) {
		y->low = 0;
		y->high = 102;
	} else {
		if (!y->log)
			y->low = 0;
		chart_axis_fit(y, false);
	}
}

static int draw(const struct view *v, const char *dir, const char *stem, struct error *err)
{
	struct legend legend = {0};
	struct chart_axis x, y;
	struct chart_place place = {.left = LEFT,
		.right = v->y_rate ? CHART_BANDS_RIGHT : CHART_RIGHT,
		.bottom = BOTTOM};
	struct chart c;
	int r;

	for (size_t i = 0; i < v->n; i++) {
		struct stroke s = look(&v->lines[i]);

		legend_marked(&legend, &s, point_type(v, i),
			*v->lines[i].name ? v->lines[i].name : "this job");
	}
	set_axes(v, &x, &y);
	place.top = chart_top(&legend) + (v->x_rate ? BAND_ROW : 0);
	r = chart_begin(&c, dir, stem, place.top + HEIGHT, v->title, &legend, err);
	if (r)
		return r;
	write_data(&c, v);
	chart_frame(&c, place.left, place.right, place.top, place.bottom);
	chart_axis_set(&c, &x);
	chart_axis_set(&c, &y);
	if (v->x_rate)
		chart_bands(&c, &x, &place);
	if (v->y_rate)
		chart_bands(&c, &y, &place);
	plot(&c, v, &x);
	return chart_end(&c, err);
}

/* "bandwidth", or "bandwidth-2" where a second key has the same chart. */
static char *free_stem(char *const *stems, size_t n, const char *stem)
{
	char *name = memory_string(stem);

	for (size_t i = 0, k = 2; i < n; i++)
		if (!strcmp(stems[i], name)) {
			free(name);
			name = memory_format("%s-%zu", stem, k++);
			i = 0;
		}
	return name;
}

int chart_sweep(
	const struct sweep_record *s, const char *dir, char ***stems, size_t *n, struct error *err)
{
	struct error first = {0};

	*n = 0;
	*stems = memory_zero(s->n_axes + 1, sizeof **stems);
	for (size_t i = 0; i < s->n_axes; i++) {
		struct view *v = view_make(s, i);
		_free_ char *stem = NULL;

		if (!v)
			continue;
		stem = free_stem(*stems, *n, v->kind->stem);
		if (draw(v, dir, stem, &first) >= 0)
			(*stems)[(*n)++] = memory_string(stem);
		view_free(v);
	}
	if (first.status == STATUS_HOLDS)
		return 0;
	return error_set(err, -1, first.status, "%s", first.text);
}
