/*
 * The syncer of decoupled-diloco: one participant on its own site (star), or one shard of it on
 * each learner's site. It merges each fragment round by round.
 *
 * A round is merged when K learners have contributed to it and a grace window has passed, which
 * is a part of the time that is left until the first of them would have to stall:
 *     slack = tau * step - (quorum time + sync time),  grace = gamma * slack, or 0 if slack < 0.
 * quorum time: from the first contribution's sending to the quorum's arrival. sync time: how long
 * a contribution takes over the link, which is what the answer of the same size will take. Both
 * are exponential moving averages, x += (measured - x) / 8. step is the nominal step time of the
 * fastest contributor: measured ones would contain the stalls that the window must not cause.
 * When every learner that can contribute has, there is nothing to wait for.
 *
 * A contribution to a round merged already is late: it is answered at once with the merged
 * state, and its delta, tokens and steps count in the fragment's next merge. A learner whose
 * send was skipped leaves its round to the others; contributions of several rounds that only
 * together have K contributors are merged together, in the latest of these rounds.
 */
#pragma once

#include <stdint.h>

#include "bench/runtime.h"

#define SYNCER_AVERAGE 8 /* an exponential moving average takes in 1/8 of each new value */

struct syncer_state;

struct syncer_state *syncer_new(struct rt *rt);
struct syncer_state *syncer_free(struct syncer_state *s); /* accepts NULL */
void syncer_event(struct syncer_state *s, const struct rt_event *event);

/* Merge weight of a learner: tokens * (tokens / steps) since its last merge. steps > 0. */
double syncer_weight(uint64_t tokens, uint64_t steps);
/* The grace window of facts: 0 when there is no slack. */
int64_t syncer_grace_ns(
	double gamma, int overlap, int64_t step_ns, double quorum_ns, double sync_ns);

/* Participants that are syncers, and which part of a payload the k-th of them holds. */
int syncer_count(const struct job *job);
int64_t syncer_share(const struct job *job, int64_t bytes, int k);
