/*
 * Whether the machine kept up with a run: what its processors did meanwhile, and how long the
 * program's processes had to wait for one. A link whose users are starved looks slow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/measure/busy.h"

#define HEADROOM_CHILDREN 256

struct headroom {
	int relay_pid; /* 0: the kernel carries the links */
	int64_t began_ns, window_ns;
	double relay_s, children_s; /* CPU used when it began */
	uint64_t softirq;
	int n_cpus;
	uint64_t all[BUSY_CPUS], idle[BUSY_CPUS]; /* when the window began */
	double saturated_s, watched_s;
	int n_children;
	struct {
		int pid;
		uint64_t first_ns, last_ns; /* waited for a processor so far */
	} children[HEADROOM_CHILDREN];
};

/* Shares of one processor, but for saturated: of the time. NaN: unknown. */
struct headroom_result {
	double relay, agents, softirq;
	double saturated; /* when no processor was ever idle */
	double waited;	  /* by the process that waited most for a processor */
};

/* At time zero, then every tenth of a second or so, then when the agents have been reaped. */
void headroom_begin(struct headroom *h, int relay_pid);
void headroom_tick(struct headroom *h);
void headroom_end(struct headroom *h, struct headroom_result *out);
