/*
 * A world: all participants of a job in one process, in simulated time. Integer nanoseconds on
 * a heap of events; equal times in the order in which they were set, so that a world is the same
 * on every run. It knows strategies, crashes and who knows of whom; what carries messages is a
 * network's business.
 */
#pragma once

#include "base/clock.h"
#include "base/heap.h"
#include "bench/model/network.h"
#include "bench/observer.h"

/* Something that will happen, embedded in its owner. */
struct world_event {
	struct heap_node node;
	void (*fire)(struct world_event *event);
	bool background; /* does not keep the world going */
};

#define WORLD_TIMERS 8

struct world_timer {
	struct world_event event;
	struct participant *participant;
	int number; /* -1: the accelerator's */
};

struct participant {
	struct rt rt;
	struct world *world;
	void *strategy;
	bool alive;   /* its strategy runs */
	bool present; /* alive, or about to be */
	bool done;
	struct parcel *held, **held_end; /* came before it was alive */
	uint32_t incarnation;
	uint64_t epoch;
	struct world_timer compute, timers[WORLD_TIMERS];
	bool connected[PARTICIPANTS_MAX];
	uint32_t known[PARTICIPANTS_MAX]; /* incarnations */
};

/* When participants learn of each other. Times are delays from now. */
struct world_notices {
	/* `peer` crashed: until who knows */
	int64_t (*lost)(void *user, int who, int peer);
	/* `newcomer`, one of them, is back, its process at least: until who has met peer */
	int64_t (*met)(void *user, int who, int peer, int newcomer);
};

struct world_config {
	const struct job *job;
	const struct strategy *strategy;
	struct network *network;
	const struct observer *observer; /* state, report, done */
	struct world_notices notices;
	void *user; /* of notices and on_send */
	/*
	 * A participant that comes back begins when it has met everybody who is there; or at once,
	 * taking everybody for connected; or at once, and meets its peers one by one.
	 */
	enum { JOIN_WHEN_MET, JOIN_AT_ONCE, JOIN_AMONG_STRANGERS } join;
	bool stale; /* what a strategy cancels comes nevertheless, at once, as runtime.h permits */
	/* sees what strategies send; may be NULL */
	void (*on_send)(void *user, int self, int peer, int64_t at_ns, const struct rt_message *m);
};

struct world {
	struct world_config config;
	struct heap heap;
	int64_t now_ns;
	size_t n_background; /* events in the heap */
	int n, n_done;	     /* participants; learners that are done */
	struct parcel *spare;
	struct participant part[PARTICIPANTS_MAX];
	uint64_t local_bytes[PARTICIPANTS_MAX]; /* payload to participants on the same site */
};

/* Participants exist, and have not started. The network may be prepared between this and start. */
void world_init(struct world *w, const struct world_config *config);
void world_start(struct world *w);
void world_release(struct world *w); /* of what the network has, the network releases first */

/* At this time, which replaces one set before. */
void world_set(struct world *w, struct world_event *event, int64_t at_ns);
void world_cancel(struct world *w, struct world_event *event);

/*
 * Goes on to the next instant and lets everything that happens in it happen. False when nothing
 * will ever happen again.
 */
bool world_step(struct world *w);
/* The time of the next instant; TIME_NEVER if there is none. */
int64_t world_next_ns(const struct world *w);

/* For the network: a parcel has reached its receiver; a parcel will not. */
void world_arrive(struct world *w, struct parcel *parcel);
void world_forget(struct world *w, struct parcel *parcel);

/* A participant dies now, and its process is back for_ns later. Nothing if it is dead. */
void world_crash(struct world *w, int who, int64_t for_ns);
