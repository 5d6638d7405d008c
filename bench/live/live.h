/*
 * The live runtime: one process per participant in its site's namespaces, real TCP between them.
 *
 * The controller (this interface) starts the agents, tells them when time zero is, kills and
 * restarts them on schedule, and gathers what they say. Agents talk to each other over the
 * links only; to the controller over a socket pair each, one way once started.
 */
#pragma once

#include "bench/observer.h"
#include "emu/topology.h"

/*
 * Runs one case on a topology whose links are up. links_start is called once, with the monotonic
 * time of scenario time zero (a little ahead) and the observer's user, when every agent is
 * connected. Blocks until all learners are done, the scenario's limit passed, tick asked to stop,
 * or an error (*out is not set then). All agents are gone on return.
 * STATUS_INVALID with -ETIMEDOUT: it could not begin, since two sites could not connect in a time
 * that fits the links (patience.h), or an agent does not run; the text says which and why.
 */
int live_run(const struct scenario *s, const struct topology *t, const struct fault *faults,
	size_t n_faults, void (*links_start)(void *user, int64_t t0_ns),
	const struct observer *observer, struct outcome *out, struct error *err);
