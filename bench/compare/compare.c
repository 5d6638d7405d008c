/* Figures held against each other; see compare.h. */
#include "bench/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/compare/settings.h"
#include "bench/verdict.h"

const char *judgement_name(enum judgement judgement)
{
	static const char *const names[] = {[JUDGED_SAME] = "same",
		[JUDGED_BETTER] = "better",
		[JUDGED_WORSE] = "worse",
		[JUDGED_OTHER] = "different"};

	return names[judgement];
}

static bool is_share(enum metric metric)
{
	return metric != METRIC_WIRE_RATE && metric != METRIC_EXCHANGE_P50 &&
	       metric != METRIC_EXCHANGE_P99;
}

/* What was known and is not any more is worse. */
static enum judgement judge(
	const struct compare_figure *f, const struct compare_tolerance *tolerance)
{
	double limit = is_share(f->metric) ? tolerance->points : tolerance->share;

	if (isnan(f->a))
		return JUDGED_OTHER;
	if (isnan(f->b))
		return JUDGED_WORSE;
	if (fabs(f->change) <= limit + 1e-12) /* just as much is not more, whatever the last bit */
		return JUDGED_SAME;
	if (f->metric == METRIC_WIRE_RATE)
		return JUDGED_OTHER;
	return (f->change > 0) == is_share(f->metric) ? JUDGED_BETTER : JUDGED_WORSE;
}

static double change_of(enum metric metric, double a, double b)
{
	if (is_share(metric))
		return b - a;
	return a == b ? 0 : b / a - 1;
}

/* Takes the text. */
static void note(struct run_comparison *c, char *text)
{
	c->notes = memory_resize(c->notes, c->n_notes + 1, sizeof *c->notes);
	c->notes[c->n_notes++] = text;
}

static void compare_figures(struct run_comparison *c, const struct record_case *a,
	const struct record_case *b, const struct compare_tolerance *tolerance)
{
	for (int m = 0; m < METRIC_COUNT; m++) {
		double in_a = metric_value(a, m), in_b = metric_value(b, m);
		struct compare_figure f = {.case_name = a->name, .metric = m, .a = in_a, .b = in_b};

		if (isnan(in_a) && isnan(in_b))
			continue;
		f.change = change_of(m, in_a, in_b);
		f.judged = judge(&f, tolerance);
		c->worse |= f.judged == JUDGED_WORSE;
		c->figures = memory_resize(c->figures, c->n_figures + 1, sizeof *c->figures);
		c->figures[c->n_figures++] = f;
	}
}

static bool no_run(const struct record_case *c)
{
	return !strcmp(c->verdict, "invalid") || !strcmp(c->verdict, "partial");
}

/* Its figures are shown, and not relied on. */
static void note_invalid(struct run_comparison *c, const char *which, const struct record_case *of)
{
	if (!no_run(of))
		return;
	c->invalid = true;
	note(c, memory_format("%s: %s is %s: %s", which, of->name, of->verdict,
			of->because ? of->because : "its record does not say why"));
}

static void compare_case(struct run_comparison *c, const struct record_case *a,
	const struct record_case *b, const struct compare_tolerance *tolerance)
{
	note_invalid(c, "A", a);
	note_invalid(c, "B", b);
	if (strcmp(a->verdict, b->verdict) && !no_run(a) && !no_run(b)) {
		c->worse |= !strcmp(b->verdict, "fails");
		note(c, memory_format("%s: the verdict was \"%s\" and is \"%s\"", a->name,
				a->verdict, b->verdict));
	}
	compare_figures(c, a, b, tolerance);
}

static const struct record_case *find_case(const struct record *r, const char *name)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (!strcmp(r->cases[i]->name, name))
			return r->cases[i];
	return NULL;
}

static void compare_cases(struct run_comparison *c, const struct record *a, const struct record *b,
	const struct compare_tolerance *tolerance)
{
	for (size_t i = 0; i < a->n_cases; i++) {
		const struct record_case *other = find_case(b, a->cases[i]->name);

		if (other) {
			compare_case(c, a->cases[i], other, tolerance);
			continue;
		}
		c->worse = true;
		note(c, memory_format("B has no case %s", a->cases[i]->name));
	}
	for (size_t i = 0; i < b->n_cases; i++)
		if (!find_case(a, b->cases[i]->name))
			note(c, memory_format("A has no case %s", b->cases[i]->name));
}

struct run_comparison *compare_runs(
	const struct record *a, const struct record *b, const struct compare_tolerance *tolerance)
{
	struct run_comparison *c = memory_zero(1, sizeof *c);

	settings_compare(c, a->resolved, b->resolved);
	if (a->n_cases == 1 && b->n_cases == 1)
		compare_case(c, a->cases[0], b->cases[0], tolerance);
	else
		compare_cases(c, a, b, tolerance);
	return c;
}

struct run_comparison *run_comparison_free(struct run_comparison *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n_settings; i++) {
		free(c->settings[i].key);
		free(c->settings[i].a);
		free(c->settings[i].b);
	}
	for (size_t i = 0; i < c->n_notes; i++)
		free(c->notes[i]);
	free(c->settings);
	free(c->figures);
	free(c->notes);
	free(c);
	return NULL;
}
