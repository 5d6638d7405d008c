/*
 * What a device was before it was shaped, and putting that back.
 *
 * A qdisc that goes is gone for the kernel, so it is made again from the options that the kernel
 * told of it. That works for qdiscs whose classes come by themselves (fq, fq_codel, cake, netem
 * with a bucket below it, mq ...), and is refused beforehand for those with classes or filters that
 * somebody made. Queued packets and counters are not kept, nor netem's distribution tables.
 */
#pragma once

#include "emu/card/shaping.h"

struct saved {
	struct qdiscs qdiscs;  /* the device's own, root first; none: it has the kernel's */
	uint32_t gso_max_segs; /* 0: the kernel does not tell */
	bool merges;
};

/* STATUS_MACHINE: what it has that could not be put back. saved_release: a zeroed one too. */
int saved_take(struct saved *out, const struct shaping *s, const struct view *v,
	struct nl_sock *sock, struct error *err);
void saved_release(struct saved *s);

/*
 * Takes back all that the shaping set, also a half of it, and puts back what was there; goes on
 * after an error and keeps the first. A root that somebody else has set meanwhile is left alone,
 * which is an error; a device that has gone is none.
 */
int saved_put_back(const struct saved *saved, const struct shaping *s, struct nl_sock *sock,
	struct error *err);
