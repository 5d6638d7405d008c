/* A sweep's and a seek's files: the tables that write and read them, and lists that grow. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "results/file_put.h"
#include "results/schema.h"
#include "results/sweep_record.h"

#define SEEK_SCHEMA "narrowlink/seek/1"
#define SWEEP_SCHEMA "narrowlink/sweep/1"
#define CASE_SCHEMA "narrowlink/sweep-case/1"
#define LIST_MOST 100000

#define FIELD(type, k, member)                                                                     \
	{                                                                                          \
		.key = #member, .kind = k, .at = offsetof(struct type, member)                     \
	}
#define MUST(type, k, member)                                                                      \
	{                                                                                          \
		.key = #member, .kind = k, .at = offsetof(struct type, member), .required = true   \
	}
#define MANY(type, k, member)                                                                      \
	{                                                                                          \
		.key = #member, .kind = k, .at = offsetof(struct type, member),                    \
		.count_at = offsetof(struct type, n_##member), .limit = LIST_MOST                  \
	}
#define LIST(type, k, member, element, table)                                                      \
	{                                                                                          \
		.key = #member, .kind = k, .at = offsetof(struct type, member),                    \
		.count_at = offsetof(struct type, n_##member), .size = sizeof(struct element),     \
		.fields = table, .limit = LIST_MOST                                                \
	}
#define END                                                                                        \
	{                                                                                          \
		0                                                                                  \
	}

static const struct field metric_schema[] = {
	MUST(sweep_metric, FIELD_TEXT, name),
	MUST(sweep_metric, FIELD_NUMBER, value),
	END,
};

static const struct field point_schema[] = {
	MUST(seek_point, FIELD_TEXT, text),
	MUST(seek_point, FIELD_NUMBER, value),
	MUST(seek_point, FIELD_NUMBER, got),
	MUST(seek_point, FIELD_FLAG, holds),
	END,
};

static const struct field check_schema[] = {
	MUST(seek_check, FIELD_TEXT, text),
	MUST(seek_check, FIELD_NUMBER, value),
	MUST(seek_check, FIELD_NUMBER, model),
	MUST(seek_check, FIELD_NUMBER, packets),
	FIELD(seek_check, FIELD_NUMBER, least),
	FIELD(seek_check, FIELD_NUMBER, greatest),
	FIELD(seek_check, FIELD_NUMBER, dilation),
	FIELD(seek_check, FIELD_TEXT, verdict),
	FIELD(seek_check, FIELD_TEXT, folder),
	MUST(seek_check, FIELD_FLAG, agrees),
	END,
};

static const char *const outcomes[] = {"found", "bound", "none", NULL};

static const struct field seek_schema[] = {
	MUST(seek_record, FIELD_TEXT, key),
	MUST(seek_record, FIELD_TEXT, kind),
	MUST(seek_record, FIELD_TEXT, condition),
	MUST(seek_record, FIELD_TEXT, metric),
	MUST(seek_record, FIELD_TEXT, op),
	MUST(seek_record, FIELD_NUMBER, want),
	MUST(seek_record, FIELD_FLAG, largest),
	MUST(seek_record, FIELD_NUMBER, low),
	MUST(seek_record, FIELD_NUMBER, high),
	MUST(seek_record, FIELD_NUMBER, tolerance),
	{.key = "outcome",
		.kind = FIELD_TEXT,
		.at = offsetof(struct seek_record, outcome),
		.required = true,
		.words = outcomes},
	FIELD(seek_record, FIELD_TEXT, text),
	MUST(seek_record, FIELD_NUMBER, found),
	MUST(seek_record, FIELD_NUMBER, next),
	FIELD(seek_record, FIELD_TEXT, because),
	MANY(seek_record, FIELD_TEXTS, notes),
	LIST(seek_record, FIELD_LIST, points, seek_point, point_schema),
	LIST(seek_record, FIELD_LIST, checks, seek_check, check_schema),
	END,
};

static const struct field case_schema[] = {
	FIELD(sweep_case, FIELD_TEXT, name),
	MANY(sweep_case, FIELD_MAP, set),
	FIELD(sweep_case, FIELD_TEXT, strategy),
	FIELD(sweep_case, FIELD_NUMBER, rtt_s),
	MUST(sweep_case, FIELD_TEXT, id),
	MUST(sweep_case, FIELD_TEXT, verdict),
	FIELD(sweep_case, FIELD_TEXT, because),
	MANY(sweep_case, FIELD_TEXTS, notes),
	LIST(sweep_case, FIELD_LIST, metrics, sweep_metric, metric_schema),
	LIST(sweep_case, FIELD_POINTERS, seeks, seek_record, seek_schema),
	END,
};

static const struct field axis_schema[] = {
	MUST(sweep_axis, FIELD_TEXT, key),
	MUST(sweep_axis, FIELD_TEXT, kind),
	END,
};

static const struct field sweep_schema[] = {
	MUST(sweep_record, FIELD_TEXT, tool_version),
	MUST(sweep_record, FIELD_TEXT, tool_git),
	FIELD(sweep_record, FIELD_TEXT, title),
	FIELD(sweep_record, FIELD_TEXT, scenario_path),
	LIST(sweep_record, FIELD_LIST, axes, sweep_axis, axis_schema),
	MANY(sweep_record, FIELD_TEXTS, notes),
	LIST(sweep_record, FIELD_POINTERS, cases, sweep_case, case_schema),
	END,
};

static void *make(const struct field *schema, size_t size)
{
	void *p = memory_zero(1, size);

	schema_blank(schema, p);
	return p;
}

static void *release(const struct field *schema, void *p)
{
	if (p)
		schema_release(schema, p);
	free(p);
	return NULL;
}

struct seek_record *seek_record_new(void)
{
	return make(seek_schema, sizeof(struct seek_record));
}

struct seek_record *seek_record_free(struct seek_record *seek)
{
	return release(seek_schema, seek);
}

struct sweep_case *sweep_case_new(void)
{
	return make(case_schema, sizeof(struct sweep_case));
}

struct sweep_case *sweep_case_free(struct sweep_case *c)
{
	return release(case_schema, c);
}

struct sweep_record *sweep_record_new(void)
{
	return make(sweep_schema, sizeof(struct sweep_record));
}

struct sweep_record *sweep_record_free(struct sweep_record *sweep)
{
	return release(sweep_schema, sweep);
}

/* Grows *list by one zeroed element. */
static void *append(void *list, size_t *n, size_t size)
{
	void **p = list;

	*p = memory_resize(*p, *n + 1, size);
	return memset((char *)*p + (*n)++ * size, 0, size);
}

struct seek_point *seek_add_point(struct seek_record *seek, double value, const char *text)
{
	struct seek_point *p = append(&seek->points, &seek->n_points, sizeof *p);

	p->value = value;
	p->got = NAN;
	p->text = memory_string(text);
	return p;
}

struct seek_check *seek_add_check(struct seek_record *seek, double value, const char *text)
{
	struct seek_check *c = append(&seek->checks, &seek->n_checks, sizeof *c);

	c->value = value;
	c->model = c->packets = c->least = c->greatest = c->dilation = NAN;
	c->text = memory_string(text);
	return c;
}

static void __attribute__((format(printf, 3, 0)))
add_text(char ***list, size_t *n, const char *format, va_list ap)
{
	char **to = append(list, n, sizeof *to);

	if (vasprintf(to, format, ap) < 0)
		*to = memory_string("");
}

void seek_note(struct seek_record *seek, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_text(&seek->notes, &seek->n_notes, format, ap);
	va_end(ap);
}

void sweep_note(struct sweep_record *sweep, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_text(&sweep->notes, &sweep->n_notes, format, ap);
	va_end(ap);
}

void sweep_case_note(struct sweep_case *c, const char *text)
{
	*(char **)append(&c->notes, &c->n_notes, sizeof(char *)) = memory_string(text);
}

void sweep_add_metric(struct sweep_case *c, const char *name, double value)
{
	struct sweep_metric *m = append(&c->metrics, &c->n_metrics, sizeof *m);

	m->name = memory_string(name);
	m->value = value;
}

void sweep_add_axis(struct sweep_record *sweep, const char *key, const char *kind)
{
	struct sweep_axis *a = append(&sweep->axes, &sweep->n_axes, sizeof *a);

	a->key = memory_string(key);
	a->kind = memory_string(kind);
}

void sweep_set_value(struct sweep_case *c, const char *key, const char *value)
{
	struct record_set *s = append(&c->set, &c->n_set, sizeof *s);

	s->key = memory_string(key);
	s->value = memory_string(value);
}

void sweep_add_case(struct sweep_record *sweep, struct sweep_case *c)
{
	*(struct sweep_case **)append(&sweep->cases, &sweep->n_cases, sizeof c) = c;
}

const char *sweep_value(const struct sweep_case *c, const char *key)
{
	for (size_t i = 0; i < c->n_set; i++)
		if (!strcmp(c->set[i].key, key))
			return c->set[i].value;
	return NULL;
}

double sweep_metric_of(const struct sweep_case *c, const char *name)
{
	for (size_t i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].name, name))
			return c->metrics[i].value;
	return NAN;
}

double sweep_number(const char *kind, const char *text)
{
	static const struct {
		const char *name;
		enum quantity kind;
		double scale;
	} kinds[] = {{"rate", QUANTITY_RATE, 1}, {"time", QUANTITY_TIME, 1e9},
		{"bytes", QUANTITY_BYTES, 1}, {"count", QUANTITY_COUNT, 1},
		{"bits", QUANTITY_BITS, 1}, {"ratio", QUANTITY_RATIO, 1e9}};
	struct error err = {0};
	int64_t v, spread;
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kind, kinds[i].name) &&
			!quantity_parse_spread(text, kinds[i].kind, &v, &spread, &err))
			return (double)v / kinds[i].scale;
	return strcmp(kind, "word") && end != text && !*end ? number : NAN;
}

/* Files. */

static int encode(char **out, const char *name, const struct field *schema, const void *base,
	struct error *err)
{
	json_t *body, *file = json_object();
	_free_ char *text = NULL;
	int r = schema_encode(&body, schema, base, err);

	if (!r) {
		json_object_set_new(file, "schema", json_string(name));
		json_object_update_new(file, body);
		text = json_dumps(file, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
		if (text)
			*out = memory_format("%s\n", text);
		else
			r = error_sys(err, -ENOMEM, "%s", name);
	}
	json_decref(file);
	return r;
}

int seek_record_json(char **out, const struct seek_record *seek, struct error *err)
{
	return encode(out, SEEK_SCHEMA, seek_schema, seek, err);
}

int sweep_record_json(char **out, const struct sweep_record *sweep, struct error *err)
{
	return encode(out, SWEEP_SCHEMA, sweep_schema, sweep, err);
}

int sweep_case_write(const struct sweep_case *c, const char *path, struct error *err)
{
	_free_ char *text = NULL;
	int r = encode(&text, CASE_SCHEMA, case_schema, c, err);

	if (!r)
		r = file_put_shared(path, text);
	return r && err->status == STATUS_HOLDS ? error_sys(err, r, "cannot write %s", path) : r;
}

int sweep_case_read(struct sweep_case **out, const char *path, struct error *err)
{
	_fclose_ FILE *f = fopen(path, "re");
	struct error inner = {0};
	struct sweep_case *c;
	json_error_t at;
	json_t *root;
	int r;

	if (!f)
		return errno == ENOENT ? -ENOENT : error_sys(err, -errno, "cannot read %s", path);
	root = json_loadf(f, JSON_REJECT_DUPLICATES, &at);
	if (!root ||
		strcmp(CASE_SCHEMA, json_string_value(json_object_get(root, "schema"))
					    ? json_string_value(json_object_get(root, "schema"))
					    : "")) {
		json_decref(root);
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s: not a case of a sweep; remove it, and the case is computed again",
			path);
	}
	c = sweep_case_new();
	r = schema_decode(case_schema, c, root, &inner);
	json_decref(root);
	if (r) {
		sweep_case_free(c);
		return error_set(err, r, STATUS_INPUT,
			"%s: %s; remove it, and the case is computed again", path, inner.text);
	}
	*out = c;
	return 0;
}
