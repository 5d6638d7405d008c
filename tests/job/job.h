/* A small job to change fields of: 4 learners, 1 s steps, 24 MB payload. */
#pragma once

#include "base/clock.h"
#include "bench/runtime.h"

static inline struct job job_make(int n_learners, enum syncer syncer)
{
	struct job job = {
		.seed = 1,
		.n_learners = n_learners,
		.syncer = syncer,
		.parameters = 12000000,
		.bits = 16,
		.step_ns = NS_PER_S,
		.steps = 24,
		.warmup = 0,
		.period = 6,
		.fragments = 6,
		.overlap = 2,
		.quorum = 1,
		.tokens = 1000,
		.buckets = 8,
		.state_bytes = 96000000,
	};

	for (int i = 0; i < LEARNERS_MAX; i++)
		job.speed[i] = 1;
	return job;
}
