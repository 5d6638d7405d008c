/*
 * Structs to JSON and back by table; see schema.h.
 *
 * Where a value stands is kept as a chain of links on the stack, one per level, and is spelled
 * out only when something is wrong there.
 */
#include "results/schema.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/state.h"
#include "results/record.h"
#include "results/text.h"

#define EXACT_MAX (INT64_C(1) << 53) /* integers that every JSON reader keeps */

struct place {
	const struct place *up;
	const char *key; /* NULL: an index */
	size_t index;
};

static size_t place_print(const struct place *p, char *buf, size_t size)
{
	size_t used;

	if (!p)
		return 0;
	used = place_print(p->up, buf, size);
	if (used >= size)
		return used;
	if (p->key)
		return used +
		       snprintf(buf + used, size - used, "%s%.200s", used ? "." : "", p->key);
	return used + snprintf(buf + used, size - used, "[%zu]", p->index);
}

static int __attribute__((format(printf, 3, 4)))
wrong(struct error *err, const struct place *p, const char *format, ...)
{
	char where[1024] = "", what[512];
	va_list ap;

	place_print(p, where, sizeof where);
	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	return error_set(err, -EINVAL, STATUS_INPUT, "%s%s%s", where, *where ? ": " : "", what);
}

static const char *type_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_NULL:
		return "null";
	default:
		return "true or false";
	}
}

static int wrong_type(struct error *err, const struct place *p, const char *want, const json_t *v)
{
	return wrong(err, p, "expected %s, found %s", want, type_name(v));
}

/* Blank and release. */

static size_t *count_of(const struct field *f, void *base)
{
	return (size_t *)((char *)base + f->count_at);
}

void schema_blank(const struct field *fields, void *base)
{
	for (const struct field *f = fields; f->key; f++) {
		double *d = (double *)((char *)base + f->at);

		if (f->kind == FIELD_NUMBER)
			*d = NAN;
		else if (f->kind == FIELD_STATES)
			for (int i = 0; i < STATE_COUNT; i++)
				d[i] = NAN;
		else if (f->kind == FIELD_GROUP)
			schema_blank(f->fields, base);
	}
}

static void release_list(const struct field *f, void *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		if (f->kind == FIELD_LIST) {
			schema_release(f->fields, (char *)list + i * f->size);
		} else if (f->kind == FIELD_POINTERS) {
			void *element = ((void **)list)[i];

			schema_release(f->fields, element);
			free(element);
		} else if (f->kind == FIELD_TEXTS) {
			free(((char **)list)[i]);
		} else if (f->kind == FIELD_MAP) {
			free(((struct record_set *)list)[i].key);
			free(((struct record_set *)list)[i].value);
		}
	}
	free(list);
}

void schema_release(const struct field *fields, void *base)
{
	for (const struct field *f = fields; f->key; f++) {
		void **p = (void **)((char *)base + f->at);

		switch (f->kind) {
		case FIELD_GROUP:
			schema_release(f->fields, base);
			break;
		case FIELD_OPTION:
			if (*p)
				schema_release(f->fields, *p);
			free(*p);
			break;
		case FIELD_TEXT:
			free(*p);
			break;
		case FIELD_MAP:
		case FIELD_TEXTS:
		case FIELD_NUMBERS:
		case FIELD_LIST:
		case FIELD_POINTERS:
			release_list(f, *p, *count_of(f, base));
			break;
		default:
			break;
		}
	}
}

/* Writing. */

static int encode(json_t **out, const struct place *up, const struct field *fields,
	const void *base, struct error *err);

static json_t *encode_number(double d)
{
	if (!isfinite(d))
		return json_null();
	if (d == floor(d) && fabs(d) <= (double)EXACT_MAX)
		return json_integer((json_int_t)d);
	return json_real(d);
}

static json_t *encode_text(const char *s)
{
	_free_ char *clean = NULL;

	if (!s)
		return json_null();
	clean = text_utf8(s);
	return json_string(clean);
}

static json_t *encode_seed(uint64_t seed)
{
	char digits[24];

	if (seed <= (uint64_t)EXACT_MAX)
		return json_integer((json_int_t)seed);
	snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
	return json_string(digits);
}

static json_t *encode_states(const double *seconds)
{
	json_t *o = json_object();

	for (int i = 0; i < STATE_COUNT; i++)
		json_object_set_new(o, state_name(i), encode_number(seconds[i]));
	return o;
}

static json_t *encode_map(const struct record_set *set, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++) {
		_free_ char *key = text_utf8(set[i].key ? set[i].key : "");

		json_object_set_new(o, key, encode_text(set[i].value));
	}
	return o;
}

static int encode_list(json_t **out, const struct place *here, const struct field *f,
	void *const list, size_t n, struct error *err)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		struct place at = {.up = here, .index = i};
		json_t *v = NULL;

		if (f->kind == FIELD_TEXTS)
			v = encode_text(((char **)list)[i] ? ((char **)list)[i] : "");
		else if (f->kind == FIELD_NUMBERS)
			v = encode_number(((double *)list)[i]);
		else if (f->kind == FIELD_POINTERS)
			r = encode(&v, &at, f->fields, ((void **)list)[i], err);
		else
			r = encode(&v, &at, f->fields, (char *)list + i * f->size, err);
		if (!r)
			json_array_append_new(array, v);
	}
	if (r) {
		json_decref(array);
		return r;
	}
	*out = array;
	return 0;
}

static int encode_many(json_t **out, const struct place *here, const struct field *f, void *base,
	struct error *err)
{
	void *list = *(void **)((char *)base + f->at);
	size_t n = *count_of(f, base);

	if (n > f->limit) {
		wrong(err, here, "%zu entries; at most %zu can be recorded", n, f->limit);
		return -EOVERFLOW;
	}
	if (f->kind == FIELD_MAP) {
		*out = encode_map(list, n);
		return 0;
	}
	return encode_list(out, here, f, list, n, err);
}

static int encode_field(json_t **out, const struct place *here, const struct field *f,
	const void *base, struct error *err)
{
	const char *p = (const char *)base + f->at;

	switch (f->kind) {
	case FIELD_NUMBER:
		*out = encode_number(*(const double *)p);
		return 0;
	case FIELD_INT:
		*out = *(const int *)p || f->required ? json_integer(*(const int *)p) : json_null();
		return 0;
	case FIELD_SEED:
		*out = encode_seed(*(const uint64_t *)p);
		return 0;
	case FIELD_FLAG:
		*out = json_boolean(*(const bool *)p);
		return 0;
	case FIELD_TEXT:
		*out = encode_text(*(char *const *)p ? *(char *const *)p : f->required ? "" : NULL);
		return 0;
	case FIELD_STATES:
		*out = encode_states((const double *)p);
		return 0;
	case FIELD_GROUP:
		return encode(out, here, f->fields, base, err);
	case FIELD_OPTION:
		return encode(out, here, f->fields, *(void *const *)p, err);
	default:
		return encode_many(out, here, f, (void *)base, err);
	}
}

static int encode(json_t **out, const struct place *up, const struct field *fields,
	const void *base, struct error *err)
{
	json_t *o = json_object();

	for (const struct field *f = fields; f->key; f++) {
		struct place here = {.up = up, .key = f->key};
		json_t *v;
		int r;

		if (f->kind == FIELD_OPTION && !*(void *const *)((const char *)base + f->at))
			continue;
		r = encode_field(&v, &here, f, base, err);
		if (r) {
			json_decref(o);
			return r;
		}
		json_object_set_new(o, f->key, v);
	}
	*out = o;
	return 0;
}

int schema_encode(json_t **out, const struct field *fields, const void *base, struct error *err)
{
	return encode(out, NULL, fields, base, err);
}

/* Reading. */

static int decode(const struct place *up, const struct field *fields, void *base, json_t *object,
	struct error *err);

static int decode_number(const struct place *here, double *out, json_t *v, struct error *err)
{
	if (json_is_null(v)) {
		*out = NAN;
		return 0;
	}
	if (!json_is_number(v))
		return wrong_type(err, here, "a number", v);
	*out = json_number_value(v);
	return 0;
}

static int decode_int(const struct place *here, int *out, json_t *v, struct error *err)
{
	json_int_t i = json_integer_value(v);

	if (!json_is_integer(v))
		return wrong_type(err, here, "a whole number", v);
	if (i < 0 || i > INT_MAX)
		return wrong(err, here, "expected a number from 0 to %d, found %lld", INT_MAX,
			(long long)i);
	*out = (int)i;
	return 0;
}

static int decode_seed(const struct place *here, uint64_t *out, json_t *v, struct error *err)
{
	const char *digits = json_string_value(v);
	unsigned long long value;

	if (json_is_integer(v) && json_integer_value(v) >= 0) {
		*out = (uint64_t)json_integer_value(v);
		return 0;
	}
	if (!digits)
		return wrong(err, here, "expected a number from 0 to 2^64 - 1");
	errno = 0;
	value = strtoull(digits, NULL, 10);
	if (!*digits || digits[strspn(digits, "0123456789")] || errno)
		return wrong(
			err, here, "expected a number from 0 to 2^64 - 1, found \"%.40s\"", digits);
	*out = value;
	return 0;
}

static int decode_text(
	const struct place *here, const struct field *f, char **out, json_t *v, struct error *err)
{
	const char *s = json_string_value(v);

	if (json_is_null(v) && !f->required)
		return 0;
	if (!s)
		return wrong_type(err, here, "a string", v);
	if (f->words) {
		size_t i = 0;

		while (f->words[i] && strcmp(f->words[i], s))
			i++;
		if (!f->words[i])
			return wrong(err, here, "unknown value \"%.60s\"", s);
	}
	*out = memory_string(s);
	return 0;
}

static int decode_states(const struct place *up, double *seconds, json_t *v, struct error *err)
{
	if (!json_is_object(v))
		return wrong_type(err, up, "an object", v);
	for (int i = 0; i < STATE_COUNT; i++) {
		struct place here = {.up = up, .key = state_name(i)};
		json_t *number = json_object_get(v, state_name(i));
		int r;

		if (!number)
			return wrong(err, &here, "is missing");
		r = decode_number(&here, &seconds[i], number, err);
		if (r)
			return r;
	}
	return 0;
}

static int decode_map(
	const struct place *up, struct record_set *set, json_t *object, struct error *err)
{
	const char *key;
	json_t *v;

	json_object_foreach(object, key, v)
	{
		struct place here = {.up = up, .key = key};

		set->key = memory_string(key);
		if (!json_is_string(v))
			return wrong_type(err, &here, "a string", v);
		set->value = memory_string(json_string_value(v));
		set++;
	}
	return 0;
}

static int decode_element(const struct place *here, const struct field *f, void *list, size_t i,
	json_t *v, struct error *err)
{
	switch (f->kind) {
	case FIELD_TEXTS:
		if (!json_is_string(v))
			return wrong_type(err, here, "a string", v);
		((char **)list)[i] = memory_string(json_string_value(v));
		return 0;
	case FIELD_NUMBERS:
		return decode_number(here, (double *)list + i, v, err);
	case FIELD_POINTERS:
		((void **)list)[i] = memory_zero(1, f->size);
		return decode(here, f->fields, ((void **)list)[i], v, err);
	default:
		return decode(here, f->fields, (char *)list + i * f->size, v, err);
	}
}

static size_t element_size(const struct field *f)
{
	switch (f->kind) {
	case FIELD_MAP:
		return sizeof(struct record_set);
	case FIELD_NUMBERS:
		return sizeof(double);
	case FIELD_LIST:
		return f->size;
	default:
		return sizeof(void *);
	}
}

/* The count grows with what is read, so that a list broken off half way can be released. */
static int decode_many(
	const struct place *up, const struct field *f, void *base, json_t *v, struct error *err)
{
	size_t n = json_is_object(v) ? json_object_size(v) : json_array_size(v);
	size_t *count = count_of(f, base);
	void *list;

	if (f->kind == FIELD_MAP ? !json_is_object(v) : !json_is_array(v))
		return wrong_type(err, up, f->kind == FIELD_MAP ? "an object" : "a list", v);
	if (n > f->limit)
		return wrong(err, up, "expected at most %zu entries, found %zu", f->limit, n);
	list = n ? memory_zero(n, element_size(f)) : NULL;
	*(void **)((char *)base + f->at) = list;
	if (f->kind == FIELD_MAP) {
		*count = n;
		return decode_map(up, list, v, err);
	}
	for (size_t i = 0; i < n; i++) {
		struct place here = {.up = up, .index = i};
		int r;

		*count = i + 1;
		r = decode_element(&here, f, list, i, json_array_get(v, i), err);
		if (r)
			return r;
	}
	return 0;
}

static int decode_field(
	const struct place *here, const struct field *f, void *base, json_t *v, struct error *err)
{
	char *p = (char *)base + f->at;

	switch (f->kind) {
	case FIELD_NUMBER:
		return decode_number(here, (double *)p, v, err);
	case FIELD_INT:
		if (json_is_null(v) && !f->required)
			return 0;
		return decode_int(here, (int *)p, v, err);
	case FIELD_SEED:
		return decode_seed(here, (uint64_t *)p, v, err);
	case FIELD_FLAG:
		if (!json_is_boolean(v))
			return wrong_type(err, here, "true or false", v);
		*(bool *)p = json_is_true(v);
		return 0;
	case FIELD_TEXT:
		return decode_text(here, f, (char **)p, v, err);
	case FIELD_STATES:
		return decode_states(here, (double *)p, v, err);
	case FIELD_GROUP:
		return decode(here, f->fields, base, v, err);
	case FIELD_OPTION:
		*(void **)p = memory_zero(1, f->size);
		return decode(here, f->fields, *(void **)p, v, err);
	default:
		return decode_many(here, f, base, v, err);
	}
}

static int decode(const struct place *up, const struct field *fields, void *base, json_t *object,
	struct error *err)
{
	if (!json_is_object(object))
		return wrong_type(err, up, "an object", object);
	schema_blank(fields, base);
	for (const struct field *f = fields; f->key; f++) {
		struct place here = {.up = up, .key = f->key};
		json_t *v = json_object_get(object, f->key);
		int r;

		if (!v && f->required)
			return wrong(err, &here, "is missing");
		r = v ? decode_field(&here, f, base, v, err) : 0;
		if (r)
			return r;
	}
	return 0;
}

int schema_decode(const struct field *fields, void *base, json_t *object, struct error *err)
{
	return decode(NULL, fields, base, object, err);
}
