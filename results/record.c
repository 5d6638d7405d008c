/*
 * Building a record: plain lists that grow by one; see record.h.
 */
#include "results/record.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"
#include "results/record_schema.h"

struct record *record_new(void)
{
	struct record *r = memory_zero(1, sizeof *r);

	schema_blank(record_schema, r);
	return r;
}

struct record *record_free(struct record *record)
{
	if (record)
		schema_release(record_schema, record);
	free(record);
	return NULL;
}

bool record_simulated(const struct record *record)
{
	return record->engine && !strcmp(record->engine, "model");
}

struct record_case *record_add_case(struct record *record, const char *name)
{
	struct record_case *c = memory_zero(1, sizeof *c);

	schema_blank(record_case_schema, c);
	c->name = memory_string(name);
	c->verdict = memory_string("none");
	c->valid = true;
	record->cases = memory_resize(record->cases, record->n_cases + 1, sizeof *record->cases);
	record->cases[record->n_cases++] = c;
	return c;
}

/* Grows *list (elements of `size` bytes) by one zeroed element; doubles its room when full. */
static void *append(void *list, size_t *n, size_t size)
{
	void **p = list;

	if (!(*n & (*n - 1)))
		*p = memory_resize(*p, *n ? 2 * *n : 1, size);
	return memset((char *)*p + (*n)++ * size, 0, size);
}

static char *__attribute__((format(printf, 1, 0))) format_text(const char *format, va_list ap)
{
	char *s;

	if (vasprintf(&s, format, ap) < 0)
		s = memory_string("");
	return s;
}

void record_reason(struct record_case *c, const char *format, ...)
{
	char **s = append(&c->reasons, &c->n_reasons, sizeof *s);
	va_list ap;

	va_start(ap, format);
	*s = format_text(format, ap);
	va_end(ap);
}

void record_note(struct record_case *c, const char *format, ...)
{
	char **s = append(&c->notes, &c->n_notes, sizeof *s);
	va_list ap;

	va_start(ap, format);
	*s = format_text(format, ap);
	va_end(ap);
}

void record_assume(
	struct record_case *c, const char *symbol, const char *meaning, const char *format, ...)
{
	struct record_assumption *a = append(&c->assumptions, &c->n_assumptions, sizeof *a);
	va_list ap;

	a->symbol = memory_string(symbol);
	a->meaning = memory_string(meaning);
	va_start(ap, format);
	a->value = format_text(format, ap);
	va_end(ap);
}

void record_set_value(struct record_case *c, const char *key, const char *value)
{
	struct record_set *s = append(&c->set, &c->n_set, sizeof *s);

	s->key = memory_string(key);
	s->value = memory_string(value);
}

void record_need(struct record_case *c, double utilisation, double bps, double step_s)
{
	struct record_needed *n = append(&c->needed, &c->n_needed, sizeof *n);

	n->utilisation = utilisation;
	n->bps = bps;
	n->step_s = step_s;
}

void record_exchange(struct record_case *c, double seconds)
{
	double *s = append(&c->exchange_s, &c->n_exchanges, sizeof *s);

	*s = seconds;
}

struct record_participant *record_add_participant(
	struct record_case *c, const char *name, const char *role, const char *site)
{
	struct record_participant *p = append(&c->participants, &c->n_participants, sizeof *p);

	schema_blank(record_participant_schema, p);
	p->name = memory_string(name);
	p->role = memory_string(role);
	p->site = memory_string(site);
	return p;
}

struct record_wire *record_add_wire(struct record_case *c, const char *site, const char *direction)
{
	struct record_wire *w = append(&c->wire, &c->n_wire, sizeof *w);

	schema_blank(record_wire_schema, w);
	w->site = memory_string(site);
	w->direction = memory_string(direction);
	return w;
}

struct record_fault *record_add_fault(struct record_case *c, const char *kind, const char *target)
{
	struct record_fault *f = append(&c->faults, &c->n_faults, sizeof *f);

	schema_blank(record_fault_schema, f);
	f->kind = memory_string(kind);
	f->target = memory_string(target);
	return f;
}

struct record_check *record_add_check(
	struct record_case *c, const char *from, const char *to, const char *check)
{
	struct record_check *k = append(&c->checks, &c->n_checks, sizeof *k);

	schema_blank(record_check_schema, k);
	k->from = memory_string(from);
	k->to = memory_string(to);
	k->check = memory_string(check);
	record_check_result(k, "unmeasured", "");
	return k;
}

void record_check_result(struct record_check *check, const char *result, const char *why)
{
	cleanup_free(&check->result);
	cleanup_free(&check->why);
	check->result = memory_string(result);
	check->why = memory_string(why);
}

struct record_capture *record_add_capture(
	struct record_case *c, const char *site, const char *direction)
{
	struct record_capture *k = append(&c->captures, &c->n_captures, sizeof *k);

	schema_blank(record_capture_schema, k);
	k->site = memory_string(site);
	k->direction = memory_string(direction);
	return k;
}

struct record_expect *record_add_expect(struct record_case *c, const char *metric, const char *op)
{
	struct record_expect *e = append(&c->expect, &c->n_expect, sizeof *e);

	schema_blank(record_expect_schema, e);
	e->metric = memory_string(metric);
	e->op = memory_string(op);
	return e;
}

void record_exchange_summary(struct record_case *c)
{
	_free_ double *sorted = memory_zero(c->n_exchanges, sizeof *sorted);

	if (c->n_exchanges)
		memcpy(sorted, c->exchange_s, c->n_exchanges * sizeof *sorted);
	c->exchange_n = (double)c->n_exchanges;
	c->exchange_p50_s = stats_quantile(sorted, c->n_exchanges, .5);
	c->exchange_p90_s = stats_quantile(sorted, c->n_exchanges, .9);
	c->exchange_p99_s = stats_quantile(sorted, c->n_exchanges, .99);
	c->exchange_max_s = stats_quantile(sorted, c->n_exchanges, 1);
}

struct record_fleet *record_add_fleet(struct record_case *c)
{
	c->fleet = memory_zero(1, sizeof *c->fleet);
	schema_blank(record_fleet_schema, c->fleet);
	return c->fleet;
}

void record_spread(struct record_spread *out, const double *values, size_t n)
{
	_free_ double *sorted = memory_zero(n, sizeof *sorted);

	free(out->values);
	out->values = memory_zero(n, sizeof *out->values);
	out->n = n;
	for (size_t i = 0; i < n; i++)
		out->values[i] = sorted[i] = values[i];
	stats_mean(values, n, &out->mean, &out->ci95);
	out->p5 = stats_quantile(sorted, n, .05);
	out->p50 = stats_quantile(sorted, n, .5);
	out->p95 = stats_quantile(sorted, n, .95);
}

bool record_is_fleet(const struct record *record)
{
	return record->n_cases && record->cases[0]->fleet;
}
