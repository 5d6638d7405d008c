/*
 * The learner of decoupled-diloco. After each H/P steps it sends one fragment to the syncer and
 * computes on; it never waits for another learner. With tau fragments in flight and none
 * answered it waits for an answer before it sends the next, or skips that send.
 *
 * One that comes back asks the syncer which learners have state, fetches it from one of them
 * (the next after itself, so that donors are spread; from the syncer when no learner has any),
 * asks again where the job is by then, and goes on from there: what it missed while it was down
 * is not done later.
 */
#pragma once

#include "bench/runtime.h"

struct contributor;

struct contributor *contributor_new(struct rt *rt);
struct contributor *contributor_free(struct contributor *c); /* accepts NULL */
void contributor_event(struct contributor *c, const struct rt_event *event);
