/*
 * One direction of an access link as arithmetic: the queue and the serialiser are one number,
 * the time until which the serialiser is busy, since a link profile knows its own future. A
 * segment's place in the queue is the bytes that the serialiser still has to send when the
 * segment comes; its end of serialisation follows from the rates until then, so that a change
 * of rate applies to what is queued.
 *
 * Times are CLOCK_MONOTONIC ns; `epoch` is the scenario's time zero, or DIRECTION_NO_EPOCH
 * before it is known: then the link is as at time zero and nothing is down.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/loss.h"

#define DIRECTION_NO_EPOCH INT64_MIN

/* A place in time on the link's profile, moving forward. */
struct cursor {
	int64_t from_ns, until_ns; /* the state holds in [from, until) */
	struct link_state state;
	double bytes; /* what the serialiser could send from the beginning until from_ns */
};

struct direction_line {
	const struct link_direction *profile;
	enum direction which;
	uint64_t seed;
	uint32_t entity; /* of its random numbers: site * 2 + direction */
	int64_t epoch_ns;
	struct cursor arrival, sending, leaving;
	int64_t free_ns;  /* the serialiser is busy until free_ns + free_part */
	double free_part; /* in [0, 1) ns */
	uint64_t packet;  /* number of the next that leaves, for its jitter */
	struct loss_chain losses;
};

void direction_init(struct direction_line *d, const struct link_direction *profile,
	enum direction which, uint64_t seed, uint32_t entity, int64_t now_ns);

/* Scenario time zero is epoch_ns; said at now_ns. What is being sent keeps its times. */
void direction_start(struct direction_line *d, int64_t epoch_ns, int64_t now_ns);

/*
 * A segment of `bytes` (overhead included) comes at at_ns. False: the queue has no room for it.
 * Otherwise *end_ns is the end of its serialisation (rounded up), *queued what the queue and
 * the serialiser then hold. A segment that finds the link idle is taken whatever the limit.
 */
bool direction_take(
	struct direction_line *d, int64_t at_ns, int64_t bytes, int64_t *end_ns, int64_t *queued);

/*
 * The same for a run of segments at once, which come evenly between first_ns and last_ns: `bytes`
 * in all, the first and the last of them. *begin_ns is the end of the first one's serialisation;
 * *queued is exact for a burst, and within one segment of the most for a longer run.
 * False, and nothing has happened, where it is not as simple as that: the queue may not have room
 * for all, the link changes meanwhile, or serialising them takes longer than most_ns.
 */
struct direction_run {
	int64_t first_ns, last_ns;
	int64_t bytes, first_bytes, last_bytes;
	int64_t most_ns;
};
bool direction_take_run(struct direction_line *d, const struct direction_run *run,
	int64_t *begin_ns, int64_t *end_ns, int64_t *queued);

/* The rate at the time the serialiser becomes free. */
int64_t direction_rate(const struct direction_line *d);

/*
 * Whether the next n segments, which leave in [from, until], certainly go on. Then that was their
 * fate; otherwise ask direction_leave for each.
 */
bool direction_lossless(struct direction_line *d, int64_t from_ns, int64_t until_ns, int n);

/* The fate of the next segment, whose serialisation ends at at_ns: DROP_CAUSES if it goes on. */
enum drop_cause direction_leave(struct direction_line *d, int64_t at_ns);

/* The propagation delay of the next packet, whose serialisation ends at at_ns. */
int64_t direction_delay(struct direction_line *d, int64_t at_ns);
