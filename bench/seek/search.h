/*
 * The search of a seek, on any function of one number: the smallest or largest value at which a
 * condition holds. It looks at a few values spread over the whole range first, so that a curve
 * that turns is noticed, and then bisects between the first that holds and its neighbour.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define SEARCH_SPREAD 5 /* values looked at first, both bounds among them */
#define SEARCH_POINTS_MAX 128

struct search {
	double low, high; /* low < high */
	bool whole;	  /* integers only, then the result is exact */
	bool largest;	  /* instead of the smallest */
	double tolerance; /* of the result, relative: 0.01; > 0 */
};

struct search_point {
	double value;
	double got; /* the metric; NaN: unknown */
	bool holds;
};

enum search_outcome {
	SEARCH_FOUND, /* holds at found and not at next */
	SEARCH_BOUND, /* holds at the very bound where the search begins: found is that bound */
	SEARCH_NONE,  /* holds at none of the points */
};

struct search_result {
	enum search_outcome outcome;
	double found, next; /* next: the nearest value known not to hold; NaN without */
	size_t n;
	struct search_point points[SEARCH_POINTS_MAX]; /* in order of value */
};

/* Whether steps between values are factors: a range of a decade or more above 0. */
bool search_is_log(const struct search *s);

/* got and holds of one value. A negative errno ends the search. */
typedef int (*search_try)(void *user, double value, struct search_point *out, struct error *err);

int search_run(struct search_result *out, const struct search *s, search_try try, void *user,
	struct error *err);

/*
 * Whether the points contradict that one value divides those that hold from those that do not,
 * or that the metric moves in one direction: *i is the first of the two neighbours that show it
 * best. Moves below a hundredth of the metric's range are noise.
 */
bool search_turns(const struct search_result *r, bool largest, size_t *i);

/* The point nearest to holding, by the distance of got from want; NULL if none is known. */
const struct search_point *search_best(const struct search_result *r, double want);
