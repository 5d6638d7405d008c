/*
 * An agent: the process of one participant. It connects to all others, runs the strategy's
 * state machine on the events that come, and tells the controller.
 */
#pragma once

#include "bench/live/news.h"

struct agent_setup {
	const struct scenario *scenario;
	int self;
	int control_fd;	    /* the agent's end of the pair */
	int64_t t0_ns;	    /* joining a run: its time zero; 0: the controller will tell */
	int64_t connect_ns; /* not joining: how long to try, real time */
	bool alive[PARTICIPANTS_MAX]; /* joining: who runs now */
	struct mesh_config mesh; /* own incarnation and what is known of the others' included */
	struct live_counters *counters;
};

/* Runs until told to stop or the controller is gone. Returns the exit status. */
int agent_run(const struct agent_setup *setup);
