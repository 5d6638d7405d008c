/* Parsing by table; see keys.h. */
#include "bench/scenario/keys.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "bench/scenario/nearest.h"

static const struct key *find_key(const struct key *const *tables, const char *name)
{
	for (; *tables; tables++)
		for (const struct key *k = *tables; k->name; k++)
			if (!strcmp(k->name, name))
				return k;
	return NULL;
}

static int unknown_key(struct loader *l, const struct node *key, const struct node *value,
	const char *where, const struct key *const *tables)
{
	struct nearest nearest = {.written = key->text};
	char known[512] = "";
	size_t used = 0;

	for (const struct key *const *t = tables; *t; t++)
		for (const struct key *k = *t; k->name; k++) {
			nearest_offer(&nearest, k->name);
			if (used < sizeof known - 64)
				used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
					used ? ", " : "", k->name);
		}
	/* {rate: 0,84 Gbit/s}: the comma ended a value that was a number */
	if (!value->text && isdigit((unsigned char)key->text[0]))
		return loader_error(l, key,
			"\"%.64s\" stands where a key belongs; if the comma before it is a decimal "
			"one, write a point, e.g. \"0.84\"",
			key->text);
	if (nearest.best)
		return loader_error(l, key, "unknown key \"%.64s\" in %s; did you mean \"%s\"?",
			key->text, where, nearest.best);
	return loader_error(
		l, key, "unknown key \"%.64s\" in %s; known here: %s", key->text, where, known);
}

int keys_known(struct loader *l, const struct node *map, const char *where,
	const struct key *const *tables)
{
	int r = loader_map(l, map, where);

	if (r)
		return r;
	for (size_t i = 0; i < map->n; i++)
		if (!find_key(tables, map->keys[i]->text))
			return unknown_key(l, map->keys[i], map->items[i], where, tables);
	return 0;
}

int loader_text(struct loader *l, const struct node *value, const char **out, const char *what)
{
	if (value->kind != NODE_TEXT)
		return loader_error(l, value, "here belongs %s, not a %s", what,
			value->kind == NODE_MAP ? "section" : "list");
	if (!value->text)
		return loader_error(l, value, "here is no value; it needs %s", what);
	*out = value->text;
	return 0;
}

int loader_map(struct loader *l, const struct node *value, const char *what)
{
	if (value->kind != NODE_MAP)
		return loader_error(l, value, "%s is a section: write \"{key: value, ...}\"", what);
	return 0;
}

int loader_list(struct loader *l, const struct node *value, const char *what)
{
	if (value->kind != NODE_LIST)
		return loader_error(l, value, "%s is a list: write \"[..., ...]\"", what);
	return 0;
}

int loader_quantity(struct loader *l, const struct node *value, enum quantity kind, int64_t *out)
{
	static const char *const what[] = {
		[QUANTITY_RATE] = "a rate, e.g. \"0.84 Gbit/s\"",
		[QUANTITY_TIME] = "a time, e.g. \"300 ms\"",
		[QUANTITY_BYTES] = "a number of bytes, e.g. \"6 GB\"",
		[QUANTITY_COUNT] = "a number, e.g. \"24\" or \"12 B\"",
		[QUANTITY_BITS] = "a number of bits, e.g. \"4 bit\"",
		[QUANTITY_RATIO] = "a share, e.g. \"0.1 %\"",
	};
	struct error err = {0};
	const char *text;
	int r = loader_text(l, value, &text, what[kind]);

	if (r)
		return r;
	if (quantity_parse(text, kind, out, &err))
		return loader_error(l, value, "%s", err.text);
	return 0;
}

/* A plain decimal number; no hexadecimal, infinity or NaN, which strtod would take. */
static int parse_number(
	struct loader *l, const struct key *key, const struct node *value, double *out)
{
	const char *text;
	char *end;
	int r = loader_text(l, value, &text, "a number");

	if (r)
		return r;
	*out = strtod(text, &end);
	if (*end || end == text || strspn(text, "0123456789.+-eE") != strlen(text) ||
		!isfinite(*out))
		return loader_error(l, value, "\"%.64s\" is not a number; write e.g. \"%s\"", text,
			key->example);
	return 0;
}

enum quantity key_quantity(enum key_kind kind)
{
	static const enum quantity quantity[] = {
		[KEY_RATE] = QUANTITY_RATE,
		[KEY_TIME] = QUANTITY_TIME,
		[KEY_BYTES] = QUANTITY_BYTES,
		[KEY_BITS] = QUANTITY_BITS,
		[KEY_COUNT] = QUANTITY_COUNT,
		[KEY_INTEGER] = QUANTITY_COUNT,
	};

	return quantity[kind];
}

static bool is_digits(const struct node *value)
{
	return value->kind == NODE_TEXT && value->text && *value->text &&
	       value->text[strspn(value->text, "0123456789")] == '\0';
}

static const char *show(char *buf, size_t size, enum key_kind kind, double v)
{
	if (kind <= KEY_COUNT)
		return quantity_format(buf, size, key_quantity(kind), (int64_t)v, true);
	if (kind == KEY_SHARE)
		return quantity_format(
			buf, size, QUANTITY_RATIO, llround(v * (double)RATIO_ONE), true);
	snprintf(buf, size, "%.15g", v);
	return buf;
}

static int check_range(struct loader *l, const struct key *key, const struct node *value, double v)
{
	char low[64], high[64];

	if (key->low == 0 && key->high == 0)
		return 0;
	if (v >= key->low && (key->below ? v < key->high : v <= key->high))
		return 0;
	return loader_error(l, value, "\"%.64s\": %s must be from \"%s\" to %s\"%s\"", value->text,
		key->name, show(low, sizeof low, key->kind, key->low), key->below ? "below " : "",
		show(high, sizeof high, key->kind, key->high));
}

/* A count that is no amount of millions: the message should not speak of "12 B". */
static int parse_small(
	struct loader *l, const struct key *key, const struct node *value, int64_t *v)
{
	struct error err = {0};
	const char *text;
	int r = loader_text(l, value, &text, "a whole number");

	if (!r && quantity_parse(text, QUANTITY_COUNT, v, &err))
		r = loader_error(l, value, "\"%.64s\" is no whole number; write e.g. \"%s\"", text,
			key->example);
	return r;
}

static int parse_integer(
	struct loader *l, const struct key *key, const struct node *value, void *at)
{
	enum quantity quantity = key_quantity(key->kind);
	int64_t v;
	int r;

	if (key->kind == KEY_BITS && is_digits(value))
		quantity = QUANTITY_COUNT; /* such a key's name is the unit */
	r = key->kind == KEY_INTEGER ? parse_small(l, key, value, &v)
				     : loader_quantity(l, value, quantity, &v);
	if (!r)
		r = check_range(l, key, value, (double)v);
	if (r)
		return r;
	if (key->size == sizeof(int))
		*(int *)at = (int)v;
	else
		*(int64_t *)at = v;
	return 0;
}

static int parse_double(
	struct loader *l, const struct key *key, const struct node *value, double *at)
{
	int64_t share;
	double v;
	int r;

	if (key->kind == KEY_SHARE) {
		r = loader_quantity(l, value, QUANTITY_RATIO, &share);
		v = r ? 0 : (double)share / (double)RATIO_ONE;
	} else {
		r = parse_number(l, key, value, &v);
	}
	if (!r)
		r = check_range(l, key, value, v);
	if (!r)
		*at = v;
	return r;
}

static int parse_word(struct loader *l, const struct node *value, const char *const *words, int *at)
{
	char known[256] = "";
	size_t used = 0;
	const char *text;
	int r;

	for (int i = 0; words[i]; i++)
		used += (size_t)snprintf(
			known + used, sizeof known - used, "%s\"%s\"", i ? " or " : "", words[i]);
	r = loader_text(l, value, &text, known);
	if (r)
		return r;
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text)) {
			*at = i;
			return 0;
		}
	return loader_error(l, value, "\"%.64s\" is not known here; write %s", text, known);
}

static int parse_text(struct loader *l, const struct node *value, char **at)
{
	const char *text;
	int r = loader_text(l, value, &text, "a text");

	if (r)
		return r;
	if (strlen(text) > 1000)
		return loader_error(l, value, "longer than 1000 bytes; shorten it");
	free(*at);
	*at = memory_string(text);
	return 0;
}

int keys_value(struct loader *l, const struct key *key, const struct node *value, void *base)
{
	static const char *const switches[] = {"false", "true", NULL};
	void *at = (char *)base + key->offset;
	int word = 0, r;

	switch (key->kind) {
	case KEY_NUMBER:
	case KEY_SHARE:
		return key->parse ? key->parse(l, value, base) : parse_double(l, key, value, at);
	case KEY_SWITCH:
		r = parse_word(l, value, switches, &word);
		if (!r)
			*(bool *)at = word;
		return r;
	case KEY_WORD:
		return parse_word(l, value, key->words, at);
	case KEY_TEXT:
		return parse_text(l, value, at);
	case KEY_CUSTOM:
		return key->parse(l, value, base);
	case KEY_SECTION:
		return keys_section(l, key->table, value, key->name, base);
	default:
		return parse_integer(l, key, value, at);
	}
}

/* A default goes the way of a value that stands in a file. */
static int parse_fallback(struct loader *l, const struct key *key, void *base)
{
	struct source source = {.name = (char *)"default"};
	struct node value = {.source = &source, .text = (char *)key->fallback};

	if (key->kind == KEY_SECTION)
		return keys_parse(l, key->table, NULL, base, true);
	return key->fallback ? keys_value(l, key, &value, base) : 0;
}

/* A value that the strategy has no use for must still be one. */
static int parse_unused(struct loader *l, const struct key *key, const struct node *value)
{
	struct key scratch_key = *key;
	int64_t scratch;

	if (key->kind == KEY_CUSTOM)
		return 0;
	if (key->kind == KEY_SECTION)
		return loader_map(l, value, key->name);
	scratch_key.offset = 0;
	return keys_value(l, &scratch_key, value, &scratch);
}

static int parse_key(struct loader *l, const struct key *key, const struct node *map,
	const struct node *value, void *base, bool defaults)
{
	if (key->use && !(key->use & l->uses))
		return value ? parse_unused(l, key, value) : 0;
	if (value)
		return keys_value(l, key, value, base);
	if (!defaults)
		return 0;
	if (key->required)
		return loader_error(l, map ? map : l->root,
			"\"%s\" is missing; write e.g. \"%s: %s\"", key->name, key->name,
			key->example);
	return parse_fallback(l, key, base);
}

int keys_parse(struct loader *l, const struct key *table, const struct node *map, void *base,
	bool defaults)
{
	for (const struct key *k = table; k->name; k++) {
		int r = parse_key(l, k, map, node_get(map, k->name), base, defaults);

		if (r)
			return r;
	}
	return 0;
}

int keys_elsewhere(struct loader *l, const struct node *value, void *base)
{
	return 0;
}

int keys_section(struct loader *l, const struct key *table, const struct node *map,
	const char *where, void *base)
{
	const struct key *const tables[] = {table, NULL};
	int r = keys_known(l, map, where, tables);

	return r ? r : keys_parse(l, table, map, base, true);
}
