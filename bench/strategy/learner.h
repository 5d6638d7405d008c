/*
 * What every strategy's learner does alike: reports, and the bookkeeping of steps around the
 * warm-up.
 */
#pragma once

#include "base/clock.h"
#include "bench/runtime.h"

static inline void report_number(struct rt *rt, enum rt_report_kind kind, int64_t a)
{
	const struct rt_report report = {.kind = kind, .a = a};

	rt_report(rt, &report);
}

/* Steps that count among those completed before `step`: those after the warm-up. */
static inline int64_t steps_counted(const struct job *job, int64_t step)
{
	return step > job->warmup ? step - job->warmup : 0;
}

/* amount > 0 steps became useful or were lost; says nothing of none. */
static inline void report_amount(struct rt *rt, enum rt_report_kind kind, double amount)
{
	const struct rt_report report = {.kind = kind, .amount = amount};

	if (amount > 0)
		rt_report(rt, &report);
}

/* Before step `step` begins: accounting starts with the first that counts. */
static inline void report_measure(struct rt *rt, int64_t step, bool *measured)
{
	if (*measured || step < rt->job->warmup)
		return;
	*measured = true;
	report_number(rt, REPORT_MEASURE, rt->job->warmup);
}

/* An exchange has finished at this learner. */
static inline void report_exchange(
	struct rt *rt, int64_t round, int64_t fragment, int64_t weight, int64_t took_ns)
{
	const struct rt_report report = {
		.kind = REPORT_EXCHANGE,
		.a = round,
		.b = fragment,
		.c = weight,
		.amount = (double)took_ns / NS_PER_S,
	};

	rt_report(rt, &report);
}

static inline bool job_finished(const struct job *job, int64_t step)
{
	return step >= job->warmup + job->steps;
}

/*
 * Step `step` begins, if it is one of the job's: the accelerator computes, for the time that is
 * returned. 0: all steps are done, and nothing was begun.
 */
static inline int64_t begin_step(struct rt *rt, int64_t step, bool *measured)
{
	int64_t ns;

	report_measure(rt, step, measured);
	if (job_finished(rt->job, step))
		return 0;
	ns = job_step_ns(rt->job, rt->self, step);
	rt_state(rt, STATE_COMPUTE);
	rt_compute(rt, ns);
	return ns;
}

/* Steps between two exchanges of the same parameter: struct strategy's period. */
static inline int64_t outer_period(const struct job *job)
{
	return job->period;
}

/* A fragment goes every H steps and is merged tau steps later. */
static inline int64_t outer_settles(const struct job *job)
{
	return job->period + job->overlap;
}
