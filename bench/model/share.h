/*
 * Weighted max-min sharing: every flow crosses two links, and no flow can have more without one
 * that has no more per weight having less. Progressive filling: the link that gives the least per
 * weight to its flows is full first; they have their share, and the rest of the links is
 * shared among the others. A flow that wants less than that has what it wants, and leaves the rest
 * to others. Source: D. Bertsekas, R. Gallager, Data Networks (1992), 6.5.2.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* As fmin and fmax without their care for NaN, which costs a call. */
static inline double least(double a, double b)
{
	return b < a ? b : a;
}

static inline double most(double a, double b)
{
	return b > a ? b : a;
}

struct share_flow;

struct share_link {
	double capacity; /* infinite: never the limit */
	/* of share_fill: */
	double left, weight, level;
	int flows;		     /* that have no rate yet */
	struct share_flow *first[2]; /* of those whose link[side] it is */
};

struct share_flow {
	int link[2];
	double weight; /* > 0 */
	double want;   /* at most; 0: all it can get */
	/* results: */
	double rate;	/* in the links' unit */
	double offered; /* what it would have if it wanted it */
	int bottleneck; /* the link that limits it, or would: 0 or 1 */
	struct share_flow *next[2];
};

/* n flows over links (n_links of them); flows given by pointer, for whoever embeds them. */
void share_fill(struct share_link *links, int n_links, struct share_flow *const *flows, size_t n);
