/* Two trees of YAML walked to their scalars; see settings.h. */
#include "bench/compare/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/scenario/tree.h"

struct value {
	char *key;
	const char *text;
	bool seen;
};

struct values {
	struct tree tree;
	size_t n;
	struct value *items;
};

static void add(struct values *v, const char *key, const char *text)
{
	v->items = memory_resize(v->items, v->n + 1, sizeof *v->items);
	v->items[v->n++] = (struct value){memory_string(key), text, false};
}

/* All scalars below a node; recursion is as deep as tree_parse lets it be. */
static void walk(struct values *v, const struct node *node, const char *key)
{
	if (node->kind == NODE_TEXT) {
		add(v, key, node->text ? node->text : "");
		return;
	}
	for (size_t i = 0; i < node->n; i++) {
		const char *dot = *key ? "." : "";
		_free_ char *below = node->kind == NODE_MAP ? memory_format("%s%s%s", key, dot,
								      node->keys[i]->text)
							    : memory_format("%s[%zu]", key, i + 1);

		walk(v, node->items[i], below);
	}
}

static void read_values(struct values *v, const char *text)
{
	struct error err = {0};
	struct node *root;

	if (text && tree_parse(&v->tree, &root, "resolved", text, strlen(text), false, &err) >= 0)
		walk(v, root, "");
}

static void release(struct values *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->items[i].key);
	free(v->items);
	tree_release(&v->tree);
}

static struct value *find(struct values *v, const char *key)
{
	for (size_t i = 0; i < v->n; i++)
		if (!strcmp(v->items[i].key, key))
			return &v->items[i];
	return NULL;
}

static void differ(struct run_comparison *c, const char *key, const char *a, const char *b)
{
	c->settings = memory_resize(c->settings, c->n_settings + 1, sizeof *c->settings);
	c->settings[c->n_settings++] =
		(struct compare_setting){memory_string(key), memory_string(a), memory_string(b)};
}

void settings_compare(struct run_comparison *c, const char *a, const char *b)
{
	struct values in_a = {0}, in_b = {0};

	read_values(&in_a, a);
	read_values(&in_b, b);
	for (size_t i = 0; i < in_a.n; i++) {
		struct value *x = &in_a.items[i], *y = find(&in_b, x->key);

		if (y)
			y->seen = true;
		if (!y || strcmp(x->text, y->text))
			differ(c, x->key, x->text, y ? y->text : NULL);
	}
	for (size_t i = 0; i < in_b.n; i++)
		if (!in_b.items[i].seen)
			differ(c, in_b.items[i].key, NULL, in_b.items[i].text);
	release(&in_a);
	release(&in_b);
}
