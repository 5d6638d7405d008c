/*
 * What a case's observer sees, folded into what its record needs: ledgers, exchange times, wire
 * rates. Rows for samples.csv, tcp.csv and events.csv go to the run folder as they come.
 */
#pragma once

#include "bench/ledger.h"
#include "bench/observer.h"
#include "results/folder.h"

#define WIRE_HISTORY 16 /* samples kept for the one-second peak, a twelfth of one apart or more */

/* One direction of one site's link, sampled at every tick. */
struct wire_meter {
	uint64_t first_bytes, last_bytes; /* sent_bytes at time zero and at the last tick */
	uint64_t delivered_bytes, drops;  /* at the last tick */
	int64_t last_ns;		  /* the time they are true for */
	size_t ticks;
	struct {
		int64_t at_ns;
		uint64_t bytes;
	} history[WIRE_HISTORY];
	double peak_1s_bps, last_1s_bps;
};

struct observation {
	const struct scenario *scenario;
	/* What a direction has carried so far. */
	void (*stats)(const void *links, int site, enum direction d, struct link_stats *out);
	const void *links; /* its first argument */
	const struct link_plan *link_plan;
	struct folder *folder; /* NULL: nothing is written */
	int case_index;
	struct ledger ledgers[PARTICIPANTS_MAX];
	double *exchange_s; /* of measured exchanges */
	size_t n_exchanges, room;
	double payload_expected;	    /* of all finished exchanges, warm-up included */
	uint64_t merges, contributors;	    /* at syncers */
	uint64_t silences;		    /* times a peer was found silent */
	int64_t still_ns[PARTICIPANTS_MAX]; /* its agent did not run, in all */
	struct {
		size_t n;	       /* times that this program stood still */
		int64_t at_ns, for_ns; /* the longest: until when, and how long */
	} absence;
	const struct fault
		*latest; /* the crash that was begun or repaired latest after its time; */
	int64_t late_ns; /* by so much */
	int64_t t0_ns;	 /* CLOCK_MONOTONIC of time zero, for the links' counters */
	uint64_t retransmits[PARTICIPANTS_MAX][PARTICIPANTS_MAX];
	/* by participant and peer, of the connections that they have now; see struct tcp_sample */
	struct held_up {
		int64_t busy_ns, window_ns, buffer_ns;
	} held_up[PARTICIPANTS_MAX][PARTICIPANTS_MAX];
	struct wire_meter wire[SITES_MAX][DIRECTIONS];
	int64_t last_tick_ns;
};

void observation_begin(struct observation *o);
void observation_release(struct observation *o);

/* The handlers of struct observer; user is the observation. */
void observe_state(void *user, int participant, int64_t at_ns, enum state state);
void observe_report(void *user, int participant, int64_t at_ns, const struct rt_report *report);
void observe_done(void *user, int participant, int64_t at_ns);
void observe_fault(void *user, const struct fault *fault, bool begins, int64_t at_ns);
void observe_silence(void *user, int participant, int peer, bool silent, int64_t at_ns);
void observe_tcp(
	void *user, int participant, int peer, int64_t at_ns, const struct tcp_sample *tcp);
void observe_still(void *user, int participant, int64_t at_ns, int64_t for_ns);
void observe_absent(void *user, int64_t at_ns, int64_t for_ns);
/*
 * Samples every link direction, as of the time that the backend says its counters are true for, or
 * at_ns where it says none.
 */
void observe_links(struct observation *o, int64_t at_ns);
/* Closes all ledgers that are still open. */
void observation_end(struct observation *o, int64_t at_ns);

/* Totals over the learners, as if the run ended at at_ns. */
void observation_totals(const struct observation *o, int64_t at_ns, struct ledger_totals *out);
/* Whether any learner has come out of its warm-up. */
bool observation_measured(const struct observation *o);

/*
 * When the last learner has done its steps, if each goes on at the pace of its measured ones so
 * far, and what is lost is made up for; no later than the scenario's limit. -1: a learner
 * has none yet.
 */
int64_t observation_end_ns(const struct observation *o, int64_t at_ns);

/* "site-3", or "syncer site-3" for a shard: what a participant is called in files. */
void participant_name(const struct scenario *s, int participant, char name[static 96]);
