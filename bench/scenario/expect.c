/* expect: what must hold for the run to pass, as "metric: OP quantity". */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "bench/scenario/nearest.h"
#include "bench/scenario/sections.h"

/* kind: of the quantity; scale: its base units in one of ours (ratio 1, bit/s, s). */
static const struct {
	const char *name;
	enum quantity kind;
	double scale, high;
	const char *example, *help;
} metrics[METRIC_COUNT] = {
	[METRIC_USEFUL_WORK] = {"useful_work", QUANTITY_RATIO, 1e9, 1, ">= 90 %",
		"share of the accelerators' time in steps that count"},
	[METRIC_COMPUTE_UTILISATION] = {"compute_utilisation", QUANTITY_RATIO, 1e9, 1, ">= 90 %",
		"compute / (compute + exposed communication)"},
	[METRIC_AVAILABILITY] = {"availability", QUANTITY_RATIO, 1e9, 1, ">= 99 %",
		"share of the time in which participants were neither down nor recovering"},
	[METRIC_WIRE_RATE] = {"wire_rate", QUANTITY_RATE, 1, 1e13, "<= 0.84 Gbit/s",
		"the largest mean rate of any site's direction, on the wire"},
	[METRIC_EXCHANGE_P50] = {"exchange_p50", QUANTITY_TIME, 1e9, 1e6, "<= 8 s",
		"median time of an exchange, from its first send to its merge"},
	[METRIC_EXCHANGE_P99] = {"exchange_p99", QUANTITY_TIME, 1e9, 1e6, "<= 12 s",
		"99th percentile of it"},
	[METRIC_GOODPUT] = {"goodput", QUANTITY_RATIO, 1e9, 1, ">= 85 %",
		"of a fleet: share of the chips' time that was useful, mean over the seeds"},
	[METRIC_UPTIME] = {"uptime", QUANTITY_RATIO, 1e9, 1, ">= 99.9 %",
		"of a fleet: share of the time in which a quorum of learners was up, mean over the "
		"seeds"},
};
static const char *const ops[] = {
	[EXPECT_GE] = ">=", [EXPECT_LE] = "<=", [EXPECT_GT] = ">", [EXPECT_LT] = "<"};
#define N_OPS (sizeof ops / sizeof *ops)

const char *metric_name(enum metric metric)
{
	return metrics[metric].name;
}

const char *expect_op_name(enum expect_op op)
{
	return ops[op];
}

/* err is one sentence, without a position. */
static int find_metric(const char *name, enum metric *out, struct error *err)
{
	struct nearest nearest = {.written = name};
	char known[256] = "";
	size_t used = 0;

	for (int m = 0; m < METRIC_COUNT; m++) {
		nearest_offer(&nearest, metrics[m].name);
		if (!strcmp(metrics[m].name, name)) {
			*out = (enum metric)m;
			return 0;
		}
		used += (size_t)snprintf(
			known + used, sizeof known - used, "%s%s", m ? ", " : "", metrics[m].name);
	}
	if (nearest.best)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"unknown metric \"%.64s\"; did you mean \"%s\"?", name, nearest.best);
	return error_set(
		err, -EINVAL, STATUS_INPUT, "unknown metric \"%.64s\"; known: %s", name, known);
}

/* "0.9", for what is written as 90 %. */
static bool plain_share(const char *text, double *out)
{
	char *end;

	text += strspn(text, " ");
	*out = strtod(text, &end);
	return end != text && !end[strspn(end, " ")] &&
	       strspn(text, "0123456789. ") == strlen(text) && *out > 0 && *out <= 1;
}

static int parse_comparison(const char *text, struct expectation *e, struct error *err)
{
	struct error inner = {0};
	double share;
	int64_t v;
	size_t op;

	text += strspn(text, " ");
	for (op = 0; op < N_OPS; op++)
		if (!strncmp(text, ops[op], strlen(ops[op])))
			break;
	if (op == N_OPS)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%.64s\" must begin with >=, <=, > or <; write e.g. \"%s\"", text,
			metrics[e->metric].example);
	if (metrics[e->metric].kind == QUANTITY_RATIO &&
		plain_share(text + strlen(ops[op]), &share))
		return error_set(err, -EINVAL, STATUS_INPUT, "\"%.64s\": write \"%s %g %%\"", text,
			ops[op], 100 * share);
	if (quantity_parse(text + strlen(ops[op]), metrics[e->metric].kind, &v, &inner))
		return error_set(err, -EINVAL, STATUS_INPUT, "%s", inner.text);
	e->op = (enum expect_op)op;
	e->value = (double)v / metrics[e->metric].scale;
	if (e->value > metrics[e->metric].high)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%.64s\" can never be reached; write e.g. \"%s\"", text,
			metrics[e->metric].example);
	return 0;
}

int expectation_parse(struct expectation *out, const char *text, struct error *err)
{
	const char *name = text + strspn(text, " ");
	size_t n = strcspn(name, " <>=");
	_free_ char *metric = memory_format("%.*s", (int)(n < 128 ? n : 128), name);
	int r;

	if (!n)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%.64s\" is no condition; write e.g. \"useful_work >= 90 %%\"", text);
	r = find_metric(metric, &out->metric, err);
	return r ? r : parse_comparison(name + n, out, err);
}

char *expectation_format(char *buf, size_t size, const struct expectation *e)
{
	char value[64];

	quantity_format(value, sizeof value, metrics[e->metric].kind,
		llround(e->value * metrics[e->metric].scale), true);
	snprintf(buf, size, "%s %s %s", metrics[e->metric].name, ops[e->op], value);
	return buf;
}

bool expectation_holds(const struct expectation *e, double got)
{
	switch (e->op) {
	case EXPECT_GE:
		return got >= e->value;
	case EXPECT_LE:
		return got <= e->value;
	case EXPECT_GT:
		return got > e->value;
	default:
		return got < e->value;
	}
}

static int parse_value(struct loader *l, const struct node *value, struct expectation *e)
{
	struct error err = {0};
	const char *text;
	char what[64];
	int r;

	snprintf(what, sizeof what, "a comparison, e.g. \"%s\"", metrics[e->metric].example);
	r = loader_text(l, value, &text, what);
	if (!r && parse_comparison(text, e, &err))
		r = loader_error(l, value, "%s", err.text);
	return r;
}

/* Sites and a fleet have different figures. */
static int check_measured(struct loader *l, const struct node *key, enum metric metric)
{
	bool of_fleet = metric == METRIC_GOODPUT || metric == METRIC_UPTIME;

	if (of_fleet == scenario_is_fleet(l->s))
		return 0;
	return loader_error(l, key,
		of_fleet ? "\"%s\" is known of a fleet only; write e.g. useful_work"
			 : "\"%s\" is not known of a fleet; write goodput or uptime",
		metrics[metric].name);
}

int expect_parse(struct loader *l, const struct node *value, void *scenario)
{
	struct scenario *s = scenario;
	struct error err = {0};
	int r = loader_map(l, value, "expect");

	if (r || !value->n)
		return r;
	s->expect = memory_zero(value->n, sizeof *s->expect);
	for (size_t i = 0; !r && i < value->n; i++, s->n_expect++) {
		if (find_metric(value->keys[i]->text, &s->expect[i].metric, &err))
			r = loader_error(l, value->keys[i], "%s", err.text);
		else
			r = check_measured(l, value->keys[i], s->expect[i].metric);
		if (!r)
			r = parse_value(l, value->items[i], &s->expect[i]);
	}
	return r;
}

void scenario_expect(struct scenario *s, const struct expectation *e)
{
	s->expect = memory_resize(s->expect, 1, sizeof *s->expect);
	s->expect[0] = *e;
	s->n_expect = 1;
}

void expect_print(struct printer *p, const struct key *key, const void *scenario)
{
	const struct scenario *s = scenario;

	if (!s->n_expect)
		return;
	print_open(p, key->name);
	for (size_t i = 0; i < s->n_expect; i++) {
		const struct expectation *e = &s->expect[i];
		char value[64], both[80];

		quantity_format(value, sizeof value, metrics[e->metric].kind,
			llround(e->value * metrics[e->metric].scale), true);
		snprintf(both, sizeof both, "%s %s", ops[e->op], value);
		print_text(p, metrics[e->metric].name, both);
	}
	print_close(p);
}

void expect_describe(FILE *out)
{
	for (int m = 0; m < METRIC_COUNT; m++)
		fprintf(out, "| `%s` | `\"%s\"` | %s |\n", metrics[m].name, metrics[m].example,
			metrics[m].help);
}
