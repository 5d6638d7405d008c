/*
 * The renewal model: a fleet of 10^4 to 10^7 chips as M learners that are interrupted, stop and
 * come back. No packet and no step is simulated, only what takes a learner's time: interruptions,
 * repair, reconfiguration, checkpoints, and waiting for a quorum. docs/fleet.md says what each
 * rule is and which closed formula it has to meet.
 *
 * Time is in integer nanoseconds and the ledger in integer chip-nanoseconds, so that the parts of
 * a run sum to chips times duration exactly. A run is a pure function of the fleet and the seed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FLEET_LEARNERS_MAX 1024

struct fleet {
	int64_t chips;	   /* 0: the scenario has no fleet */
	int64_t mtbf_ns;   /* mean time between interruptions of one chip; exponential */
	int learners;	   /* M; each has chips/M, the first chips%M of them one more */
	int quorum;	   /* K: nothing is computed while fewer learners are up */
	bool elastic;	   /* goes on without the chips that are being repaired */
	int64_t replica;   /* elastic: chips that leave together */
	int64_t repair_ns; /* elastic: of a replica; otherwise of the learner, restart included */
	int64_t scale_down_ns,
		scale_up_ns;	     /* elastic: the learner's stop as a replica leaves, joins */
	int64_t checkpoint_every_ns; /* of computing; 0: work is safe at once */
	int64_t checkpoint_cost_ns;
	bool repeat; /* an interruption of a stopped learner begins its stop anew */
	int64_t duration_ns;
	int seeds;
};

/* Where the chips' time went. */
enum fleet_bucket {
	FLEET_USEFUL,  /* computed, and not lost */
	FLEET_LOST,    /* computed, and lost with the state it was in */
	FLEET_WAITING, /* for the quorum */
	FLEET_CHECKPOINT,
	FLEET_RECONFIGURE, /* the learner is stopped to scale down or up */
	FLEET_REPAIR,	   /* being repaired, or repaired and waiting to join */
	FLEET_BUCKETS,
};
const char *fleet_bucket_name(enum fleet_bucket bucket);

__extension__ typedef unsigned __int128 chip_ns;

struct renewal {
	chip_ns in[FLEET_BUCKETS]; /* sums to chips * duration */
	int64_t up_ns;		   /* the time in which at least a quorum of learners was up */
	uint64_t interruptions;	   /* that stopped a learner, also one stopped already */
	uint64_t losses;	   /* of them: those that lost work */
	uint64_t events;	   /* of the simulation */
};

/* One run of the fleet. */
void renewal_run(struct renewal *out, const struct fleet *fleet, uint64_t seed);

/* Useful chip time / all chip time; time with a quorum / all time. */
double renewal_goodput(const struct renewal *r, const struct fleet *fleet);
double renewal_uptime(const struct renewal *r, const struct fleet *fleet);
