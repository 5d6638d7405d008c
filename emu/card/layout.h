/*
 * A link's direction on a device of this machine: a netem that loses and delays, and below it a
 * token bucket with a queue limited in bytes.
 *
 * This way round because the sender may be this very machine. Netem takes a packet off its
 * socket's account, so that TCP fills the link's queue as it would a router's, and what either
 * qdisc drops then is a loss to TCP, found by its receiver; under a bucket at the top TCP would
 * be told, and hold back. The price: loss comes before the serialiser, a lost packet uses no
 * capacity, and what is sent faster than the rate waits out the delay in memory before the
 * queue drops it.
 */
#pragma once

#include "emu/card/device.h"
#include "emu/link.h"
#include "emu/netem/netem.h"
#include "emu/netem/tbf.h"

struct layout {
	int frame_overhead; /* of the root's size table, which what is below it counts by too */
	struct netem netem;
	struct tbf tbf;
};

/*
 * The qdiscs for a state, on a device. Jitter keeps the order: netem has a rate then, so high
 * that it takes no time. The bucket holds a packet of the device at least, the queue two.
 */
void layout_make(struct layout *l, const struct link_state *state, int overhead_bytes,
	const struct device *d);

/* The other way: what qdiscs are in a link's words. */
struct layout_words {
	struct link_state state; /* rate_bps 0: none; queue_bytes 0: not limited in bytes */
	int overhead_bytes;
	char also[512]; /* what a profile has no words for, "duplicate 1 %, ..."; "" for nothing */
};

/* netem or tbf may be NULL. */
void layout_read(struct layout_words *out, const struct netem *netem, const struct tbf *tbf,
	int frame_overhead, const struct device *d);

/* "{rate: 100 Mbit/s, delay: 15 ms, queue: 625 kB}", as `--link` takes it. Returns text. */
char *layout_format(char *text, size_t size, const struct layout_words *w);
