/*
 * The relay's process: reads the sites' devices, carries packets through the engine, writes
 * them when they are due.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "emu/relay/tally.h"

/* What the program and the relay share. */
struct relay_shared {
	_Atomic int64_t epoch_ns; /* scenario time zero; DIRECTION_NO_EPOCH until it is known */
	_Atomic int64_t alive_ns; /* when the relay last went through its loop; 0: not yet */
	struct tally tally;
	struct link_stats stats[SITES_MAX][DIRECTIONS];
};

#define RELAY_TURN_MS 100 /* it does so at least this often */

struct relay_job {
	const struct link_plan *plan;
	int n_sites;
	int tun_fds[SITES_MAX];
	int control_fd; /* tells the program when the links work; end of file: end */
	pid_t program;
	struct relay_shared *shared;
};

/*
 * Is the relay. Sends one struct error over control_fd, STATUS_HOLDS when the links work, and
 * returns when the program has gone or the job cannot be done. To be called in a process that
 * was forked for it: it gives up its rights and every file it does not need.
 */
void relay_main(const struct relay_job *job);
