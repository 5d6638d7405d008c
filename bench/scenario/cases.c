/* Overrides and matrix; see cases.h. */
#include "bench/scenario/cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The element of a list that has this name, e.g. a site. */
static struct node *element(const struct node *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct node *n = node_get(list->items[i], "name");

		if (n && n->kind == NODE_TEXT && n->text && !strcmp(n->text, name))
			return list->items[i];
	}
	return NULL;
}

/* One level down a dotted key; sections that are not there are made. */
static int descend(struct tree *t, struct node **at, struct node *part, const struct node *key,
	struct error *err)
{
	struct node *next =
		(*at)->kind == NODE_LIST ? element(*at, part->text) : node_get(*at, part->text);

	if (!next && (*at)->kind == NODE_MAP) {
		next = tree_map(t, key);
		node_put(*at, part, next);
	}
	if (!next || next->kind == NODE_TEXT)
		return node_error(key, NULL, err,
			"\"%.200s\": \"%.64s\" is not a section with keys; check the dotted key",
			key->text, part->text);
	*at = next;
	return 0;
}

/* Puts value at a dotted key; *map and *index are where. */
static int put(struct tree *t, const struct node *key, struct node *value, struct node **map,
	size_t *index, struct error *err)
{
	const char *rest = key->text;
	struct node *at = t->root;
	int r = 0;

	for (;;) {
		size_t n = strcspn(rest, ".");
		struct node *part;

		if (!n)
			return node_error(key, NULL, err,
				"\"%.200s\" is no dotted key; write e.g. \"workload.step\"",
				key->text);
		part = tree_text(t, key, rest, n);
		if (!rest[n]) {
			if (at->kind != NODE_MAP)
				return node_error(key, NULL, err,
					"\"%.200s\" is in a list; name the element, e.g. "
					"\"sites.site-1.link\"",
					key->text);
			*index = node_put(at, part, value);
			*map = at;
			return 0;
		}
		r = descend(t, &at, part, key, err);
		if (r)
			return r;
		rest += n + 1;
	}
}

static void remove_axis(struct node *root, const char *key)
{
	struct node *matrix = node_get(root, "matrix");

	for (size_t i = 0; matrix && matrix->kind == NODE_MAP && i < matrix->n; i++)
		if (!strcmp(matrix->keys[i]->text, key)) {
			node_remove(matrix, i);
			return;
		}
}

/*
 * What begins like no plain YAML value, as ">= 90 %" does, is taken as text: a shell's quotes are
 * enough, and nobody has to put YAML's inside them.
 */
static char *override_text(const char *value)
{
	if (*value && strchr(">|%@`", *value) && !strchr(value, '\''))
		return memory_format("'%s'", value);
	return memory_string(value);
}

int cases_override(struct tree *t, const char *override, struct error *err)
{
	bool own = !strncmp(override, "--", 2); /* "--seed=5": an option of its own */
	const char *equals = strchr(override, '=');
	_free_ char *name = memory_format("%s%s", own ? "" : "--set ", override);
	_free_ char *text = NULL;
	struct node *value, *key, *map;
	size_t index;
	int r;

	if (!equals || equals == override + (own ? 2 : 0))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%.256s: write KEY=VALUE, e.g. --set workload.step=\"4 s\"", name);
	text = override_text(equals + 1);
	r = tree_parse(t, &value, name, text, strlen(text), false, err);
	if (r)
		return r;
	if (own)
		override += 2;
	key = tree_text(t, value, override, (size_t)(equals - override));
	remove_axis(t->root, key->text);
	return put(t, key, value, &map, &index, err);
}

static int check_values(const struct node *key, const struct node *values, struct error *err)
{
	if (values->kind != NODE_LIST || !values->n)
		return node_error(values, NULL, err,
			"\"%.200s\" needs a list of values: write \"[..., ...]\"", key->text);
	if (!strncmp(key->text, "matrix", 6) && (!key->text[6] || key->text[6] == '.'))
		return node_error(key, NULL, err,
			"a matrix cannot vary itself; name another key, e.g. \"workload.step\"");
	for (size_t i = 0; i < values->n; i++)
		if (values->items[i]->kind != NODE_TEXT || !values->items[i]->text)
			return node_error(values->items[i], NULL, err,
				"a value of the matrix is a single one, not a section, a list or "
				"nothing");
	return 0;
}

/* Its cases would bear the same name. */
static int check_distinct(const struct node *values, struct error *err)
{
	for (size_t i = 1; i < values->n; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(values->items[i]->text, values->items[j]->text))
				return node_error(values->items[i], NULL, err,
					"\"%.200s\" is written twice; keep one of the two",
					values->items[i]->text);
	return 0;
}

static int make_axis(struct tree *t, const struct node *key, const struct node *values,
	struct axis *axis, size_t *n_cases, struct error *err)
{
	int r = check_values(key, values, err);

	if (r)
		return r;
	if (values->n > CASES_MAX / *n_cases)
		return node_error(key, NULL, err,
			"the matrix has more than %d cases; leave values out or make two scenarios",
			CASES_MAX);
	r = check_distinct(values, err);
	if (r)
		return r;
	*n_cases *= values->n;
	axis->key = key;
	axis->values = values;
	return put(t, key, values->items[0], &axis->map, &axis->index, err);
}

int cases_axes(struct tree *t, struct axis **out, size_t *n, size_t *n_cases, struct error *err)
{
	const struct node *matrix = node_get(t->root, "matrix");
	_free_ struct axis *axes = NULL;
	size_t total = 1;
	int r = 0;

	*n = 0;
	*n_cases = 1;
	*out = NULL;
	if (!matrix)
		return 0;
	if (matrix->kind != NODE_MAP)
		return node_error(matrix, NULL, err,
			"matrix is a section: write e.g. \"{workload.outer.syncer: [star, "
			"sharded]}\"");
	axes = memory_zero(matrix->n, sizeof *axes);
	for (size_t i = 0; !r && i < matrix->n; i++)
		r = make_axis(t, matrix->keys[i], matrix->items[i], &axes[i], &total, err);
	if (r)
		return r;
	*out = axes;
	*n = matrix->n;
	*n_cases = total;
	axes = NULL;
	return 0;
}

void cases_select(struct axis *axes, size_t n, size_t i)
{
	while (n--) {
		struct axis *a = &axes[n];

		a->now = i % a->values->n;
		a->map->items[a->index] = a->values->items[a->now];
		i /= a->values->n;
	}
}

char *cases_name(const struct axis *axes, size_t n)
{
	char *name = memory_string("");

	for (size_t i = 0; i < n; i++) {
		char *longer = memory_format(
			"%s%s%s", name, i ? ", " : "", axes[i].values->items[axes[i].now]->text);

		free(name);
		name = longer;
	}
	return name;
}
