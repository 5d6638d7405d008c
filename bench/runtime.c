/*
 * The arithmetic of a job: durations, shares, payload sizes; and the names of what strategies
 * report. Everything is integers, or single double operations that IEEE 754 rounds the same
 * way everywhere, so that a scenario and a seed give the same times on any machine.
 */
#include "bench/runtime.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"

int64_t job_step_ns(const struct job *job, int learner, int64_t step)
{
	const int64_t one = INT64_C(1) << 52;
	int64_t mean = llround((double)job->step_ns / job->speed[learner]);
	uint64_t draw = random_u64(job->seed, (uint32_t)learner, RANDOM_COMPUTE, (uint64_t)step);
	int64_t u = (int64_t)(draw >> 11) - one; /* [-1, 1) in units of 2^-52 */
	__int128 width = (__int128)mean * job->step_spread / RATIO_ONE;
	int64_t ns = mean + (int64_t)(width * u / one);

	return ns < 1 ? 1 : ns;
}

int64_t share_of(int64_t total, int64_t i, int64_t n)
{
	return (int64_t)((__int128)total * (i + 1) / n - (__int128)total * i / n);
}

int64_t job_payload_bytes(const struct job *job)
{
	return (int64_t)(((__int128)job->parameters * job->bits + 7) / 8);
}

int64_t job_fragment_bytes(const struct job *job, int fragment)
{
	return share_of(job_payload_bytes(job), fragment, job->fragments);
}

const char *rt_report_name(enum rt_report_kind kind)
{
	switch (kind) {
	case REPORT_STEP:
		return "step";
	case REPORT_MEASURE:
		return "measure";
	case REPORT_USEFUL:
		return "useful";
	case REPORT_LOST:
		return "lost";
	case REPORT_EXCHANGE:
		return "exchange";
	case REPORT_MERGE:
		return "merge";
	case REPORT_SKIP:
		return "skip";
	case REPORT_RECOVERED:
		return "recovered";
	case REPORT_ROLLBACK:
		return "rollback";
	case REPORT_CHECKPOINT:
		return "checkpoint";
	}
	return "unknown";
}

static const struct strategy *const strategies[] = {
	&strategy_data_parallel,
	&strategy_diloco,
	&strategy_streaming_diloco,
	&strategy_decoupled_diloco,
};

const struct strategy *strategy_at(size_t i)
{
	return i < sizeof strategies / sizeof *strategies ? strategies[i] : NULL;
}

const struct strategy *strategy_find(const char *name)
{
	const struct strategy *s;

	for (size_t i = 0; (s = strategy_at(i)); i++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}
