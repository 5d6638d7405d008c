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
	double capacity;     /* payload bytes per ns */
	double queued_bytes; /* standing queue, payload bytes */
	double high_bytes;   /* and its highest so far */
	double offered;	     /* what its flows could send at most, payload bytes per ns */
	int n_active;	     /* flows that have something to send */
	double weight;	     /* of all of them */
	int n_fresh;	     /* of them, that begin now */
	struct loss_chain losses;
	struct link_stats *stats;    /* the caller's */
	double wire_bytes, segments; /* carried */
	double ahead_bytes;	     /* payload: carried as well, and not counted for good */
};

void pipe_init(struct pipe *p, const struct link_direction *profile, enum direction which,
	uint64_t seed, uint32_t entity, bool ideal, struct link_stats *stats);
/* The profile's state at a time; returns until when it holds. */
int64_t pipe_load(struct pipe *p, int64_t at_ns);

/* What the queue takes, payload bytes. */
double pipe_queue_limit(const struct pipe *p);
int64_t pipe_queue_ns(const struct pipe *p);
/* One way for payload: many packets with jitter, order preserved, are as late as the latest. */
int64_t pipe_delay_ns(const struct pipe *p);
bool pipe_is_down_at(const struct pipe *p, int64_t at_ns);
/* When a segment that fails at at_ns would get through: at_ns itself unless the link is down;
 * TIME_NEVER where it stays so. */
int64_t pipe_up_at(const struct pipe *p, int64_t at_ns);

/* Payload was put on the wire. */
void pipe_carry(struct pipe *p, double payload_bytes);
/* Segments that came and found the queue full. */
void pipe_overflow(struct pipe *p, double segments);
/* How many of the next n segments are lost on the way. */
int64_t pipe_lose(struct pipe *p, int64_t n);
/* Brings the counters up to date. */
void pipe_count(struct pipe *p);
