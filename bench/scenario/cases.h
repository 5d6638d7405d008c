/*
 * Overrides and matrix: both put values at dotted keys of the tree, so that a case is parsed as
 * if its file had been written that way, and an error points to where the value stands.
 */
#pragma once

#include "bench/scenario/tree.h"

#define CASES_MAX 1000

/* One key of the matrix: where its values go, and which one is there now. */
struct axis {
	const struct node *key, *values;
	struct node *map;
	size_t index, now;
};

/*
 * Puts "key=value" into the tree; a key of the matrix is no longer varied then. Messages call it
 * "--set key=value", or what it is when it is written "--key=value".
 */
int cases_override(struct tree *t, const char *override, struct error *err);

/* The axes of the tree's matrix (none without); *out is the caller's to free. */
int cases_axes(struct tree *t, struct axis **out, size_t *n, size_t *n_cases, struct error *err);
/* Puts the values of case number i (from 0; the first axis varies slowest) into the tree. */
void cases_select(struct axis *axes, size_t n, size_t i);
/* "diloco, 300 ms"; the caller's to free. */
char *cases_name(const struct axis *axes, size_t n);
