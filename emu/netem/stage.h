/*
 * What a link's direction is in the kernel's terms: two queueing disciplines, one after the other
 * on two devices of a gateway.
 *
 * The first is a token bucket with a queue limited in bytes, which decides what the queue has no
 * room for. The second is a netem that serialises once more at the same rate, so that what the
 * bucket lets out at once leaves a frame at a time, and then delays and loses. A bucket that
 * holds less than its timer may be late by does not reach its rate; the bytes it holds are taken
 * off the queue, since with the bucket empty they stand in netem's.
 */
#pragma once

#include "emu/link.h"
#include "emu/netem/netem.h"
#include "emu/netem/tbf.h"

struct stage {
	struct tbf tbf;
	int frame_overhead; /* of tbf's size table: what a frame counts more than on its device */
	struct netem netem;
};

/*
 * The qdiscs for a state. core_ns is added to the delay. A rate below 8 bit/s is 8 bit/s; the
 * queue holds two frames at least; queues beyond 4 GB are cut to it.
 */
void stage_make(
	struct stage *s, const struct link_state *state, int overhead_bytes, int64_t core_ns);

/*
 * A delay that moves, in steps: the kernel's stays as it was set. From t_ns until *until_ns, which
 * becomes sooner, it is what it will be half-way.
 */
void stage_hold(struct link_state *state, int64_t t_ns, int64_t *until_ns);

/* The cause to which netem's drops are counted while it is in this state. */
enum drop_cause stage_cause(const struct link_state *state);
