/*
 * An actor: one participant's strategy, brought to life. It implements the operations of
 * runtime.h on timers and the mesh, and hands the strategy its events, one at a time.
 *
 * The accelerator is simulated and its time is exact: an event from a timer has the time at
 * which it was due, and what the strategy starts in it begins then, however late this process
 * was scheduled. So a crowded machine makes packets late but does not slow the accelerator.
 */
#pragma once

#include "bench/live/outbox.h"

#define ACTOR_TIMERS 8

struct actor;

struct actor_timer {
	struct loop_timer timer;
	struct actor *actor;
	int number;	/* -1: the accelerator's */
	int64_t due_ns; /* scenario time */
};

struct actor {
	struct rt rt;
	struct loop *loop;
	struct mesh *mesh;
	struct outbox *outbox;
	struct live_counters *counters;
	const struct strategy *strategy;
	void *self;
	double dilation;
	int64_t t0_ns; /* real time of scenario time zero */
	bool started;
	int64_t at_ns; /* scenario time of the current event */
	struct actor_timer compute, timers[ACTOR_TIMERS];
	struct rt_event *events; /* a ring of `room`, a power of two */
	size_t first, count, room;
};

void actor_init(struct actor *a, const struct scenario *s, int participant, struct loop *loop,
	struct mesh *mesh, struct outbox *outbox, struct live_counters *counters);
void actor_release(struct actor *a);

/* Scenario time of a real time. */
int64_t actor_scenario_ns(const struct actor *a, int64_t real_ns);
/* Real time of a scenario time. */
int64_t actor_real_ns(const struct actor *a, int64_t scenario_ns);

/* RT_START, before all events posted so far. */
void actor_start(struct actor *a, uint32_t incarnation);
/* Queues an event; at_ns and epoch are filled in. */
void actor_post(struct actor *a, const struct rt_event *event, int64_t at_ns);
/* Messages of this peer that are queued are gone. */
void actor_forget(struct actor *a, int peer);
/* Timers set and events queued: what may still make the strategy act without a message. */
uint64_t actor_pending(const struct actor *a);
/* Hands over all queued events, once started. */
void actor_settle(struct actor *a);
