/*
 * The live runtime: one process per participant in its site's namespaces, real TCP between them.
 *
 * The controller (this interface) starts the agents, tells them when time zero is, kills and
 * restarts them on schedule, and gathers what they say. Agents talk to each other over the
 * links only; to the controller over a socket pair each, one way once started.
 */
#pragma once

#include "bench/fault.h"
#include "bench/ledger.h"
#include "bench/scenario/scenario.h"
#include "emu/topology.h"

struct live_tcp;

/*
 * Something that happened, for the record; times are the scenario's. Those of one participant
 * come in order of time; those of several may come a little out of order. Any may be NULL.
 */
struct live_observer {
	void *user;
	/* the participant's accelerator entered a state (down and recover included) */
	void (*state)(void *user, int participant, int64_t at_ns, enum state state);
	/*
	 * What the strategy reports. Exchanges that are finished only while the run is drained, after
	 * its end, are told as of the end: their payload is counted as sent.
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
		void *user, int participant, int peer, int64_t at_ns, const struct live_tcp *tcp);
	/*
	 * Every 100 ms of real time, for sampling the links; returns nonzero to stop the run.
	 * Before time zero at_ns is -1: nothing to sample, but the run can be stopped.
	 */
	int (*tick)(void *user, int64_t at_ns);
};

struct live_tcp {
	int64_t rtt_ns, min_rtt_ns; /* smoothed, mean over connections; least seen */
	uint64_t cwnd_segments;	    /* sum over connections */
	uint64_t retransmits;	    /* total so far, sum over connections */
	uint64_t delivery_bps;	    /* sum of the kernel's delivery rate estimates */
};

/* What a participant put on and took from its sockets. */
struct live_bytes {
	uint64_t payload_sent, payload_received; /* over the link; all incarnations together */
	uint64_t framing_sent, framing_received; /* our headers, over the link */
	uint64_t local_sent;			 /* payload to participants on the same site */
};

/* TCP payload of a ping, and of its answer, by which idle_rtt_ns is measured. */
#define LIVE_PING_BYTES 32

enum live_end { LIVE_DONE, LIVE_LIMIT, LIVE_STOPPED };

struct live_result {
	enum live_end end;
	int64_t wall_ns; /* scenario time from zero to the end */
	int n_participants;
	struct live_bytes bytes[PARTICIPANTS_MAX];
	int64_t idle_rtt_ns[SITES_MAX][SITES_MAX]; /* before time zero; -1 if not measured */
};

/*
 * Runs one case on a topology whose links are up. links_start is called once, with the monotonic
 * time of scenario time zero (a little ahead) and the observer's user, when every agent is
 * connected. Blocks until all learners are done, the scenario's limit passed, tick asked to stop,
 * or an error (*out is not set then). All agents are gone on return.
 */
int live_run(const struct scenario *s, const struct topology *t, const struct fault *faults,
	size_t n_faults, void (*links_start)(void *user, int64_t t0_ns),
	const struct live_observer *observer, struct live_result *out, struct error *err);
