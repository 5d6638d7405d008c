/*
 * Striping: the messages waiting for one peer, cut into chunks by whichever connection asks.
 *
 * A connection asks when its socket takes data, so a faster connection carries more. Messages
 * start in the order they were put. Chunks are large while much remains, for few system calls,
 * and shrink towards a message's end (guided self-scheduling), so that its last bytes do not
 * wait on one connection while the others have nothing left.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/live/wire.h"

#define STRIPE_CHUNK_MIN (16 << 10)

struct stripe_item {
	struct rt_message message;
	uint64_t id;
	int64_t offset; /* payload cut so far */
};

struct stripe {
	int connections;
	int64_t chunk_max;
	struct stripe_item *items; /* a ring of `room`, a power of two */
	size_t first, count, room;
	uint64_t next_id;
};

/*
 * The largest chunk for a link of rate_bps shared by `connections`: what one of them carries in
 * 10 ms, within STRIPE_CHUNK_MIN and WIRE_CHUNK_MAX.
 */
int64_t stripe_chunk_max(int64_t rate_bps, int connections);

/*
 * How much unsent payload a socket takes: enough that it never runs dry before its agent is
 * scheduled again, little enough that a slow connection does not hold much that a faster one
 * could send.
 */
int64_t stripe_unsent(int64_t chunk_max);

/* Our own bytes that go with a message of `bytes` payload: the heads of its chunks. */
int64_t stripe_framing(int64_t bytes, int connections, int64_t chunk_max);

void stripe_init(struct stripe *s, int connections, int64_t chunk_max);
void stripe_put(struct stripe *s, const struct rt_message *message); /* bytes > 0; copied */
/* The next chunk: its FIRST or CHUNK frame. false when nothing waits. */
bool stripe_cut(struct stripe *s, struct wire_frame *out);
void stripe_clear(struct stripe *s); /* forgets all; ids begin again */
void stripe_release(struct stripe *s);
