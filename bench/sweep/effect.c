/*
 * Two cases that differ in one key alone are neighbours along it. A key all of whose neighbours
 * have equal results, in every metric and to the last bit, is used by nothing.
 */
#include "bench/sweep/effect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* What was seen on the way, too: two seeks without an answer need not be alike. */
static bool same_curve(const struct seek_record *a, const struct seek_record *b)
{
	if (a->n_points != b->n_points)
		return false;
	for (size_t i = 0; i < a->n_points; i++)
		if (a->points[i].value != b->points[i].value ||
			!same_number(a->points[i].got, b->points[i].got))
			return false;
	return true;
}

static bool same_result(const struct sweep_case *a, const struct sweep_case *b)
{
	if (!strcmp(a->id, b->id))
		return true;
	if (strcmp(a->verdict, b->verdict) || a->n_seeks != b->n_seeks)
		return false;
	if (a->n_seeks && !same_curve(a->seeks[0], b->seeks[0]))
		return false;
	if (a->n_metrics != b->n_metrics)
		return false;
	for (size_t i = 0; i < a->n_metrics; i++)
		if (!same_number(a->metrics[i].value, b->metrics[i].value))
			return false;
	return true;
}

static bool neighbours(const struct sweep_record *s, const struct sweep_case *a,
	const struct sweep_case *b, const char *key)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (strcmp(s->axes[i].key, key) &&
			strcmp(sweep_value(a, s->axes[i].key), sweep_value(b, s->axes[i].key)))
			return false;
	return strcmp(sweep_value(a, key), sweep_value(b, key)) != 0;
}

struct tally {
	size_t pairs, equal;
};

/* Over the cases of a strategy (NULL: all). */
static struct tally count(const struct sweep_record *s, const char *key, const char *strategy)
{
	struct tally t = {0};

	for (size_t i = 0; i < s->n_cases; i++)
		for (size_t k = i + 1; k < s->n_cases; k++) {
			const struct sweep_case *a = s->cases[i], *b = s->cases[k];

			if (strategy &&
				(strcmp(a->strategy, strategy) || strcmp(b->strategy, strategy)))
				continue;
			if (!neighbours(s, a, b, key))
				continue;
			t.pairs++;
			t.equal += same_result(a, b);
		}
	return t;
}

static void note_strategies(struct sweep_record *s, const char *key)
{
	for (size_t i = 0; i < s->n_cases; i++) {
		const char *strategy = s->cases[i]->strategy;
		struct tally t;
		size_t k = 0;

		while (k < i && strcmp(s->cases[k]->strategy, strategy))
			k++;
		if (k < i)
			continue;
		t = count(s, key, strategy);
		if (t.pairs && t.equal == t.pairs)
			sweep_note(s, "nothing in the cases of %s uses `%s`", strategy, key);
	}
}

void effect_notes(struct sweep_record *s)
{
	for (size_t i = 0; i < s->n_axes; i++) {
		const char *key = s->axes[i].key;
		struct tally t = count(s, key, NULL);

		if (t.pairs && t.equal == t.pairs)
			sweep_note(s,
				"nothing in these cases uses `%s`: every value gives the same "
				"result",
				key);
		else if (t.equal && strcmp(key, "workload.strategy"))
			note_strategies(s, key);
	}
}
