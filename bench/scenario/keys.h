/*
 * The scenario language as data: a table of keys per section says of each key its kind, where its
 * value goes, its range, its default and its help. The tables drive parsing, the errors about
 * unknown keys, the canonical print and the reference in the documentation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/units.h"
#include "bench/scenario/scenario.h"
#include "bench/scenario/tree.h"

struct traits;

/* What is at hand while one case is parsed. */
struct loader {
	struct scenario *s;
	struct tree *tree;
	const struct node *root;
	const char *context;	     /* "case ..." in errors, NULL if there is one case only */
	const struct traits *traits; /* the strategy's, once known */
	unsigned uses;		     /* the groups of keys that the strategy has a use for */
	struct error *err;
};

enum key_kind {
	KEY_RATE,
	KEY_TIME,
	KEY_BYTES,
	KEY_BITS,    /* int64_t in base units */
	KEY_COUNT,   /* int64_t, printed with a suffix: 12 B */
	KEY_INTEGER, /* an integer of `size` bytes */
	KEY_NUMBER,  /* double; with parse and print where a word may stand for it */
	KEY_SHARE,   /* double, 0.001 for "0.1 %" */
	KEY_SWITCH,  /* bool */
	KEY_WORD,    /* an enum: index into words */
	KEY_TEXT,    /* char *, owned */
	KEY_SECTION, /* the keys of `table`, in the same struct */
	KEY_CUSTOM,  /* parse and print do it */
};

struct printer {
	FILE *out;
	const struct scenario *s;
	unsigned uses;
	int indent;
	bool item; /* the next line is the first of a list item */
};

struct key {
	const char *name;
	enum key_kind kind;
	size_t offset, size;
	double low, high; /* in base units; both 0: the kind's own range */
	bool below;	  /* high itself is excluded */
	bool required;
	unsigned use;		  /* group; 0: always in use */
	const char *const *words; /* NULL-terminated */
	const struct key *table;  /* KEY_SECTION, and KEY_CUSTOM where one describes it */
	const struct key *number; /* KEY_CUSTOM: kind and range of what is written, if a number */
	int (*parse)(struct loader *l, const struct node *value, void *base);
	void (*print)(struct printer *p, const struct key *key, const void *base);
	const char *fallback;  /* the default as one would write it; NULL: none */
	const char *otherwise; /* for people: the default when it depends */
	const char *example, *help;
};

/* Offset and size of a member, for a row of a table. */
#define AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* Error at a node, in the loader's case. */
#define loader_error(l, at, ...) node_error(at, (l)->context, (l)->err, __VA_ARGS__)

/* Refuses keys of a map that none of the tables (up to NULL) has, naming the nearest. */
int keys_known(struct loader *l, const struct node *map, const char *where,
	const struct key *const *tables);
/*
 * Parses the keys of a table from a map (NULL: an absent one) into base. defaults: what is absent
 * gets its default, or is an error if required. Unknown keys are not looked at.
 */
int keys_parse(struct loader *l, const struct key *table, const struct node *map, void *base,
	bool defaults);
/* Both, for a section that is described by one table. */
int keys_section(struct loader *l, const struct key *table, const struct node *map,
	const char *where, void *base);
/* The parse of a key whose value somebody else reads. */
int keys_elsewhere(struct loader *l, const struct node *value, void *base);
/* A single key's value. */
int keys_value(struct loader *l, const struct key *key, const struct node *value, void *base);

/* A scalar's text, or an error that says what belongs here, e.g. "a time, e.g. \"300 ms\"". */
int loader_text(struct loader *l, const struct node *value, const char **out, const char *what);
int loader_quantity(struct loader *l, const struct node *value, enum quantity kind, int64_t *out);
int loader_list(struct loader *l, const struct node *value, const char *what);
int loader_map(struct loader *l, const struct node *value, const char *what);

/* The quantity that a kind of key is written as, for KEY_RATE to KEY_INTEGER. */
enum quantity key_quantity(enum key_kind kind);

/* Prints the keys of a table that are in use. */
void keys_print(struct printer *p, const struct key *table, const void *base);
/* "name: " with indentation, and the parts of a value. */
void print_name(struct printer *p, const char *name);
void print_open(struct printer *p, const char *name); /* "name:" and one level deeper */
void print_close(struct printer *p);
void print_quantity(struct printer *p, const char *name, enum quantity kind, int64_t value);
void print_number(struct printer *p, const char *name, double value);
void print_text(struct printer *p, const char *name, const char *text); /* in quotes */
void print_word(struct printer *p, const char *name, const char *word);
