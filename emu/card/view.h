/*
 * What is applied to the devices of this namespace, as links: read from the kernel, whoever set it.
 *
 * A way is what packets of one kind pass: netem and tbf, one below the other, at a device's root,
 * at a class of something else, or at the ifb that incoming packets are redirected to.
 */
#pragma once

#include "emu/card/device.h"
#include "emu/card/filter.h"
#include "emu/card/layout.h"
#include "emu/card/qdiscs.h"

struct way {
	int index;		  /* of the device that it is on: the ifb's for what comes in */
	enum direction direction; /* UP: what the device sends; DOWN: what it receives */
	uint32_t class_id;	  /* 0: not below a class */
	enum filter_match match;
	struct prefix prefix;
	const struct qdisc_node *netem, *tbf; /* NULL: without; of the view's qdiscs */
	struct layout_words words;
};

struct view {
	struct devices devices;
	struct qdiscs qdiscs;
};

/* A snapshot; only reads, and needs no rights. view_release is for a zeroed one too. */
int view_read(struct view *out, struct nl_sock *sock, struct error *err);
void view_release(struct view *v);

struct ways {
	size_t n;
	struct way *list;
};

/* The ways of a device in both directions; borrows from the view. */
int view_ways(struct ways *out, const struct view *v, const struct device *d, struct nl_sock *sock,
	struct error *err);
void ways_release(struct ways *w);

/* Whether something was set on it, in either direction. */
bool view_is_shaped(const struct view *v, const struct device *d);

/* What its packets passed and did not, in this way. */
struct way_counters {
	uint64_t sent_packets, sent_bytes, backlog_bytes;
	uint64_t lost;	/* by netem, in packets */
	uint64_t queue; /* had no room in the queue, packets */
};
struct way_counters way_count(const struct way *w);
