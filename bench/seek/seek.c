/* From options to a record: bounds, the search over the engine, and what is to be said of it. */
#include "bench/seek/seek.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/seek/search.h"
#include "bench/verdict.h"
#include "results/show.h"

#define SET_MAX 96

struct hunt {
	const struct seek_source *source;
	const struct seek_options *options;
	struct numeric numeric;
	struct search search;
	struct search_result result;
	double first[METRIC_COUNT]; /* every metric at the first point */
	size_t tried;
	bool changed[METRIC_COUNT]; /* some point differs in it */
};

int seek_load(struct scenario_file **out, const struct seek_source *source, const struct numeric *n,
	double value, struct error *err)
{
	const char *set[SET_MAX];
	_free_ char *item = NULL;
	size_t k = 0;
	char text[64];

	if (source->n_set >= SET_MAX)
		return error_set(err, -E2BIG, STATUS_INPUT, "more than %d overrides", SET_MAX - 1);
	for (; k < source->n_set; k++)
		set[k] = source->set[k];
	if (n) {
		item = memory_format(
			"%s=%s", n->key, numeric_format(text, sizeof text, n, value, true));
		set[k++] = item;
	}
	return scenario_load_text(out, source->path, source->text, source->length, set, k, err);
}

/* Wide enough for what people ask about, and no wider: both ends are computed. */
void seek_default_bounds(const struct numeric *n, double *low, double *high)
{
	static const double bounds[][2] = {
		[QUANTITY_RATE] = {1e6, 100e9},
		[QUANTITY_TIME] = {1e-3, 100},
		[QUANTITY_BYTES] = {1e6, 1e12},
		[QUANTITY_COUNT] = {1e6, 1e12},
		[QUANTITY_BITS] = {1, 64},
		[QUANTITY_RATIO] = {1e-6, .5},
	};

	*low = bounds[n->kind][0];
	*high = bounds[n->kind][1];
	if (n->plain) {
		*low = .01;
		*high = 100;
	} else if (n->kind == QUANTITY_COUNT && n->high < 1e9) {
		*low = 1;
		*high = 1000;
	}
	*low = fmax(*low, n->low);
	*high = fmin(*high, n->high);
}

static bool loads(const struct hunt *h, double value)
{
	struct scenario_file *file = NULL;
	struct error err = {0};

	if (seek_load(&file, h->source, &h->numeric, value, &err))
		return false;
	scenario_file_free(file);
	return true;
}

/*
 * Rules between keys can forbid a bound that nobody asked for (more fragments than steps in a
 * period): the furthest value on the way to it that the scenario accepts.
 */
static double settle(const struct hunt *h, double good, double bad)
{
	bool log = good > 0 && bad > 0;

	if (loads(h, bad) || !loads(h, good))
		return bad; /* and the search says what is wrong with it */
	for (int i = 0; i < 40 && fabs(bad - good) > (h->numeric.whole ? 1 : 1e-3 * fabs(bad));
		i++) {
		double mid = log ? sqrt(good * bad) : (good + bad) / 2;

		if (h->numeric.whole)
			mid = fmin(fmax(good, bad) - 1, fmax(fmin(good, bad) + 1, round(mid)));
		*(loads(h, mid) ? &good : &bad) = mid;
	}
	return good;
}

/* From where a bound is settled: the scenario's own value within the bounds, or the other bound. */
static double anchor(const struct hunt *h, double current, double other)
{
	return current > h->search.low && current < h->search.high ? current : other;
}

static int bound(const struct hunt *h, const char *name, const char *text, double fallback,
	double *out, struct error *err)
{
	struct scenario_file *file = NULL;
	struct error inner = {0};

	*out = fallback;
	if (!text)
		return 0;
	if (numeric_parse(&h->numeric, text, out, &inner))
		return error_set(err, -EINVAL, STATUS_INPUT, "%s %s: %s", name, text, inner.text);
	if (seek_load(&file, h->source, &h->numeric, *out, &inner))
		return error_set(err, -EINVAL, STATUS_INPUT, "%s %s: %s", name, text, inner.text);
	scenario_file_free(file);
	return 0;
}

/* current: the scenario's own value, NaN if unknown: what is certainly accepted. */
static int set_bounds(struct hunt *h, double current, struct error *err)
{
	const struct seek_options *o = h->options;
	double low, high;
	char a[64], b[64];
	int r;

	seek_default_bounds(&h->numeric, &low, &high);
	r = bound(h, "--min", o->min, low, &h->search.low, err);
	if (!r)
		r = bound(h, "--max", o->max, high, &h->search.high, err);
	if (r)
		return r;
	if (h->search.low >= h->search.high)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s from %s to %s: there is nothing between; give --min and --max", o->find,
			numeric_format(a, sizeof a, &h->numeric, h->search.low, false),
			numeric_format(b, sizeof b, &h->numeric, h->search.high, false));
	if (!o->max)
		h->search.high = settle(h, anchor(h, current, h->search.low), h->search.high);
	if (!o->min)
		h->search.low = settle(h, anchor(h, current, h->search.high), h->search.low);
	return 0;
}

static void keep_metrics(struct hunt *h, const struct record_case *c)
{
	for (int m = 0; m < METRIC_COUNT; m++) {
		double got = metric_value(c, (enum metric)m);

		if (!h->tried)
			h->first[m] = got;
		else if (got != h->first[m] && !(isnan(got) && isnan(h->first[m])))
			h->changed[m] = true;
	}
	h->tried++;
}

static int try_value(void *user, double value, struct search_point *out, struct error *err)
{
	struct hunt *h = user;
	struct record *record = record_new();
	struct record_case *c = record_add_case(record, "");
	struct scenario_file *file = NULL;
	int r = seek_load(&file, h->source, &h->numeric, value, err);

	if (!r) {
		scenario_expect(file->cases[0], &h->options->want);
		r = h->options->engine(c, file->cases[0], NULL, 0, err);
	}
	if (!r) {
		out->got = metric_value(c, h->options->want.metric);
		out->holds = c->valid && expectation_holds(&h->options->want, out->got);
		keep_metrics(h, c);
	}
	scenario_file_free(file);
	record_free(record);
	return r;
}

/* Words. */

static const char *value_text(const struct hunt *h, double value, char buf[64])
{
	return numeric_format(buf, 64, &h->numeric, value, false);
}

/* "5.8 points", "120 ms": what is missing. */
static void shortage(char *buf, size_t size, const struct hunt *h, double got)
{
	const struct expectation *want = &h->options->want;
	const char *metric = metric_name(want->metric);
	double gap = fabs(got - want->value);
	bool least = want->op == EXPECT_GE || want->op == EXPECT_GT;

	if (strchr(show_metric(metric, got).text, '%'))
		snprintf(buf, size, "%.1f points %s", 100 * gap, least ? "short" : "too much");
	else
		snprintf(buf, size, "%s too %s", show_metric(metric, gap).text,
			least ? "little" : "much");
}

static char *say_none(const struct hunt *h)
{
	const struct search_point *best = search_best(&h->result, h->options->want.value);
	const char *metric = metric_name(h->options->want.metric);
	char at[64], low[64], high[64], gap[64];

	value_text(h, h->search.low, low);
	value_text(h, h->search.high, high);
	if (!best)
		return memory_format("no value from %s to %s gives a known %s", low, high, metric);
	shortage(gap, sizeof gap, h, best->got);
	return memory_format("even at %s %s is %s, %s; no value from %s to %s is enough",
		value_text(h, best->value, at), metric, show_metric(metric, best->got).text, gap,
		low, high);
}

static const struct search_point *point_at(const struct hunt *h, double value)
{
	for (size_t i = 0; i < h->result.n; i++)
		if (h->result.points[i].value == value)
			return &h->result.points[i];
	return NULL;
}

static char *say_found(const struct hunt *h)
{
	const struct search_result *r = &h->result;
	const char *metric = metric_name(h->options->want.metric);
	const struct search_point *found = point_at(h, r->found), *next = point_at(h, r->next);
	char at[64], beside[64];

	value_text(h, r->found, at);
	if (r->outcome == SEARCH_BOUND)
		return memory_format("the bound itself is enough: at %s %s is %s; give --%s to "
				     "look further",
			at, metric, show_metric(metric, found->got).text,
			h->options->largest ? "max" : "min");
	return memory_format("%s is enough, with %s %s; %s is not, with %s", at, metric,
		show_metric(metric, found->got).text, value_text(h, r->next, beside),
		show_metric(metric, next->got).text);
}

static void note_effect(struct seek_record *seek, const struct hunt *h)
{
	bool any = false;

	for (int m = 0; m < METRIC_COUNT; m++)
		any |= h->changed[m];
	if (!any)
		seek_note(seek, "nothing in this case uses `%s`: every value gives the same result",
			seek->key);
	else if (!h->changed[h->options->want.metric])
		seek_note(
			seek, "`%s` changes nothing in %s in this range", seek->key, seek->metric);
}

static void note_turn(struct seek_record *seek, const struct hunt *h)
{
	const struct search_point *a, *b;
	char from[64], to[64];
	size_t i = 0;

	if (!search_turns(&h->result, h->search.largest, &i))
		return;
	a = &h->result.points[i];
	b = a + 1;
	seek_note(seek, "the curve turns: at %s %s is %s, at %s it is %s; %s, look at the points",
		value_text(h, a->value, from), seek->metric, show_metric(seek->metric, a->got).text,
		value_text(h, b->value, to), show_metric(seek->metric, b->got).text,
		a->holds != b->holds ? "the condition holds in more than one range"
				     : "there may be more than one such value");
}

static bool note_direction(struct seek_record *seek, const struct hunt *h)
{
	const struct search_point *ends[2] = {
		&h->result.points[0], &h->result.points[h->result.n - 1]};
	const struct search_point *other = ends[h->search.largest ? 0 : 1];

	if (h->result.outcome != SEARCH_BOUND || other->holds)
		return false;
	seek_note(seek,
		"it stops holding on the way to the other bound: the %s such value "
		"may be what is sought (%s--largest)",
		h->search.largest ? "smallest" : "largest", h->search.largest ? "without " : "");
	return true;
}

static struct seek_record *describe(const struct hunt *h)
{
	static const char *const outcomes[] = {"found", "bound", "none"};
	const struct seek_options *o = h->options;
	struct seek_record *seek = seek_record_new();
	char text[128];

	seek->key = memory_string(o->find);
	seek->kind = memory_string(numeric_kind_name(&h->numeric));
	seek->condition = memory_string(expectation_format(text, sizeof text, &o->want));
	seek->metric = memory_string(metric_name(o->want.metric));
	seek->op = memory_string(expect_op_name(o->want.op));
	seek->want = o->want.value;
	seek->largest = o->largest;
	seek->low = h->search.low;
	seek->high = h->search.high;
	seek->tolerance = o->tolerance;
	seek->outcome = memory_string(outcomes[h->result.outcome]);
	seek->found = h->result.found;
	seek->next = h->result.next;
	if (!isnan(h->result.found))
		seek->text = memory_string(
			numeric_format(text, sizeof text, &h->numeric, h->result.found, false));
	seek->because = h->result.outcome == SEARCH_NONE ? say_none(h) : say_found(h);
	for (size_t i = 0; i < h->result.n; i++) {
		const struct search_point *p = &h->result.points[i];
		struct seek_point *to = seek_add_point(seek, p->value,
			numeric_format(text, sizeof text, &h->numeric, p->value, false));

		to->got = p->got;
		to->holds = p->holds;
	}
	note_effect(seek, h);
	if (!note_direction(seek, h))
		note_turn(seek, h);
	return seek;
}

static int one_case(const struct scenario_file *file, struct error *err)
{
	if (file->n_cases == 1)
		return 0;
	return error_set(err, -EINVAL, STATUS_INPUT,
		"%s has a matrix of %zu cases and a seek looks at one: --set its keys, or "
		"`narrowlink sweep --find` seeks in each",
		file->path, file->n_cases);
}

int seek_run(struct seek_record **out, const struct seek_source *source,
	const struct seek_options *options, struct error *err)
{
	struct hunt h = {.source = source, .options = options};
	double current = NAN;
	struct scenario_file *file = NULL;
	int r = seek_load(&file, source, NULL, 0, err);

	if (r)
		return r;
	r = one_case(file, err);
	if (!r)
		r = numeric_find(&h.numeric, file->cases[0], options->find, err);
	if (!r)
		numeric_current(&h.numeric, file->cases[0], &current);
	scenario_file_free(file);
	if (r)
		return r;
	h.search = (struct search){.whole = h.numeric.whole,
		.largest = options->largest,
		.tolerance = options->tolerance};
	r = set_bounds(&h, current, err);
	if (!r)
		r = search_run(&h.result, &h.search, try_value, &h, err);
	if (!r)
		*out = describe(&h);
	return r;
}
