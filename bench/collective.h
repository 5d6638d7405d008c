/*
 * The ring all-reduce among the learners, on the runtime's messages.
 *
 * A payload is cut into M chunks. In stage s of 2(M-1), learner i sends chunk (i - s) mod M to
 * learner i + 1: M-1 stages that reduce, M-1 that spread the result. A stage's message may be
 * sent as soon as the one before has come from the left, since it is that very chunk. Each
 * learner sends all chunks twice but for one of each half, so that a ring's links carry
 * 2 S (M-1) bytes together, exactly. Source: Patarasuk and Yuan, J. Parallel Distrib. Comput.
 * 69 (2009) 117.
 *
 * Several rings are under way at once (gradient buckets, fragments), and a neighbour may be
 * ahead: its messages are noted until this learner starts the same ring. A set of rings holds as
 * many as its strategy can have, numbered by the strategy in a sequence all learners share.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench/runtime.h"

/* Kinds of messages, shared by all strategies of a job. */
enum message_kind {
	MESSAGE_RING = 1, /* collective.h */
	MESSAGE_WORD,	  /* strategy/group.h */
	MESSAGE_FETCH,
	MESSAGE_STATE,
	MESSAGE_CONTRIBUTION, /* strategy/contributor.h, syncer.h */
	MESSAGE_MERGED,
	MESSAGE_ASK,
	MESSAGE_POSITION,
	MESSAGE_REFUSAL,
};

struct ring {
	int64_t sequence; /* -1: the place is free */
	bool started;	  /* this learner's own payload is in */
	int64_t bytes;	  /* S, once started */
	int64_t started_ns;
	int arrived;		 /* stages that have come from the left */
	uint64_t stages[2];	 /* which ones: 2(M-1) <= 126 bits */
	struct rt_message label; /* kind, fragment, round and epoch of its messages */
};

struct rings {
	struct rt *rt;
	int places;
	struct ring *ring;
};

/* Any `places` consecutive sequence numbers can be under way at once. */
void rings_init(struct rings *r, struct rt *rt, int places);
void rings_release(struct rings *r);
/* Forgets all that is under way. */
void rings_clear(struct rings *r);

/*
 * This learner's payload of `bytes` is ready: its part of the ring begins. label's fragment, round
 * and epoch mark the messages. Returns whether the ring is complete at this learner already.
 */
bool rings_start(struct rings *r, int64_t sequence, const struct rt_message *label, int64_t bytes,
	int64_t at_ns);
/* A message has come from the left. Returns whether the ring is now complete at this learner. */
bool rings_arrived(struct rings *r, int64_t sequence, const struct rt_message *message);
/* The ring, complete or not; NULL if nothing is known of it. */
const struct ring *rings_find(const struct rings *r, int64_t sequence);
bool ring_complete(const struct rings *r, const struct ring *ring);
/* Frees the place of a ring that is complete. */
void rings_retire(struct rings *r, int64_t sequence);

/* Payload bytes that a learner sends in a ring all-reduce of `bytes` among n. */
int64_t ring_bytes_sent(int64_t bytes, int learner, int n);
/* 2 (M-1)/M */
double ring_factor(int n);
double ring_job_factor(const struct job *job); /* of all its learners */
/* 2(M-1) alpha + 2(M-1)/M S beta: without contention, goodput in bit/s of payload. */
int64_t ring_bound_ns(int64_t bytes, int n, int64_t alpha_ns, double goodput_bps);
