/* Levenshtein distance by Wagner and Fischer's table, one row of it. */
#include "bench/scenario/nearest.h"

#include <string.h>

#define LETTERS_MAX 64

size_t nearest_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), row[LETTERS_MAX + 1];

	if (n > LETTERS_MAX || m > LETTERS_MAX)
		return n > m ? n : m;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t swap = diagonal + (a[i - 1] != b[j - 1]);
			size_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			diagonal = row[j];
			row[j] = swap < least ? swap : least;
		}
	}
	return row[m];
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t letters = strlen(candidate), d = nearest_distance(n->written, candidate);
	size_t limit = letters / 3 > 2 ? letters / 3 : 2;

	if (d > limit || d >= letters || (n->best && d >= n->distance))
		return;
	n->best = candidate;
	n->distance = d;
}
