/*
 * A YAML document as a small tree that knows where each of its nodes stands in the text, so that
 * an error about a value can show the very place: file:line:column and the marked line.
 *
 * libfyaml reads the text; the tree is our own because a case of a matrix and a `--set` put
 * nodes from elsewhere into it, and an error about them must point to where they came from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };

/* Where nodes come from; the text of a file is shown in errors, that of a `--set` is its name. */
struct source {
	char *name;
	char *text;
	size_t length;
	bool file;
};

struct node {
	enum node_kind kind;
	const struct source *source;
	size_t begin, end; /* bytes of the source's text */
	char *text;	   /* NODE_TEXT: the scalar; NULL for no value (empty, ~, null) */
	size_t n;
	struct node **items; /* of a list, or the values of a map */
	struct node **keys;  /* of a map, NODE_TEXT each */
};

/* Owns all nodes and sources of a scenario file and its overrides. */
struct tree {
	struct node *root;
	size_t n_nodes, n_sources;
	struct node **nodes;
	struct source **sources;
};

/*
 * Parses a text into a node of the tree. Refuses, with the position, what a scenario has no
 * use for: anchors, aliases and tags, several documents, control characters, bad UTF-8,
 * duplicate keys, a depth over 16.
 */
int tree_parse(struct tree *t, struct node **out, const char *name, const char *text, size_t length,
	bool file, struct error *err);
/* A new empty map, or text, that stands for errors where `at` does. */
struct node *tree_map(struct tree *t, const struct node *at);
struct node *tree_text(struct tree *t, const struct node *at, const char *text, size_t length);
void tree_release(struct tree *t);

struct node *node_get(const struct node *map, const char *key); /* NULL if absent or no map */
/* By a dotted path, e.g. "workload.outer.bits". */
struct node *node_find(const struct node *root, const char *path);
/* Sets or adds a key, both nodes belong to the tree already; returns its index in the map. */
size_t node_put(struct node *map, struct node *key, struct node *value);
void node_remove(struct node *map, size_t index);

/* Sets err to "NAME:LINE:COLUMN: [context: ]message" and the marked line. Returns -EINVAL. */
int node_error(const struct node *at, const char *context, struct error *err, const char *format,
	...) __attribute__((format(printf, 4, 5)));
