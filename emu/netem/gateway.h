/*
 * Gateways: what stands between a site and the core, so that no qdisc is on a sender's own
 * egress, where TCP would be told of a drop at once.
 *
 *   site                near                    far                     core
 *   wan0 ------- "site"      "far" ------- "near"     "core" ------- "site-I"
 *
 * Near and far are network namespaces that forward. UP: the queue is at near's "far", delay and
 * loss at far's "core". DOWN: the queue is at far's "near", delay and loss at near's "site".
 */
#pragma once

#include "emu/backend.h"
#include "emu/netem/qdisc.h"
#include "emu/rtnl.h"

/* A device, and a socket in its namespace. */
struct port {
	struct nl_sock *sock; /* borrowed from the gateway */
	int index;
};

struct gateway {
	int near_fd, far_fd;
	struct nl_sock *site, *near, *far;
	struct port queue[DIRECTIONS];	 /* tbf is its root */
	struct port delay[DIRECTIONS];	 /* netem is its root */
	struct port inlet[DIRECTIONS];	 /* what comes in to the direction, before its queue */
	struct port hops[DIRECTIONS][3]; /* all that a direction's packets leave by */
};

struct gateways {
	int core_fd, n;
	struct nl_sock *core;
	struct gateway site[SITES_MAX];
};

/*
 * Namespaces, devices, addresses and routes for all sites, the site's own device included; no
 * qdisc yet. gateways_close takes everything back, a half-made one too.
 */
int gateways_open(struct gateways *g, const struct topology *t, struct error *err);
void gateways_close(struct gateways *g);

/*
 * Opens the sockets anew, for a process that was forked: the other keeps those it has.
 */
int gateways_reopen(struct gateways *g, const struct topology *t, struct error *err);
