/*
 * What a case's engine tells while it runs, and what is known when it has ended: the same from
 * real packets (bench/live) and from simulated time (bench/model).
 */
#pragma once

#include "bench/fault.h"
#include "bench/scenario/scenario.h"
#include "emu/backend.h"

struct tcp_sample;

/*
 * Something that happened, for the record; times are the scenario's. Those of one participant
 * come in order of time; those of several may come a little out of order. Any may be NULL.
 */
struct observer {
	void *user;
	/* the participant's accelerator entered a state (down and recover included) */
	void (*state)(void *user, int participant, int64_t at_ns, enum state state);
	/*
	 * What the strategy reports. Exchanges that are finished only while the run is drained,
	 * after its end, are told as of the end: their payload is counted as sent.
	 */
	void (*report)(void *user, int participant, int64_t at_ns, const struct rt_report *report);
	/* the participant has done its steps (rt_done); STATE_IDLE was told just before */
	void (*done)(void *user, int participant, int64_t at_ns);
	/* a fault begins or ends */
	void (*fault)(void *user, const struct fault *fault, bool begins, int64_t at_ns);
	/* a peer has been silent for the scenario's silence_ns, or is heard again */
	void (*silence)(void *user, int participant, int peer, bool silent, int64_t at_ns);
	/* TCP_INFO of a participant's connections to one peer site, taken about twice a second */
	void (*tcp)(
		void *user, int participant, int peer, int64_t at_ns, const struct tcp_sample *tcp);
	/*
	 * For sampling the links: on real packets every 100 ms of real time, in simulated time
	 * as model.h says. Returns nonzero to stop the run. Before time zero at_ns is -1: nothing
	 * to sample, but the run can be stopped.
	 */
	int (*tick)(void *user, int64_t at_ns);
	/* before time zero, at every tick: n_up of n_pairs pairs on
	 * different sites are connected */
	void (*connecting)(void *user, int n_up, int n_pairs);
	/* the participant's agent did not run for so long (2 s of real time
	 * or more), until at_ns */
	void (*still)(void *user, int participant, int64_t at_ns, int64_t for_ns);
	/* as still, of the process that observes: what it does on time was not done in that time */
	void (*absent)(void *user, int64_t at_ns, int64_t for_ns);
};

struct tcp_sample {
	int64_t rtt_ns, min_rtt_ns; /* smoothed, mean over connections; least seen */
	uint64_t cwnd_segments;	    /* sum over connections */
	uint64_t retransmits;	    /* total so far, sum over connections */
	uint64_t delivery_bps;	    /* sum of the kernel's delivery rate estimates */
	/*
	 * So far, sums over connections: how long there was something to send or unacknowledged;
	 * how much of that the peer's window, or the send buffer, and not the network held it up.
	 */
	int64_t busy_ns, window_limited_ns, buffer_limited_ns;
};

/* What a participant put on the link and took from it. */
struct traffic {
	uint64_t payload_sent, payload_received; /* over the link; all incarnations together */
	uint64_t framing_sent, framing_received; /* our headers, over the link */
	uint64_t local_sent;			 /* payload to participants on the same site */
};

/* TCP payload of a ping, and of its answer, by which idle_rtt_ns is measured. */
#define PING_BYTES 32

enum run_end { END_DONE, END_LIMIT, END_STOPPED };

struct outcome {
	enum run_end end;
	int64_t wall_ns; /* scenario time from zero to the end */
	int n_participants;
	struct traffic bytes[PARTICIPANTS_MAX];
	int64_t idle_rtt_ns[SITES_MAX][SITES_MAX]; /* before time zero; -1: not measured */
	/*
	 * Where an engine that is its own links counts, [site][direction], kept up to date at every
	 * tick and at the end: the caller's, zeroed, its histograms unused. A backend's links are
	 * counted by the backend.
	 */
	struct link_stats (*links)[DIRECTIONS];
};
