/*
 * One direction of an access link as the model sees it: the profile's state of the moment, how
 * much of a queue stands before it, its losses and its counters. The profile and the loss
 * processes are the emulator's own (emu/link.h, emu/loss.h).
 */
#pragma once

#include "bench/model/share.h"
#include "bench/model/world.h"
#include "emu/backend.h"
#include "emu/loss.h"

struct pipe {
	struct world_event change; /* the profile's next */
	struct flows *flows;
	const struct link_direction *profile;
	enum direction which;
	struct link_state state;
	bool ideal;	     /* no headers, no queue, no loss */
	double queued_bytes; /* standing queue, payload bytes */
	double peak_bytes;   /* the same when windows come at once */
	double high_bytes;   /* and its highest so far */
	double windows;	     /* of the flows that make it, payload bytes */
	int64_t over_until_ns; /* the queue runs over until then, */
	double over_share;     /* and so much of what comes is dropped; */
	uint64_t episode;      /* for the so manieth time */
	int64_t rtt_ns;	       /* the longest round trip of those that make the queue */
	struct loss_chain losses;
	struct link_stats *stats; /* the caller's */
	double wire_bytes, segments; /* carried, not yet in stats */
};

void pipe_init(struct pipe *p, const struct link_direction *profile, enum direction which,
	uint64_t seed, uint32_t entity, bool ideal, struct link_stats *stats);
/* The profile's state at a time; returns until when it holds. */
int64_t pipe_load(struct pipe *p, int64_t at_ns);

/* Payload bytes per ns. */
double pipe_capacity(const struct pipe *p);
/* What the queue takes, payload bytes. */
double pipe_queue_limit(const struct pipe *p);
int64_t pipe_queue_ns(const struct pipe *p);
/* One way for payload: many packets with jitter, order preserved, are as late as the latest. */
int64_t pipe_delay_ns(const struct pipe *p);
/* When a segment that fails at at_ns would get through: at_ns itself unless the link is down. */
bool pipe_is_down_at(const struct pipe *p, int64_t at_ns);

/* Payload was put on the wire. */
void pipe_carry(struct pipe *p, double payload_bytes);
/* Segments that came and found the queue full. */
void pipe_overflow(struct pipe *p, double segments);
/* How many of the next n segments are lost on the way. */
int64_t pipe_lose(struct pipe *p, int64_t n);
/* Brings the counters up to date. */
void pipe_count(struct pipe *p);
