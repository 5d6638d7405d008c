/*
 * What a verdict assumes, as lines of a table: a yes or no without N, b, H, P, tau, T, f and M
 * is worth nothing, so they are part of every record, in the words the scenario uses.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/verdict.h"

#define TEXT 64

static void assume_quantity(struct record_case *c, const char *symbol, const char *meaning,
	enum quantity kind, int64_t value)
{
	char text[TEXT];

	record_assume(
		c, symbol, meaning, "%s", quantity_format(text, sizeof text, kind, value, true));
}

static bool is_decoupled(const struct scenario *s)
{
	return s->job.syncer != SYNCER_NONE;
}

static void assume_step(struct record_case *c, const struct scenario *s)
{
	char text[TEXT], spread[TEXT] = "";

	quantity_format(text, sizeof text, QUANTITY_TIME, s->job.step_ns, true);
	if (s->job.step_spread)
		snprintf(spread, sizeof spread, " ± %.3g %%",
			100 * (double)s->job.step_spread / (double)RATIO_ONE);
	record_assume(c, "T", "compute time of one training step", "%s%s", text, spread);
}

static void assume_sync(struct record_case *c, const struct scenario *s, const struct plan *plan)
{
	record_assume(c, "H", "steps between two exchanges of the same parameter", "%lld",
		(long long)plan->period);
	if (plan->period > 1) {
		record_assume(c, "P", "fragments the parameters are split into", "%lld",
			(long long)plan->exchanges_per_period);
		record_assume(c, "tau", "steps an exchange may overlap", "%d", s->job.overlap);
	}
	if (is_decoupled(s)) {
		record_assume(c, "", "syncer", "%s",
			s->job.syncer == SYNCER_STAR ? "star, on a site of its own"
						     : "sharded over the sites");
		record_assume(
			c, "K", "contributions a merge waits for (quorum)", "%d", s->job.quorum);
		record_assume(
			c, "gamma", "share of the slack spent as grace window", "%g", s->job.grace);
	}
}

static void assume_link(struct record_case *c, const struct scenario *s, const struct plan *plan)
{
	assume_quantity(c, "R", "narrowest link of a learner, on the wire", QUANTITY_RATE,
		(int64_t)plan->rate_bps);
	if (s->job.syncer == SYNCER_STAR)
		assume_quantity(c, "", "the syncer's link, which carries M times as much",
			QUANTITY_RATE, (int64_t)plan->syncer_rate_bps);
	assume_quantity(c, "RTT", "longest round trip between two sites, idle", QUANTITY_TIME,
		2 * plan->one_way_ns);
	record_assume(c, "k", "TCP connections per pair", "%d, %s%s", s->transport.connections,
		s->transport.congestion[0] ? s->transport.congestion : "the kernel's default",
		s->transport.slow_start_after_idle ? ", slow start after idle" : "");
	assume_quantity(c, "", "socket buffers, each", QUANTITY_BYTES, s->transport.buffer_bytes);
}

static void note(void *user, const char *sentence)
{
	record_note(user, "%s", sentence);
}

void verdict_plan(struct record_case *c, const struct scenario *s, const struct plan *plan)
{
	for (size_t i = 0; i < s->n_set; i++)
		record_set_value(c, s->set[i].key, s->set[i].value);
	c->strategy = memory_string(s->strategy->name);
	c->predicted_utilisation = plan->predicted_utilisation;
	c->exchange_predicted_s = (double)plan->exchange_bound_ns / (double)NS_PER_S;
	record_assume(c, "", "strategy", "%s", s->strategy->name);
	record_assume(c, "M", "learners, one per site", "%d", s->job.n_learners);
	assume_quantity(c, "N", "parameters", QUANTITY_COUNT, s->job.parameters);
	assume_quantity(c, "b", "bits per exchanged parameter", QUANTITY_BITS, s->job.bits);
	assume_step(c, s);
	assume_sync(c, s, plan);
	record_assume(
		c, "f", "bytes on a learner's link per byte of payload", "%.4g", plan->factor);
	assume_link(c, s, plan);
	plan_check_links(plan, s, note, c);
	for (int i = 0; i < PLAN_TARGETS; i++)
		record_need(c, plan_targets[i], plan->needed_bps[i],
			(double)plan->boundary_step_ns[i] / (double)NS_PER_S);
}
