/*
 * A runtime in virtual time, for tests: the model's world (bench/model/world.h) over lines whose
 * arithmetic is exact to the ns, with what a network may do to a strategy on top.
 *
 * What it models. Every site has an uplink and a downlink, each a FIFO serialiser at a rate;
 * between any two sites lies one delay. A message is cut into `pieces`; the downlink starts on a
 * piece when its first bit arrives (cut-through), so two equal links in a row take the time of
 * one, and a piece from a slower uplink holds a faster downlink up for at most itself. jitter_ns
 * delays every piece by a draw of its own, so that messages overtake one another.
 *
 * What it does not: TCP (no slow start, windows, headers, loss), sharing other than FIFO, and
 * CPU time. A crash removes what its victim had not yet put on the line; the others learn of it
 * after a draw between detect_ns / 2 and detect_ns, of its return likewise after restart. What
 * arrives from a peer that is back makes its return known first.
 */
#pragma once

#include "bench/fault.h"
#include "bench/ledger.h"
#include "bench/runtime.h"

struct virtual_setup {
	const struct job *job;
	const struct strategy *strategy;
	int64_t rate_bps;   /* every link, each direction; 0: infinite */
	int64_t hub_bps;    /* a star syncer's link instead; 0: as the others */
	int64_t one_way_ns; /* between any two sites */
	int64_t jitter_ns;  /* on top, per piece */
	int pieces;	    /* a message is cut into at most so many; 0: 1 */
	int64_t detect_ns;
	bool strangers; /* a restarted participant meets its peers one by one */
	bool stale;	/* what is cancelled comes nevertheless, at once */
	const struct fault *crashes;
	size_t n_crashes;
	int64_t limit_ns; /* gives up; 0: never */
	bool run_on;	  /* until nothing happens any more, not until all are done */
	void *user;
	void (*on_report)(void *user, int self, int64_t at_ns, const struct rt_report *report);
	void (*on_send)(void *user, int self, int peer, int64_t at_ns, const struct rt_message *m);
};

struct virtual_result {
	bool all_done; /* every learner has said so */
	int64_t end_ns;
	struct ledger ledger[PARTICIPANTS_MAX];
	int64_t started_ns[PARTICIPANTS_MAX];
	int64_t done_ns[PARTICIPANTS_MAX];     /* when a learner first said so; -1 */
	int64_t sent_bytes[PARTICIPANTS_MAX];  /* payload given to the link */
	int64_t local_bytes[PARTICIPANTS_MAX]; /* payload to participants on the same site */
	int64_t up_bytes[PARTICIPANTS_MAX];    /* per site: payload that left by the uplink */
	int64_t last_step[PARTICIPANTS_MAX];   /* greatest of REPORT_STEP; -1 */
	double merges[PARTICIPANTS_MAX];
	int crashes; /* that happened */
};

void virtual_run(const struct virtual_setup *setup, struct virtual_result *out);
