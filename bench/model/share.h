/*
 * Weighted max-min sharing: every flow crosses two links, and no flow can have more without one
 * that has no more per weight having less. Progressive filling: the link that gives the least per
 * weight to its flows is full first; they have their share, and the rest of the links is
 * shared among the others. Source: D. Bertsekas, R. Gallager, Data Networks (1992), 6.5.2.
 */
#pragma once

#include <stddef.h>

struct share_link {
	double capacity;
	/* of share_fill: */
	double left, weight;
	int flows; /* that have no rate yet */
};

struct share_flow {
	int link[2];
	double weight; /* > 0 */
	double rate;   /* result, in the links' unit */
	int bottleneck; /* result: the link that limits it, 0 or 1 */
};

/* n flows over links (n_links of them); flows given by pointer, for whoever embeds them. */
void share_fill(struct share_link *links, int n_links, struct share_flow *const *flows, size_t n);
