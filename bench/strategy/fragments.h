/*
 * When which fragment is sent, for strategies that exchange one of P at a time.
 *
 * Fragment p is sent after step t (t steps completed) when (t - t_p) mod H = 0, with the t_p
 * spread evenly: t_p = floor(p H / P). Numbered in order of time, exchange e = c P + p
 * (e >= 1) is round c of fragment p and falls at t = floor(e H / P). There is no exchange 0:
 * at t = 0 nothing has been computed.
 */
#pragma once

#include "bench/strategy/learner.h"

static inline int64_t exchange_step(const struct job *job, int64_t e)
{
	return (int64_t)((__int128)e * job->period / job->fragments);
}

static inline int exchange_fragment(const struct job *job, int64_t e)
{
	return (int)(e % job->fragments);
}

static inline int64_t exchange_round(const struct job *job, int64_t e)
{
	return e / job->fragments;
}

static inline int64_t exchange_bytes(const struct job *job, int64_t e)
{
	return job_fragment_bytes(job, exchange_fragment(job, e));
}

/* Payload of the largest fragment. */
static inline int64_t fragment_bytes_max(const struct job *job)
{
	return (job_payload_bytes(job) + job->fragments - 1) / job->fragments;
}
