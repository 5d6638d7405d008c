/*
 * Strategies for tests of the live runtime, as small as can be.
 *
 * exchange: after each step every learner sends payload to every other learner and waits for
 * theirs of the same step. Payload on the wire is steps * n (n - 1) * payload bytes, exactly.
 *
 * gossip: the same without waiting. A learner that comes back asks the first peer it finds for
 * the state, which arrives as one message of job.state_bytes, and does all its steps again.
 *
 * afterthought: done at once; 50 ms later it tells job.steps exchanges, all at the same time.
 *
 * The payload of a message is job_payload_bytes().
 */
#pragma once

#include "bench/runtime.h"

extern const struct strategy strategy_exchange;
extern const struct strategy strategy_gossip;
extern const struct strategy strategy_afterthought;
