/*
 * The keys of a scenario that hold a number, for whoever varies one: what kind it is, what range
 * it has, and how a value is written. Values are doubles in base units: bit/s, s, bytes, a count,
 * bits, a ratio from 0 to 1.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/units.h"
#include "bench/scenario/scenario.h"

struct numeric {
	char key[128]; /* as written: "links.wan.rate" */
	enum quantity kind;
	bool plain;	  /* a number without unit and with a fraction, as `speed`; kind is COUNT */
	bool whole;	  /* integers only */
	double low, high; /* what the language allows */
	bool below;	  /* high itself is excluded */
};

/*
 * The number at a dotted key of this scenario, as `--set` would take it. STATUS_INPUT: there is
 * no such key (the nearest is named), or it holds no number.
 */
int numeric_find(struct numeric *out, const struct scenario *s, const char *key, struct error *err);

/* What the scenario has there, if its canonical print tells: false for elements of lists. */
bool numeric_current(const struct numeric *n, const struct scenario *s, double *out);

/* A value as a user writes it, in base units. STATUS_INPUT. */
int numeric_parse(const struct numeric *n, const char *text, double *out, struct error *err);
/*
 * As it is written in a scenario, exactly or with a few digits for people. Writes at most size
 * bytes and a final NUL; returns buf.
 */
char *numeric_format(char *buf, size_t size, const struct numeric *n, double value, bool exact);

/* "rate", "time", "bytes", "count", "bits", "ratio", "number": for files. */
const char *numeric_kind_name(const struct numeric *n);
