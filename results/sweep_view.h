/*
 * How a sweep is looked at: for each key of its matrix that holds numbers, what stands on the
 * axes and which cases make a line.
 */
#pragma once

#include "results/sweep_record.h"

#define VIEW_LINES_MAX 12

struct view_kind {
	const char *key; /* "links.*.rate"; a "*" is any one part; NULL: all others */
	const char *stem, *title;
	const char *name, *unit; /* of the axis */
	double scale;		 /* base units in one of the unit */
	bool log;
	const char *metric; /* looked at against it */
	bool round_trip;    /* the axis is the case's idle round trip, not the value itself */
};
const struct view_kind *view_kind_of(const char *key);

struct view_point {
	double x, y, low, high; /* mean, least and greatest over seeds; x and y in shown units */
	int n;
};

struct view_line {
	char *name;
	const char *strategy; /* NULL: the strategies are no lines of this view */
	size_t dash;	      /* counts the lines of one strategy */
	size_t n;
	struct view_point *points; /* in order of x */
};

struct view {
	const struct view_kind *kind;
	char *title, *x_name, *y_name;
	bool x_log, y_log, x_rate, y_rate, percent; /* y_rate: in Gbit/s, with the bands */
	bool unanswered;			    /* a seek without an answer has no point */
	size_t n;
	struct view_line *lines;
};

/* The view along axis number `axis`; NULL when it has not two points, or too many lines. */
struct view *view_make(const struct sweep_record *s, size_t axis);
struct view *view_free(struct view *v); /* accepts NULL, returns NULL */
