/*
 * The verdict. An expectation is a comparison of a measured metric with a number; before any is
 * looked at, the run itself is: a link that was not the link it was told to be, or a relay that
 * was late, gives no verdict at all.
 */
#include "bench/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/fidelity.h"

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

double metric_value(const struct record_case *c, enum metric metric)
{
	double most = NAN;

	switch (metric) {
	case METRIC_USEFUL_WORK:
		return c->useful_work;
	case METRIC_COMPUTE_UTILISATION:
		return c->compute_utilisation;
	case METRIC_AVAILABILITY:
		return c->availability;
	case METRIC_WIRE_RATE:
		for (size_t i = 0; i < c->n_wire; i++)
			most = fmax(most, c->wire[i].mean_bps);
		return most;
	case METRIC_EXCHANGE_P50:
		return c->exchange_p50_s;
	case METRIC_EXCHANGE_P99:
		return c->exchange_p99_s;
	case METRIC_GOODPUT:
		return c->fleet ? c->fleet->goodput.mean : NAN;
	case METRIC_UPTIME:
		return c->fleet ? c->fleet->uptime.mean : NAN;
	case METRIC_COUNT:
		break;
	}
	return NAN;
}

static void add_participants(struct record_case *c, const struct observation *o)
{
	const struct scenario *s = o->scenario;
	char name[96];

	for (int p = 0; p < job_participants(&s->job); p++) {
		const struct ledger *l = &o->ledgers[p];
		bool learner = job_role(&s->job, p) == ROLE_LEARNER;
		struct record_participant *out;

		participant_name(s, p, name);
		out = record_add_participant(c, name, learner ? "learner" : "syncer",
			s->sites[job_site(&s->job, p)].name);
		for (int state = 0; state < STATE_COUNT; state++)
			out->ledger_s[state] = seconds(l->in_ns[state]);
		out->wall_s = seconds(ledger_wall_ns(l));
		out->steps_useful = l->steps_useful;
		out->steps_lost = l->steps_lost;
		out->steps_pending = ledger_steps_pending(l);
	}
}

static void add_exchanges(struct record_case *c, const struct observation *o)
{
	for (size_t i = 0; i < o->n_exchanges; i++)
		record_exchange(c, o->exchange_s[i]);
	record_exchange_summary(c);
}

static void add_direction(
	struct record_case *c, const struct observation *o, int site, enum direction d)
{
	const struct scenario *s = o->scenario;
	const struct wire_meter *m = &o->wire[site][d];
	struct record_wire *w = record_add_wire(c, s->sites[site].name, direction_name(d));
	struct link_stats stats;

	o->stats(o->links, site, d, &stats);
	w->bytes = (double)(m->last_bytes - m->first_bytes);
	w->mean_bps = w->bytes * 8 / c->wall_s;
	w->peak_1s_bps = m->peak_1s_bps;
	w->limit_bps = (double)o->link_plan->links[site][d].base.rate_bps * s->dilation;
	w->drop_queue = (double)stats.drop_segments[DROP_QUEUE];
	w->drop_random = (double)stats.drop_segments[DROP_RANDOM];
	w->drop_burst = (double)stats.drop_segments[DROP_BURST];
	w->drop_outage = (double)stats.drop_segments[DROP_OUTAGE];
	w->packets = (double)stats.packets;
	w->segments = (double)stats.segments;
	w->queue_high_bytes = (double)stats.queue_high_bytes;
	if (stats.lateness.count) {
		w->lateness_p50_s = seconds(histogram_quantile(&stats.lateness, .50));
		w->lateness_p99_s = seconds(histogram_quantile(&stats.lateness, .99));
		w->lateness_max_s = seconds(stats.lateness.max_ns);
		c->lateness_p99_s = fmax(c->lateness_p99_s, w->lateness_p99_s);
	}
}

static void add_wire(struct record_case *c, const struct observation *o)
{
	for (int site = 0; site < o->scenario->n_sites; site++) {
		for (enum direction d = UP; d < DIRECTIONS; d++)
			add_direction(c, o, site, d);
	}
}

static void add_faults(
	struct record_case *c, const struct scenario *s, const struct verdict_input *in)
{
	for (size_t i = 0; i < in->n_faults; i++) {
		const struct fault *f = &in->faults[i];
		struct record_fault *out;

		out = record_add_fault(c, fault_kind_name(f->kind), s->sites[f->site].name);
		out->at_s = seconds(f->at_ns);
		out->for_s = seconds(f->for_ns);
		out->happened = out->at_s <= c->wall_s;
	}
}

/* The first of some faults, for a sentence. */
static void say_first(struct record_case *c, size_t n, const struct fault *f,
	const struct scenario *s, const char *what)
{
	char at[32];

	quantity_format(at, sizeof at, QUANTITY_TIME, f->at_ns, false);
	if (n == 1)
		record_note(c, "the %s of %s at %s %s", fault_kind_name(f->kind),
			s->sites[f->site].name, at, what);
	else
		record_note(c, "%zu faults, the first a %s of %s at %s, %s", n,
			fault_kind_name(f->kind), s->sites[f->site].name, at, what);
}

/* Whether the fault was over before anything it could have cost is counted. */
static bool over_before(const struct observation *o, const struct fault *f)
{
	int n = o->scenario->job.n_learners, first = f->site < n ? f->site : 0;
	int last = f->site < n ? f->site : n - 1;

	for (int i = first; i <= last; i++) {
		const struct ledger *l = &o->ledgers[i];

		if (f->at_ns + f->for_ns > l->from_ns || l->from_state == STATE_DOWN ||
			l->from_state == STATE_RECOVER)
			return false;
	}
	return true;
}

/* Faults that the reader may count on although they are in no figure. */
static void note_faults(
	struct record_case *c, const struct observation *o, const struct verdict_input *in)
{
	const struct fault *after = NULL, *before = NULL;
	size_t n_after = 0, n_before = 0;
	char what[96], end[32];

	for (size_t i = in->n_faults; i-- > 0;) {
		const struct fault *f = &in->faults[i];

		if (f->at_ns > in->outcome->wall_ns) {
			after = f;
			n_after++;
		} else if (observation_measured(o) && over_before(o, f)) {
			before = f;
			n_before++;
		}
	}
	quantity_format(end, sizeof end, QUANTITY_TIME, in->outcome->wall_ns, false);
	snprintf(what, sizeof what, "did not happen: the run ended at %s", end);
	if (n_after)
		say_first(c, n_after, after, o->scenario, what);
	if (n_before)
		say_first(c, n_before, before, o->scenario, "ended before the measured time began");
}

static void note_pending(struct record_case *c, const struct ledger_totals *t)
{
	double pending = t->pending_steps - t->overdue_steps;

	if (pending > 0)
		record_note(c,
			"%.0f %% of the useful steps were still to be merged or checkpointed when "
			"the run ended",
			100 * pending / (pending + t->useful_steps));
	if (t->overdue_steps > 0)
		record_note(c,
			"%.0f %% of the computed steps were overdue when the run ended: not merged "
			"or checkpointed within the time that takes when all goes well; they are "
			"not counted as useful",
			100 * t->overdue_steps /
				(t->pending_steps + t->useful_steps + t->lost_steps));
}

static void add_notes(struct record_case *c, const struct observation *o,
	const struct verdict_input *in, const struct ledger_totals *totals)
{
	char limit[32];

	if (o->n_exchanges == 0 && !in->not_begun)
		record_note(c, "no exchange finished in the time: nothing was merged");
	if (o->n_exchanges)
		note_pending(c, totals);
	if (in->outcome->end == END_LIMIT)
		record_note(c, "the run's limit of %s ended it before all steps were done",
			quantity_format(
				limit, sizeof limit, QUANTITY_TIME, o->scenario->limit_ns, false));
	if (!in->not_begun)
		note_faults(c, o, in);
	if (in->tcp && (in->tcp->prune_called || in->tcp->ofo_drop))
		record_note(c,
			"TCP was short of memory and dropped what had arrived (%" PRIu64
			" prunes, %" PRIu64 " out-of-order drops): raise net.ipv4.tcp_mem before "
			"blaming the link",
			in->tcp->prune_called, in->tcp->ofo_drop);
	if (o->silences)
		record_note(c, "a peer was silent for longer than %.1f s %" PRIu64 " times",
			seconds(o->scenario->transport.silence_ns), o->silences);
	if (o->absence.n)
		record_note(c,
			"narrowlink itself stood still, %zu times, the longest for %.1f s until "
			"%.1f s: samples.csv has a hole there; agents and links kept their own "
			"time",
			o->absence.n, seconds(o->absence.for_ns), seconds(o->absence.at_ns));
	if (c->relay_cpu > .95)
		record_note(c, "the relay used %.0f %% of a core", 100 * c->relay_cpu);
}

/* "the job needs 1.57 Gbit/s for 90 % ..." : why it does not fit, from the link that decides. */
static void explain_rate(
	const struct plan *plan, const struct scenario *s, double target, char *text, size_t size)
{
	bool syncer = plan->tight_site >= s->job.n_learners;
	char needed[32], has[32], step[32];
	double bps = plan->needed_bps[0] / plan_targets[0] * target;
	double step_ns = (double)plan->boundary_step_ns[0] / plan_targets[0] * target;

	if (bps <= plan->tight_rate_bps) {
		snprintf(text, size,
			"; its bytes would fit: what is missing went to the round trips, TCP, loss "
			"or "
			"faults");
		return;
	}
	snprintf(text, size,
		"; by its bytes alone %s needs %s on the wire for %.0f %%, the link has %s, just "
		"enough for a step of %s",
		syncer ? "the syncer, to which all send," : "the job",
		quantity_format(needed, sizeof needed, QUANTITY_RATE, (int64_t)bps, false),
		100 * target,
		quantity_format(
			has, sizeof has, QUANTITY_RATE, (int64_t)plan->tight_rate_bps, false),
		quantity_format(step, sizeof step, QUANTITY_TIME, (int64_t)step_ns, false));
}

static void print_value(char *text, size_t size, enum metric metric, double value)
{
	if (isnan(value))
		snprintf(text, size, "unknown");
	else if (metric == METRIC_WIRE_RATE)
		quantity_format(text, size, QUANTITY_RATE, (int64_t)value, false);
	else if (metric == METRIC_EXCHANGE_P50 || metric == METRIC_EXCHANGE_P99)
		quantity_format(text, size, QUANTITY_TIME, (int64_t)(value * 1e9), false);
	else
		snprintf(text, size, "%.1f %%", 100 * value);
}

static void say_expectation(struct record_case *c, const struct scenario *s,
	const struct plan *plan, const struct expectation *x, double got, bool holds)
{
	char got_text[64], want_text[64], why[256] = "";

	print_value(got_text, sizeof got_text, x->metric, got);
	print_value(want_text, sizeof want_text, x->metric, x->value);
	if (!holds && (x->metric == METRIC_USEFUL_WORK || x->metric == METRIC_COMPUTE_UTILISATION))
		explain_rate(plan, s, x->value, why, sizeof why);
	c->because = memory_format("%s %s, expected %s %s%s", metric_name(x->metric), got_text,
		expect_op_name(x->op), want_text, why);
}

void verdict_expect(struct record_case *c, const struct scenario *s, const struct plan *plan)
{
	bool all = true;

	cleanup_free(&c->because);
	c->because = NULL;
	for (size_t i = 0; i < s->n_expect; i++) {
		const struct expectation *x = &s->expect[i];
		double got = metric_value(c, x->metric);
		bool holds = expectation_holds(x, got);

		struct record_expect *out =
			record_add_expect(c, metric_name(x->metric), expect_op_name(x->op));

		out->want = x->value;
		out->got = got;
		out->holds = holds;
		if (c->because && (holds || !all))
			continue;
		cleanup_free(&c->because);
		c->because = NULL;
		say_expectation(c, s, plan, x, got, holds);
		all = all && holds;
	}
	cleanup_free(&c->verdict);
	c->verdict = memory_string(!s->n_expect ? "none" : all ? "holds" : "fails");
}

/* What fails in a run that was cut off may be the limit's doing. */
static void blame_limit(struct record_case *c, const struct scenario *s)
{
	char limit[32];
	char *text = memory_format("%s; run.limit ended the run at %s, before all steps were done",
		c->because,
		quantity_format(limit, sizeof limit, QUANTITY_TIME, s->limit_ns, false));

	cleanup_free(&c->because);
	c->because = text;
}

static void judge(struct record_case *c, const struct scenario *s, const struct verdict_input *in)
{
	bool partial = in->partial && !in->not_begun;

	verdict_expect(c, s, in->plan);
	if (in->outcome->end == END_LIMIT && !strcmp(c->verdict, "fails"))
		blame_limit(c, s);
	if (partial || !c->valid) {
		cleanup_free(&c->verdict);
		cleanup_free(&c->because);
		c->verdict = memory_string(partial ? "partial" : "invalid");
		c->because = memory_string(partial ? in->why_partial : c->reasons[0]);
	}
	c->partial = partial;
}

void verdict_make(
	struct record_case *c, const struct observation *o, const struct verdict_input *in)
{
	const struct scenario *s = o->scenario;
	struct ledger_totals totals;

	c->wall_s = seconds(in->outcome->wall_ns);
	observation_totals(o, in->outcome->wall_ns, &totals);
	c->useful_work = totals.useful_work;
	c->compute_utilisation = totals.compute_utilisation;
	c->availability = totals.availability;
	c->participation =
		o->merges ? (double)o->contributors / ((double)o->merges * s->job.n_learners) : NAN;
	add_participants(c, o);
	add_exchanges(c, o);
	add_wire(c, o);
	add_faults(c, s, in);
	c->payload_expected_bytes = o->payload_expected;
	if (in->outcome->n_participants)
		c->payload_sent_bytes = c->framing_bytes = c->retransmits = 0;
	for (int p = 0; p < in->outcome->n_participants; p++) {
		c->payload_sent_bytes += (double)in->outcome->bytes[p].payload_sent;
		c->framing_bytes += (double)in->outcome->bytes[p].framing_sent;
		for (int q = 0; q < in->outcome->n_participants; q++)
			c->retransmits += (double)o->retransmits[p][q];
	}
	fidelity_judge(c, o, in);
	add_notes(c, o, in, &totals);
	judge(c, s, in);
}

enum exit_status verdict_status(const struct record *record)
{
	enum exit_status status = record->n_cases ? STATUS_HOLDS : STATUS_INVALID;

	for (size_t i = 0; i < record->n_cases; i++) {
		const char *v = record->cases[i]->verdict;

		if (!v || !strcmp(v, "partial") || !strcmp(v, "invalid"))
			return STATUS_INVALID;
		if (!strcmp(v, "fails"))
			status = STATUS_FAILED;
	}
	return status;
}
