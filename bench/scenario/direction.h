/* One direction of a link in the scenario language. */
#pragma once

#include "bench/scenario/keys.h"

extern const struct key direction_keys[];

/* The defaults; rate and delay are 0, to be given. */
void direction_profile(struct link_direction *d);
void direction_copy(struct link_direction *out, const struct link_direction *in);
void direction_clear(struct link_direction *d); /* the trace is the scenario's */
/*
 * Rules between the values of a direction, and what follows from them (the queue in bytes).
 * map and section are where they were written: the link and its up or down, for errors.
 * complete: it began with a profile, so that nothing can be missing.
 */
int direction_check(struct loader *l, const struct node *map, const struct node *section,
	struct link_direction *d, bool complete);
