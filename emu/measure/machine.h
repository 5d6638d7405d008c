/*
 * What this machine carries: a short self-test with two sites, the backend's links between them,
 * and libiperf. About four seconds. A run's own agents are cheaper than libiperf, so the figures
 * are on the safe side.
 */
#pragma once

#include "emu/backend.h"

struct machine {
	double tcp_bps;	   /* on the wire, from super-packets, through one path */
	double packets_s;  /* datagrams of 1500 bytes a second */
	double late_p99_s; /* of packets against their due time on an idle 5 ms link */
};

/*
 * The process must be isolated. STATUS_MACHINE when an instrument fails; -EINTR when stop_fd, if
 * not NULL, is readable: the user wants the end.
 */
int machine_measure(
	struct machine *out, const struct backend *backend, const int *stop_fd, struct error *err);

/*
 * The least whole factor by which a scenario that sends aggregate_bps in all must be slowed, so
 * that it takes at most 50 % of what the machine carries; at least 1, at most 1000.
 */
double machine_dilation(const struct machine *m, double aggregate_bps);
