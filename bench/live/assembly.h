/*
 * Assembly: the messages under way from one peer, put together from chunks that arrive on
 * several connections in any order. A message is complete when all its bytes have arrived;
 * complete ones are taken in the order they were sent.
 *
 * Chunk frames come from the network: their numbers have been checked one by one (wire.h), here
 * they are checked against each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/live/wire.h"

/* More messages than this under way from one peer is a protocol error. */
#define ASSEMBLY_MAX (1 << 16)

struct assembly_item {
	struct rt_message message;
	bool known, first; /* a chunk was seen; the one with the numbers was */
	int64_t total;
	int64_t claimed; /* bytes announced by chunk heads */
	int64_t arrived;
};

struct assembly {
	struct assembly_item *items; /* a ring of `room`, a power of two */
	size_t first, count, room;
	uint64_t base; /* id of the first item */
};

/* A chunk's head has arrived. -EPROTO if it contradicts what came before. */
int assembly_claim(struct assembly *a, const struct wire_frame *chunk);
/* bytes more of a claimed chunk's payload have arrived. */
void assembly_arrived(struct assembly *a, uint64_t id, int64_t bytes);
/* Takes the oldest message if it is complete. */
bool assembly_take(struct assembly *a, struct rt_message *out);
void assembly_clear(struct assembly *a); /* forgets all; ids begin again */
void assembly_release(struct assembly *a);
