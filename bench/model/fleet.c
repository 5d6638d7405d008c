/*
 * A fleet's case: the renewal model once per seed, and the record of it. A figure is a mean over
 * the seeds with its 95 % interval; an expectation is held against the mean.
 */
#include "bench/model/fleet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/model/renewal.h"
#include "bench/model/renewal_plan.h"
#include "bench/verdict.h"

/* One value per seed. */
struct runs {
	size_t n;
	double *goodput, *uptime;
	double shares[FLEET_BUCKETS], interruptions; /* sums */
};

static void assume_time(
	struct record_case *c, const char *symbol, const char *meaning, double seconds)
{
	char text[64];

	quantity_format(text, sizeof text, QUANTITY_TIME, llround(seconds * 1e9), false);
	record_assume(c, symbol, meaning, "%s", text);
}

static void assume_stops(struct record_case *c, const struct fleet *f)
{
	record_assume(c, "", "elastic", "%s",
		f->elastic ? "yes: a learner goes on without the chips in repair"
			   : "no: a learner stops as a whole");
	assume_time(c, "r", f->elastic ? "repair of the chips that left" : "repair and restart",
		(double)f->repair_ns / 1e9);
	if (f->elastic) {
		record_assume(c, "g", "chips that leave together", "%lld", (long long)f->replica);
		assume_time(c, "", "stop to scale down", (double)f->scale_down_ns / 1e9);
		assume_time(c, "", "stop to scale up", (double)f->scale_up_ns / 1e9);
	}
	record_assume(c, "", "interruption of a stopped learner", "%s",
		f->repeat ? "begins its stop anew" : "none");
}

static void assume(struct record_case *c, const struct scenario *s, const struct fleet_plan *plan)
{
	const struct fleet *f = &s->fleet;
	char chips[64];

	quantity_format(chips, sizeof chips, QUANTITY_COUNT, f->chips, true);
	record_assume(c, "n", "chips", "%s", chips);
	assume_time(
		c, "1/l", "mean time between interruptions of a chip", (double)f->mtbf_ns / 1e9);
	assume_time(c, "", "of the fleet", plan->fleet_mtbf_s);
	record_assume(c, "M", "learners, independent of each other", "%d", f->learners);
	record_assume(c, "K", "learners that must be up (quorum)", "%d", f->quorum);
	assume_stops(c, f);
	if (f->checkpoint_every_ns) {
		assume_time(c, "tau", "computing between checkpoints",
			(double)f->checkpoint_every_ns / 1e9);
		assume_time(c, "d", "cost of a checkpoint", (double)f->checkpoint_cost_ns / 1e9);
	} else {
		record_assume(c, "tau", "computing between checkpoints", "0: no work is lost");
	}
	assume_time(c, "", "simulated, each run", (double)f->duration_ns / 1e9);
}

/* The time the runs take here, by those that are done. */
static void tell(
	const struct case_context *context, const struct scenario *s, size_t done, int64_t begun_ns)
{
	double at_s = (double)(clock_now_ns() - begun_ns) / (double)NS_PER_S;

	if (at_s < 1)
		return;
	progress_update(
		context->progress, &(struct progress_state){
					   .case_name = s->case_name[0] ? s->case_name : s->title,
					   .case_index = context->index,
					   .n_cases = context->n_cases,
					   .at_s = at_s,
					   .expected_s = at_s / (double)done * s->fleet.seeds,
					   .dilation = 1,
					   .useful_work = NAN,
					   .wire_bps = NAN,
				   });
}

static void take(struct runs *runs, const struct renewal *r, const struct fleet *f)
{
	double all = (double)f->chips * (double)f->duration_ns;

	runs->goodput[runs->n] = renewal_goodput(r, f);
	runs->uptime[runs->n] = renewal_uptime(r, f);
	for (int b = 0; b < FLEET_BUCKETS; b++)
		runs->shares[b] += (double)r->in[b] / all;
	runs->interruptions += (double)r->interruptions;
	runs->n++;
}

static int simulate(struct runs *runs, const struct scenario *s, const struct case_context *context,
	struct error *err)
{
	int64_t begun_ns = clock_now_ns();

	for (int i = 0; i < s->fleet.seeds; i++) {
		struct renewal r;

		if (case_interrupted(context))
			return error_set(err, -EINTR, STATUS_INVALID, "interrupted");
		renewal_run(&r, &s->fleet, s->seed + (uint64_t)i);
		take(runs, &r, &s->fleet);
		tell(context, s, runs->n, begun_ns);
	}
	return 0;
}

static void record_runs(struct record_case *c, const struct runs *runs)
{
	struct record_fleet *fleet = c->fleet;
	double n = (double)runs->n; /* 0 / 0 is unknown */

	record_spread(&fleet->goodput, runs->goodput, runs->n);
	record_spread(&fleet->uptime, runs->uptime, runs->n);
	fleet->shares = (struct record_shares){
		.useful = runs->shares[FLEET_USEFUL] / n,
		.lost = runs->shares[FLEET_LOST] / n,
		.waiting = runs->shares[FLEET_WAITING] / n,
		.checkpoint = runs->shares[FLEET_CHECKPOINT] / n,
		.reconfigure = runs->shares[FLEET_RECONFIGURE] / n,
		.repair = runs->shares[FLEET_REPAIR] / n,
	};
	fleet->interruptions = runs->interruptions / n;
	c->useful_work = fleet->goodput.mean;
	c->availability = 1 - fleet->shares.reconfigure - fleet->shares.repair;
}

static void record_plan(struct record_case *c, const struct scenario *s)
{
	struct record_fleet *fleet = record_add_fleet(c);
	struct fleet_plan plan;

	fleet_plan_make(&plan, &s->fleet);
	for (size_t i = 0; i < s->n_set; i++)
		record_set_value(c, s->set[i].key, s->set[i].value);
	assume(c, s, &plan);
	fleet->chips = (double)s->fleet.chips;
	fleet->learners = s->fleet.learners;
	fleet->quorum = s->fleet.quorum;
	fleet->elastic = s->fleet.elastic;
	fleet->goodput_predicted = plan.goodput;
	fleet->uptime_predicted = plan.uptime;
	c->wall_s = (double)s->fleet.duration_ns / 1e9;
}

/* A mean that cannot be told from what was expected of it. */
static void note_undecided(struct record_case *c, const struct scenario *s)
{
	for (size_t i = 0; i < s->n_expect; i++) {
		const struct record_spread *of = s->expect[i].metric == METRIC_GOODPUT
							 ? &c->fleet->goodput
							 : &c->fleet->uptime;

		if (fabs(of->mean - s->expect[i].value) < of->ci95)
			record_note(c,
				"the expected %s lies within the mean's 95 %% interval: more seeds "
				"would decide it",
				metric_name(s->expect[i].metric));
	}
}

static void judge(struct record_case *c, const struct scenario *s, const struct error *err)
{
	c->partial = err->status != STATUS_HOLDS;
	verdict_expect(c, s, NULL);
	note_undecided(c, s);
	if (!c->partial)
		return;
	cleanup_free(&c->verdict);
	cleanup_free(&c->because);
	c->verdict = memory_string("partial");
	c->because = memory_string(err->text);
}

int fleet_case(struct record_case *c, const struct scenario *s, const struct case_context *context,
	struct error *err)
{
	struct runs runs = {
		.goodput = memory_zero((size_t)s->fleet.seeds, sizeof(double)),
		.uptime = memory_zero((size_t)s->fleet.seeds, sizeof(double)),
	};
	int r;

	record_plan(c, s);
	r = simulate(&runs, s, context, err);
	record_runs(c, &runs);
	judge(c, s, err);
	free(runs.goodput);
	free(runs.uptime);
	return r;
}
