/*
 * One look for one thing, in every chart and in the report: what colour, which pattern, which
 * dashes, and its name in legends.
 *
 * Colours are from sets made for colour-blind readers (Okabe and Ito 2008; Tol 2021), chosen so
 * that those that meet in one chart also differ in luminance or in pattern, on grey paper too.
 */
#pragma once

#include "base/state.h"

struct paint {
	const char *label;
	const char *colour; /* "#rrggbb" */
	const char *fill;   /* gnuplot's fill style, without its border */
	const char *border; /* its colour; NULL: none */
	double height;	    /* in a timeline: of the lane, 0 to 1 */
};

struct stroke {
	const char *label;
	const char *colour;
	double width;
	const char *dash; /* gnuplot's dash type */
};

extern const struct paint paint_useful;	 /* compute that was merged or checkpointed */
extern const struct paint paint_pending; /* compute that was neither, nor lost, at the end */
extern const struct paint paint_lost;	 /* compute in vain */
extern const struct paint paint_crash;	 /* faults, behind or below what they hit */
extern const struct paint paint_blackout;
extern const struct paint paint_outage; /* the link's own, from its profile */
extern const struct paint paint_up;	/* a link's directions */
extern const struct paint paint_down;

extern const struct stroke stroke_limit; /* the link's rate */
extern const struct stroke stroke_measured;
extern const struct stroke stroke_predicted;
extern const struct stroke stroke_expected;

/* A strategy's line, by its name; a fifth look for a name that is none of ours. */
const struct stroke *stroke_strategy(const char *name);
int stroke_strategy_index(const char *name); /* 0 to 4, for its mark */

const struct paint *paint_state(enum state state);
const struct paint *paint_fault(const char *kind);
