/*
 * A case in simulated time: the same strategies, faults and links as on real packets, in one
 * process and as fast as it goes. How: docs/model.md.
 */
#pragma once

#include "bench/observer.h"

/*
 * Runs a case and fills *out; out->links must be there. links are the scenario's with its
 * blackouts, not dilated; s->dilation is taken for what it does to TCP's own timers (tcp.h). The
 * observer's tick comes at time 0, every 100 ms of simulated time in runs of up to 10 min of
 * compute, every second in those of up to 4 h, every 10 s in longer ones, and at the end. No state
 * is kept: runs may follow each other, and the same arguments give the same calls and the same
 * outcome, everywhere. Never fails today; err is for what a later one may find.
 */
int model_run(const struct scenario *s, const struct fault *faults, size_t n_faults,
	const struct link_plan *links, const struct observer *observer, struct outcome *out,
	struct error *err);
