/*
 * YAML to tree: folds libfyaml's events into nodes. Events and not libfyaml's documents, since
 * a document drops what must be refused here: later documents, and text after a bad byte.
 */
#include "bench/scenario/tree.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/scenario/mark.h"

#define DEPTH_MAX 16
#define KEYS_MAX 4096

/* The nodes that are open while events come in, outermost first. */
struct builder {
	struct tree *tree;
	const struct source *source;
	struct error *err;
	struct node *open[DEPTH_MAX];
	struct node *key[DEPTH_MAX]; /* of a map that waits for the key's value */
	int depth;
	struct node *root;
	int documents;
};

static struct node *new_node(
	struct tree *t, enum node_kind kind, const struct source *s, size_t begin, size_t end)
{
	struct node *n = memory_zero(1, sizeof *n);

	n->kind = kind;
	n->source = s;
	n->begin = begin < s->length ? begin : s->length;
	n->end = end < s->length ? end : s->length;
	if ((t->n_nodes & (t->n_nodes - 1)) == 0)
		t->nodes = memory_resize(
			t->nodes, t->n_nodes ? 2 * t->n_nodes : 1, sizeof(struct node *));
	t->nodes[t->n_nodes++] = n;
	return n;
}

struct node *tree_map(struct tree *t, const struct node *at)
{
	return new_node(t, NODE_MAP, at->source, at->begin, at->end);
}

struct node *tree_text(struct tree *t, const struct node *at, const char *text, size_t length)
{
	struct node *n = new_node(t, NODE_TEXT, at->source, at->begin, at->end);

	n->text = memory_format("%.*s", (int)length, text);
	return n;
}

static void append(struct node ***list, size_t n, struct node *item)
{
	if ((n & (n - 1)) == 0)
		*list = memory_resize(*list, n ? 2 * n : 1, sizeof(struct node *));
	(*list)[n] = item;
}

struct node *node_get(const struct node *map, const char *key)
{
	if (!map || map->kind != NODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (!strcmp(map->keys[i]->text, key))
			return map->items[i];
	return NULL;
}

struct node *node_find(const struct node *root, const char *path)
{
	struct node *found = NULL;

	while (*path) {
		size_t n = strcspn(path, ".");
		_free_ char *key = memory_format("%.*s", (int)n, path);

		found = node_get(root, key);
		if (!found)
			return NULL;
		root = found;
		path += n + (path[n] == '.');
	}
	return found;
}

size_t node_put(struct node *map, struct node *key, struct node *value)
{
	size_t i = 0;

	while (i < map->n && strcmp(map->keys[i]->text, key->text))
		i++;
	if (i == map->n) {
		append(&map->keys, map->n, key);
		append(&map->items, map->n, value);
		map->n++;
	}
	map->keys[i] = key;
	map->items[i] = value;
	return i;
}

void node_remove(struct node *map, size_t index)
{
	map->n--;
	for (size_t i = index; i < map->n; i++) {
		map->keys[i] = map->keys[i + 1];
		map->items[i] = map->items[i + 1];
	}
}

static int add_key(struct builder *b, struct node *map, struct node *key)
{
	if (key->kind != NODE_TEXT || !key->text)
		return node_error(key, NULL, b->err, "a key must be a word, e.g. \"title: ...\"");
	for (size_t i = 0; i < map->n; i++)
		if (!strcmp(map->keys[i]->text, key->text))
			return node_error(key, NULL, b->err,
				"\"%s\" stands here twice; keep one of the two", key->text);
	if (map->n >= KEYS_MAX)
		return node_error(key, NULL, b->err, "more than %d keys in one place", KEYS_MAX);
	b->key[b->depth - 1] = key;
	return 0;
}

/* A finished or just opened node takes its place in the innermost open one. */
static int place(struct builder *b, struct node *n)
{
	struct node *in = b->depth ? b->open[b->depth - 1] : NULL;
	struct node **key = b->depth ? &b->key[b->depth - 1] : NULL;

	if (!in) {
		b->root = n;
	} else if (in->kind == NODE_LIST) {
		append(&in->items, in->n, n);
		in->n++;
	} else if (!*key) {
		return add_key(b, in, n);
	} else {
		append(&in->keys, in->n, *key);
		append(&in->items, in->n, n);
		in->n++;
		*key = NULL;
	}
	return 0;
}

/* Where a value is that has no token of its own: at the key it belongs to. */
static void borrow_position(struct builder *b, struct node *n)
{
	struct node *key = b->depth ? b->key[b->depth - 1] : NULL;

	if (key && n->begin == n->end) {
		n->begin = key->begin;
		n->end = key->end;
	}
}

static struct node *event_node(struct builder *b, struct fy_event *e, enum node_kind kind)
{
	struct fy_token *token = fy_event_get_token(e);
	const struct fy_mark *begin = token ? fy_token_start_mark(token) : NULL;
	const struct fy_mark *end = token ? fy_token_end_mark(token) : NULL;
	struct node *n = new_node(
		b->tree, kind, b->source, begin ? begin->input_pos : 0, end ? end->input_pos : 0);

	if (kind != NODE_TEXT && n->begin < n->source->length &&
		!strchr("[{", n->source->text[n->begin]))
		n->end = n->begin; /* a block begins with its first line, not with a mark */
	borrow_position(b, n);
	return n;
}

static int refuse_decoration(struct builder *b, struct fy_event *e)
{
	struct fy_token *tag = fy_event_get_tag_token(e);
	struct fy_token *anchor =
		e->type == FYET_ALIAS ? e->alias.anchor : fy_event_get_anchor_token(e);
	struct fy_token *token = tag ? tag : anchor;
	const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
	size_t at = mark ? mark->input_pos : 0;

	if (!token)
		return 0;
	if (!tag && at)
		at--; /* a name's "&" or "*" */
	return node_error(new_node(b->tree, NODE_TEXT, b->source, at, at + 1), NULL, b->err,
		tag ? "tags (\"!\") are not used here; write the plain value"
		    : "anchors and aliases (\"&\", \"*\") are not used here; write the value out");
}

static bool is_null(const char *text)
{
	return !*text || !strcmp(text, "~") || !strcmp(text, "null");
}

static int scalar(struct builder *b, struct fy_event *e)
{
	struct node *n = event_node(b, e, NODE_TEXT);
	struct fy_token *token = fy_event_get_token(e);
	size_t length = 0;
	const char *text = token ? fy_token_get_text(token, &length) : NULL;
	size_t bad = text ? mark_bad_text(text, length, false) : 0;

	if (text && bad < length)
		return node_error(n, NULL, b->err,
			"a value holds a line break or a control character; write it on one line");
	n->text = text ? memory_format("%.*s", (int)length, text) : NULL;
	if (n->text && fy_token_scalar_style(token) == FYSS_PLAIN && is_null(n->text)) {
		free(n->text);
		n->text = NULL;
	}
	return place(b, n);
}

static int open_node(struct builder *b, struct fy_event *e, enum node_kind kind)
{
	struct node *n = event_node(b, e, kind);
	int r;

	if (b->depth == DEPTH_MAX)
		return node_error(n, NULL, b->err, "nested deeper than %d levels", DEPTH_MAX);
	r = place(b, n);
	if (r)
		return r;
	b->open[b->depth] = n;
	b->key[b->depth++] = NULL;
	return 0;
}

static int document(struct builder *b, struct fy_event *e)
{
	if (b->documents++)
		return node_error(event_node(b, e, NODE_TEXT), NULL, b->err,
			"a second document begins here; a scenario file holds one");
	return 0;
}

static int fold(struct builder *b, struct fy_event *e)
{
	int r = refuse_decoration(b, e);

	if (r)
		return r;
	switch (e->type) {
	case FYET_DOCUMENT_START:
		return document(b, e);
	case FYET_MAPPING_START:
		return open_node(b, e, NODE_MAP);
	case FYET_SEQUENCE_START:
		return open_node(b, e, NODE_LIST);
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		b->depth--;
		return 0;
	case FYET_SCALAR:
		return scalar(b, e);
	default:
		return 0;
	}
}

/* The first error libfyaml has collected, in our form. */
static int syntax_error(struct builder *b, struct fy_diag *diag)
{
	void *iterator = NULL;
	struct fy_diag_error *e = fy_diag_errors_iterate(diag, &iterator);
	const struct fy_mark *mark = e && e->fyt ? fy_token_start_mark(e->fyt) : NULL;
	struct node *at = new_node(b->tree, NODE_TEXT, b->source,
		mark ? mark->input_pos : b->source->length, mark ? mark->input_pos + 1 : 0);

	return node_error(at, NULL, b->err, "not valid YAML here: %s",
		e && e->msg ? e->msg : "the text ends too early or holds what YAML does not allow");
}

static int read_events(struct builder *b, struct fy_parser *parser, struct fy_diag *diag)
{
	struct fy_event *e;
	bool ended = false;
	int r = 0;

	while (!r && (e = fy_parser_parse(parser))) {
		ended = e->type == FYET_STREAM_END;
		r = fold(b, e);
		fy_parser_event_free(parser, e);
	}
	if (!r && (!ended || fy_parser_get_stream_error(parser)))
		r = syntax_error(b, diag);
	return r;
}

static int parse_source(struct builder *b)
{
	struct fy_diag_cfg diag_cfg;
	struct fy_parse_cfg cfg = {.search_path = "", .flags = FYPCF_COLLECT_DIAG};
	struct fy_parser *parser;
	int r = -ENOMEM;

	fy_diag_cfg_default(&diag_cfg);
	diag_cfg.fp = NULL;
	diag_cfg.colorize = false;
	cfg.diag = fy_diag_create(&diag_cfg);
	if (!cfg.diag)
		return error_sys(b->err, -ENOMEM, "cannot start the YAML parser");
	fy_diag_set_collect_errors(cfg.diag, true);
	parser = fy_parser_create(&cfg);
	if (parser && !fy_parser_set_string(parser, b->source->text, b->source->length))
		r = read_events(b, parser, cfg.diag);
	else
		error_sys(b->err, r, "cannot start the YAML parser");
	fy_parser_destroy(parser);
	fy_diag_destroy(cfg.diag);
	return r;
}

static struct source *new_source(
	struct tree *t, const char *name, const char *text, size_t length, bool file)
{
	struct source *s = memory_zero(1, sizeof *s);

	s->name = memory_string(name);
	s->text = memory_zero(length + 1, 1);
	memcpy(s->text, text, length);
	s->length = length;
	s->file = file;
	t->sources = memory_resize(t->sources, t->n_sources + 1, sizeof *t->sources);
	t->sources[t->n_sources++] = s;
	return s;
}

int tree_parse(struct tree *t, struct node **out, const char *name, const char *text, size_t length,
	bool file, struct error *err)
{
	struct builder b = {.tree = t, .err = err};
	size_t bad = mark_bad_text(text, length, true);
	int r;

	b.source = new_source(t, name, text, length, file);
	if (bad < length)
		return node_error(new_node(t, NODE_TEXT, b.source, bad, bad + 1), NULL, err,
			(unsigned char)text[bad] < 0x80
				? "a control character (byte 0x%02x); take it out"
				: "not printable UTF-8 (byte 0x%02x); save the file as UTF-8",
			(unsigned char)text[bad]);
	r = parse_source(&b);
	if (r)
		return r;
	if (!b.root)
		return node_error(new_node(t, NODE_TEXT, b.source, 0, 0), NULL, err,
			file ? "the file is empty; a scenario begins with \"narrowlink: 1\""
			     : "there is no value after \"=\"");
	*out = b.root;
	return 0;
}

void tree_release(struct tree *t)
{
	for (size_t i = 0; i < t->n_nodes; i++) {
		free(t->nodes[i]->text);
		free(t->nodes[i]->items);
		free(t->nodes[i]->keys);
		free(t->nodes[i]);
	}
	for (size_t i = 0; i < t->n_sources; i++) {
		free(t->sources[i]->name);
		free(t->sources[i]->text);
		free(t->sources[i]);
	}
	free(t->nodes);
	free(t->sources);
	*t = (struct tree){0};
}
