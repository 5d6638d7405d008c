/* The name somebody probably meant. */
#pragma once

#include <stddef.h>

/* Levenshtein distance: insertions, deletions and substitutions of bytes, each 1. */
size_t nearest_distance(const char *a, const char *b);

/*
 * A running search for the candidate nearest to what was written. Start with {.written = ...},
 * offer every candidate; best is NULL if none is near (at most a third of its letters, or 2).
 */
struct nearest {
	const char *written;
	const char *best;
	size_t distance;
};
void nearest_offer(struct nearest *n, const char *candidate);
