/*
 * A backend: what makes the links of a topology real. A dozen lines that the rest of the
 * program knows; everything else about a backend is its own business.
 *
 * Links follow their profile by themselves, changes over time included: `start` tells them when
 * scenario time zero is. Before that they are as at time zero and nothing is down.
 */
#pragma once

#include "base/stats.h"
#include "emu/link.h"
#include "emu/topology.h"

/* All links of a run: an access link per site and the core's delay
 * between sites. Already dilated. */
struct link_plan {
	uint64_t seed;
	double dilation; /* >= 1; the links are slowed already: for what is given in real time */
	struct link_direction links[SITES_MAX][DIRECTIONS];
	int64_t core_delay_ns[SITES_MAX][SITES_MAX]; /* [from][to] */
};

/* Counters of one direction since up; bytes count the overhead that the rate counts. */
struct link_stats {
	uint64_t packets;  /* super-packets that came in */
	uint64_t segments; /* wire segments that came in */
	uint64_t bytes;	   /* bytes that came in */
	uint64_t sent_segments,
		sent_bytes; /* what the serialiser put on the wire, lost ones included */
	uint64_t delivered_segments,
		delivered_bytes; /* what reached the far end of this direction */
	/*
	 * CLOCK_MONOTONIC: sent_bytes and delivered_bytes are those of this time, to the segment,
	 * so that a rate made from two of them is never above the link's.
	 */
	int64_t at_ns;
	uint64_t drop_segments[DROP_CAUSES], drop_bytes[DROP_CAUSES];
	uint64_t queue_high_bytes; /* high-water mark */
	/*
	 * DOWN: actual minus due time of what was handed to the site. UP: how long what came from
	 * the site may have waited, at most, before its time on the link began.
	 */
	struct histogram lateness;
};

struct backend_run;

struct backend {
	const char *name;
	/* Can this machine and user do it? STATUS_MACHINE with the remedy
	 * if not. Leaves nothing. */
	int (*probe)(struct error *err);
	/* Can it do these links, on any machine? STATUS_INPUT with what it cannot. */
	int (*suits)(const struct link_plan *plan, int n_sites, struct error *err);
	/* Devices and links for the topology's sites. plan is borrowed until down. */
	int (*up)(struct backend_run **out, const struct topology *t, const struct link_plan *plan,
		struct error *err);
	/* Scenario time zero is t0_ns (CLOCK_MONOTONIC). */
	void (*start)(struct backend_run *run, int64_t t0_ns);
	/* A consistent enough snapshot: each counter is exact, they may be a packet apart. */
	void (*stats)(
		const struct backend_run *run, int site, enum direction d, struct link_stats *out);
	/* The process that carries the links, for a watcher of its CPU time; 0
	 * if the kernel does. */
	int (*pid)(const struct backend_run *run);
	/* 0 while the links work; otherwise the reason they stopped (the relay died). */
	int (*verify)(struct backend_run *run, struct error *err);
	struct backend_run *(*down)(struct backend_run *run); /* accepts NULL, returns NULL */
};

extern const struct backend backend_relay, backend_netem;
