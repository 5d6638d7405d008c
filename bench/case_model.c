/* One case in simulated time; see case.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/heap.h"
#include "base/memory.h"
#include "bench/case.h"
#include "bench/links.h"
#include "bench/model/model.h"
#include "bench/observe.h"
#include "bench/progress.h"
#include "bench/verdict.h"

struct stage {
	const struct scenario *given;
	struct scenario scenario; /* the same at its own pace: nothing is dilated but TCP */
	const struct case_context *context;
	bool interrupted;
	struct plan plan;
	struct fault *faults;
	size_t n_faults;
	struct link_plan links;
	struct observation observation;
	struct outcome outcome;
};

/* The counters without their histogram, which the model leaves empty. */
static void link_counters(const void *links, int site, enum direction d, struct link_stats *out)
{
	const struct link_stats(*stats)[DIRECTIONS] = links;

	memcpy(out, &stats[site][d], offsetof(struct link_stats, lateness));
	out->lateness.count = 0;
}

static void update_progress(const struct stage *st, int64_t at_ns)
{
	const struct scenario *s = &st->scenario;
	struct ledger_totals totals;

	if (!st->context->progress)
		return;
	observation_totals(&st->observation, at_ns, &totals);
	progress_update(st->context->progress,
		&(struct progress_state){
			.case_name = s->case_name[0] ? s->case_name : s->title,
			.case_index = st->context->index,
			.n_cases = st->context->n_cases,
			.at_s = (double)at_ns / NS_PER_S,
			.expected_s = (double)st->plan.expected_wall_ns / NS_PER_S,
			.dilation = 1,
			.simulated = true,
			.useful_work = totals.useful_work,
			.wire_bps = NAN,
		});
}

static int on_tick(void *user, int64_t at_ns)
{
	struct stage *st = container_of((struct observation *)user, struct stage, observation);

	observe_links(user, at_ns);
	update_progress(st, at_ns);
	st->interrupted |= case_interrupted(st->context);
	return st->interrupted;
}

static void set_up(struct stage *st, const struct scenario *s, const struct case_context *context)
{
	st->context = context;
	st->given = s;
	st->scenario = *s;
	st->scenario.dilation = 1;
	plan_make(&st->plan, &st->scenario);
	st->n_faults = fault_schedule(
		s->faults, s->n_faults, s->seed, s->job.n_learners, s->limit_ns, &st->faults);
	links_make(&st->links, &st->scenario, st->faults, st->n_faults);
	st->outcome.links = memory_zero((size_t)s->n_sites, sizeof *st->outcome.links);
	st->observation = (struct observation){
		.scenario = &st->scenario,
		.stats = link_counters,
		.links = st->outcome.links,
		.link_plan = &st->links,
		.folder = context->folder,
		.case_index = (int)context->index,
	};
	observation_begin(&st->observation);
}

static int simulate(struct stage *st, struct error *err)
{
	const struct observer observer = {
		.user = &st->observation,
		.state = observe_state,
		.report = observe_report,
		.done = observe_done,
		.fault = observe_fault,
		.silence = observe_silence,
		.tick = on_tick,
	};

	int r = model_run(
		st->given, st->faults, st->n_faults, &st->links, &observer, &st->outcome, err);

	if (r >= 0 && st->interrupted)
		return error_set(err, -EINTR, STATUS_INVALID, "interrupted");
	return r;
}

static void take_down(struct stage *st)
{
	links_release(&st->links, st->scenario.n_sites);
	observation_release(&st->observation);
	free(st->outcome.links);
	free(st->faults);
}

int case_model(struct record_case *c, const struct scenario *s, const struct case_context *context,
	struct error *err)
{
	_free_ struct stage *st = memory_zero(1, sizeof *st);
	int r;

	set_up(st, s, context);
	verdict_plan(c, &st->scenario, &st->plan);
	r = simulate(st, err);
	if (r >= 0 || st->interrupted) {
		observation_end(&st->observation, st->outcome.wall_ns);
		verdict_make(c, &st->observation,
			&(struct verdict_input){
				.plan = &st->plan,
				.outcome = &st->outcome,
				.faults = st->faults,
				.n_faults = st->n_faults,
				.relay_cpu = NAN,
				.simulated = true,
				.partial = st->interrupted,
				.why_partial = err->text,
			});
	}
	take_down(st);
	return r;
}
