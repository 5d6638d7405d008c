/*
 * The follower: a process that changes the links' qdiscs when their profiles say so. Packets
 * are the kernel's business; if the follower dies, the links stay as they are.
 */
#pragma once

#include <stdatomic.h>

#include "emu/netem/gateway.h"
#include "emu/netem/stage.h"

/* Netem counts all its drops as one: those before the last change of cause, by cause. */
struct follower_drops {
	_Atomic uint64_t before[DROP_CAUSES];
	_Atomic uint64_t counted; /* their sum */
	_Atomic int cause;	  /* of those since */
};

/* What the program and the follower share. */
struct follower_shared {
	struct follower_drops drops[SITES_MAX][DIRECTIONS];
	_Atomic uint64_t queue_high[SITES_MAX][DIRECTIONS]; /* bytes, as seen by whoever looked */
	struct error err; /* written before the follower ends, if it had to */
};

struct follower_job {
	const struct topology *topology;
	const struct link_plan *plan;
	const int64_t *core_ns;	   /* by site: added to the delay UP */
	struct gateways *gateways; /* its own copy; the sockets are opened anew */
	struct follower_shared *shared;
	/* a struct error goes out when it is ready; scenario time zero comes in, an int64_t; its
	 * end is the end */
	int control_fd;
	pid_t program;
};

/*
 * Sets a direction's qdiscs for a state; was: what they are now, NULL when there are none yet.
 * Only what differs is touched.
 */
int follower_apply(struct gateway *w, enum direction d, const struct stage *is,
	const struct stage *was, struct error *err);

/* Is the follower: returns when the program has gone, or with shared->err set. */
void follower_main(const struct follower_job *job);
