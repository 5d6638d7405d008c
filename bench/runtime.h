/*
 * THE SEAM: all that a synchronisation strategy may do.
 *
 * A strategy is a state machine. It has no clock, no socket and no thread: events come in with
 * their time, and it answers by asking its runtime to compute, to send, to set a timer, and by
 * telling the ledger what the accelerator does. So the same code runs over real processes and
 * TCP (bench/live) and in the virtual time of the tests (tests/job/virtual.c).
 *
 * Times are the scenario's (a dilated run scales them in the runtime), int64_t ns since the
 * job's start.
 *
 * Participants: learners are 0 .. n_learners-1, learner i on site i. A sharded syncer has one
 * shard per site: participant n_learners + i on site i. A star syncer is one participant,
 * n_learners, on an extra site of the same number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/state.h"

#define LEARNERS_MAX 64
#define PARTICIPANTS_MAX (2 * LEARNERS_MAX)

enum syncer { SYNCER_NONE, SYNCER_STAR, SYNCER_SHARDED };
enum role { ROLE_LEARNER, ROLE_SYNCER };
enum when_late { WHEN_LATE_STALL, WHEN_LATE_SKIP }; /* tau fragments in flight, none answered */

/* The job: the same for every participant. Resolved and validated: P <= H, quorum <= M, ... */
struct job {
	uint64_t seed;
	int n_learners;
	enum syncer syncer;
	int64_t parameters;	    /* N */
	int bits;		    /* b: per exchanged parameter */
	int64_t step_ns;	    /* T: one training step at speed 1 */
	int64_t step_spread;	    /* half-width of its uniform spread, units of 1e-9 */
	double speed[LEARNERS_MAX]; /* per learner; 2 is twice as fast */
	int64_t steps, warmup;	    /* measured steps, and those before them */
	int64_t period;		    /* H */
	int fragments;		    /* P */
	int overlap;		    /* tau */
	enum when_late when_late;
	int quorum;		  /* K */
	double grace;		  /* gamma, 0 <= gamma < 1 */
	int64_t tokens;		  /* per learner and step */
	int buckets;		  /* parts of an exchange sent during the backward pass */
	int64_t checkpoint_steps; /* data-parallel: a checkpoint every so many steps; 0 none */
	int64_t checkpoint_ns;	  /* what one costs */
	int64_t state_bytes;	  /* what a participant that comes back fetches from a peer */
};

static inline int job_participants(const struct job *job)
{
	return job->syncer == SYNCER_SHARDED ? 2 * job->n_learners
	       : job->syncer == SYNCER_STAR  ? job->n_learners + 1
					     : job->n_learners;
}

static inline enum role job_role(const struct job *job, int participant)
{
	return participant < job->n_learners ? ROLE_LEARNER : ROLE_SYNCER;
}

static inline int job_site(const struct job *job, int participant)
{
	return job->syncer == SYNCER_SHARDED ? participant % job->n_learners : participant;
}

/*
 * Duration of step `step` (from 0) of a learner: T / speed * (1 + spread * u), u uniform in
 * [-1, 1) and keyed by (seed, learner, step): the same in every runtime, and again after a
 * rollback. At least 1 ns.
 */
int64_t job_step_ns(const struct job *job, int learner, int64_t step);

/* Share i of n of a number of bytes: the shares differ by at most one and sum to it exactly. */
int64_t share_of(int64_t total, int64_t i, int64_t n);
/* Payload of one exchange of everything, ceil(N b / 8) bytes, and of fragment p of P. */
int64_t job_payload_bytes(const struct job *job);
int64_t job_fragment_bytes(const struct job *job, int fragment);

/* A message: payload of `bytes` synthetic bytes and these few numbers (sent as counted framing). */
struct rt_message {
	uint16_t kind; /* the strategy's or collective's own */
	uint16_t fragment;
	uint32_t stage;
	uint64_t round;
	uint64_t epoch; /* of the membership in which it was sent; see rt_event */
	uint64_t tokens;
	uint64_t steps;
	int64_t bytes;	 /* payload, >= 0 */
	int64_t sent_ns; /* set by the runtime: when the strategy sent it */
};

enum rt_kind {
	RT_START,     /* the first event. incarnation > 0: restarted after a crash, all state lost.
			 Peers count as up until RT_PEER_DOWN; what the runtime does not yet know
			 of them comes as RT_PEER_UP, and epoch grows with it */
	RT_COMPUTE,   /* what rt_compute started is done */
	RT_MESSAGE,   /* all of a message has arrived from `peer` */
	RT_TIMER,     /* the timer `timer` fired */
	RT_PEER_DOWN, /* the peer's connections broke: what was under way to or from it is gone */
	RT_PEER_UP,   /* it is back, a new incarnation; messages to it flow again. Its own come
			 after this event, and none of the old incarnation do */
};

struct rt_event {
	enum rt_kind kind;
	int64_t at_ns;
	int peer;	      /* RT_MESSAGE, RT_PEER_DOWN, RT_PEER_UP */
	int timer;	      /* RT_TIMER */
	uint32_t incarnation; /* RT_START: own; RT_PEER_UP: the peer's */
	uint64_t epoch;	      /* sum of the incarnations of all participants as known here: equal
				 at all once they all see each other again, larger after each crash */
	struct rt_message message;
};

/* What a strategy tells about its progress; goes to the ledger and to events.csv. */
enum rt_report_kind {
	REPORT_STEP,	   /* a step's compute and what belongs to it are complete; a = step */
	REPORT_MEASURE,	   /* warm-up is over for this participant: accounting starts now; a = first
			      step that counts; said again by a restarted learner */
	REPORT_USEFUL,	   /* amount = steps (may be fractional) merged or checkpointed */
	REPORT_LOST,	   /* amount = steps computed in vain */
	REPORT_EXCHANGE,   /* an exchange finished at this learner; a = round, b = fragment,
			      amount = seconds from its first send to its merge; c = with a syncer,
			      this learner's weight in the merge in units of 1e-9, 0 when late */
	REPORT_MERGE,	   /* a syncer merged; a = round, b = fragment, amount = contributors,
			      c = contributions carried over from earlier rounds */
	REPORT_SKIP,	   /* a send was skipped (when_late: skip); a = step, b = fragment */
	REPORT_RECOVERED,  /* state is fetched; a = donor */
	REPORT_ROLLBACK,   /* back to step a */
	REPORT_CHECKPOINT, /* a checkpoint of step a is complete */
};
const char *rt_report_name(enum rt_report_kind kind);

struct rt_report {
	enum rt_report_kind kind;
	int64_t a, b, c;
	double amount;
};

struct rt;

struct rt_ops {
	/*
	 * The accelerator computes for ns, then RT_COMPUTE. One at a time; ns < 0 cancels, though
	 * an event that was due at that very time may still come. So with timers.
	 */
	void (*compute)(struct rt *rt, int64_t ns);
	/*
	 * Sends to a participant, in order of calling; a participant on the same site is reached
	 * without using the link. To a peer that is down it does nothing. msg is copied.
	 */
	void (*send)(struct rt *rt, int peer, const struct rt_message *msg);
	/* RT_TIMER `timer` (0..7) after ns; replaces a pending one; ns < 0 cancels. */
	void (*timer)(struct rt *rt, int timer, int64_t ns);
	/* The accelerator's state from now on. */
	void (*state)(struct rt *rt, enum state state);
	void (*report)(struct rt *rt, const struct rt_report *report);
	/* This participant has done its steps; it stays to serve others. State becomes idle. */
	void (*done)(struct rt *rt);
};

/* One participant's runtime; runtimes embed it. */
struct rt {
	const struct rt_ops *ops;
	const struct job *job;
	int self; /* participant */
};

static inline void rt_compute(struct rt *rt, int64_t ns)
{
	rt->ops->compute(rt, ns);
}

static inline void rt_send(struct rt *rt, int peer, const struct rt_message *msg)
{
	rt->ops->send(rt, peer, msg);
}

static inline void rt_timer(struct rt *rt, int timer, int64_t ns)
{
	rt->ops->timer(rt, timer, ns);
}

static inline void rt_state(struct rt *rt, enum state state)
{
	rt->ops->state(rt, state);
}

static inline void rt_report(struct rt *rt, const struct rt_report *report)
{
	rt->ops->report(rt, report);
}

static inline void rt_done(struct rt *rt)
{
	rt->ops->done(rt);
}

/* A strategy: how a job's participants keep in step. */
struct strategy {
	const char *name;
	const char *summary; /* one line for --help and docs */
	/* An instance for rt->self (learner or syncer). Owned by the caller. */
	void *(*create)(struct rt *rt);
	void (*event)(void *self, struct rt *rt, const struct rt_event *event);
	void (*destroy)(void *self);
	/* Planning, all per exchange (one round of one fragment, or of one step): */
	/* payload bytes that `participant` sends over the link in exchange `round`, loss-free */
	int64_t (*bytes_sent)(const struct job *job, int participant, int64_t round);
	/* f: bytes a learner's busiest direction carries per byte of payload */
	double (*factor)(const struct job *job);
	/* steps between two exchanges of the same parameter (1 for data-parallel) */
	int64_t (*period)(const struct job *job);
	/* steps within which what was computed is merged or checkpointed when all goes well */
	int64_t (*settles)(const struct job *job);
	/* time of one exchange without contention, facts: collective formulas; alpha one way in ns,
	   goodput in bit/s of payload */
	int64_t (*exchange_bound_ns)(const struct job *job, int64_t alpha_ns, double goodput_bps);
};

extern const struct strategy strategy_data_parallel;
extern const struct strategy strategy_diloco;
extern const struct strategy strategy_streaming_diloco;
extern const struct strategy strategy_decoupled_diloco;

const struct strategy *strategy_find(const char *name); /* NULL if there is none */
const struct strategy *strategy_at(size_t i);		/* NULL past the end */
