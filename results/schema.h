/*
 * A schema: the layout of a struct as JSON, written down once as a table.
 *
 * The same table writes, reads, frees and blanks a struct, so that what is written can be read
 * and nothing is forgotten in one of the four.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum field_kind {
	FIELD_NUMBER,	/* double; NaN and infinities are null */
	FIELD_INT,	/* int, 0 or more; 0 is null unless required */
	FIELD_SEED,	/* uint64_t: a number up to 2^53, above it a string of its digits */
	FIELD_FLAG,	/* bool */
	FIELD_TEXT,	/* char *, owned; NULL is null */
	FIELD_GROUP,	/* an object whose fields live in the same struct */
	FIELD_OPTION,	/* an owned pointer to a struct as an object; NULL is not written */
	FIELD_STATES,	/* double[STATE_COUNT] as an object by state_name */
	FIELD_MAP,	/* an array of struct record_set as an object */
	FIELD_TEXTS,	/* char **, owned, with a count */
	FIELD_NUMBERS,	/* double *, owned, with a count */
	FIELD_LIST,	/* an owned array of structs, with a count */
	FIELD_POINTERS, /* an owned array of pointers to owned structs, with a count */
};

struct field {
	const char *key; /* NULL ends a table */
	enum field_kind kind;
	size_t at;	 /* offset of the value in its struct */
	size_t count_at; /* lists: offset of the size_t count */
	size_t size;	 /* FIELD_OPTION, FIELD_LIST, FIELD_POINTERS: of one struct */
	size_t limit;	 /* lists: most entries that are written or read */
	bool required;	 /* must be there when read; FIELD_TEXT: not null (NULL is written as "") */
	const char *const *words;   /* FIELD_TEXT: the only values, NULL-terminated */
	const struct field *fields; /* FIELD_GROUP and those: what is inside */
};

/* Sets every number of a struct to NaN: nothing is known yet. */
void schema_blank(const struct field *fields, void *base);

/* Frees what a struct's fields own; not the struct. */
void schema_release(const struct field *fields, void *base);

/* The struct as a JSON object, the caller's to json_decref. -EOVERFLOW: a list above its limit. */
int schema_encode(json_t **out, const struct field *fields, const void *base, struct error *err);

/*
 * Fills a zeroed struct from an object. Keys that the table does not name are passed over.
 * STATUS_INPUT errors name the place: "cases[0].wall_s: expected a number, found a string"; what
 * was read so far is in the struct then, for schema_release.
 */
int schema_decode(const struct field *fields, void *base, json_t *object, struct error *err);
