/*
 * Whether a run's link was the link and its agents ran: what was measured of both, held against
 * what still counts; see fidelity.h.
 */
#include "bench/fidelity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "bench/held_up.h"
#include "bench/links.h"

/* Limits of what still counts as the link that was asked for; source: docs/fidelity.md. */
#define RTT_SHARE 0.01
#define RTT_SLACK_S 0.5e-3
#define LATE_SHARE 0.05
#define LATE_SLACK_S 1e-3
#define CAPTURE_SHARE 1e-3
#define CAPTURE_SLACK_BYTES 100e3 /* what is under way when both are read */
#define SATURATED_SHARE 0.01
#define WAITED_SHARE 0.15
#define FAULT_LATE_S 1 /* of real time */

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* The pair of sites whose idle round trip is furthest from the profile's. */
static void add_idle_rtt(
	struct record_case *c, const struct scenario *s, const struct outcome *outcome)
{
	double worst = -1;

	for (int i = 0; i < s->n_sites; i++) {
		for (int j = 0; j < s->n_sites; j++) {
			double want = seconds(links_round_trip_ns(s, i, j, PING_BYTES));
			double got = seconds(outcome->idle_rtt_ns[i][j]);

			if (i == j || outcome->idle_rtt_ns[i][j] < 0 || fabs(got - want) <= worst)
				continue;
			worst = fabs(got - want);
			c->idle_rtt_s = got;
			c->idle_rtt_expected_s = want;
		}
	}
}

static bool has_jitter(const struct scenario *s)
{
	for (size_t i = 0; i < s->n_links; i++) {
		for (int d = 0; d < DIRECTIONS; d++) {
			if (s->links[i].direction[d].base.jitter_ns)
				return true;
		}
	}
	return false;
}

static uint64_t memory_drops(const struct observation *o)
{
	uint64_t sum = 0;
	struct link_stats stats;

	for (int site = 0; site < o->scenario->n_sites; site++) {
		for (enum direction d = UP; d < DIRECTIONS; d++) {
			o->stats(o->links, site, d, &stats);
			sum += stats.drop_segments[DROP_MEMORY];
		}
	}
	return sum;
}

/* An agent that stood still computed nothing, whatever its timer said afterwards. */
static void judge_agents(struct record_case *c, const struct observation *o)
{
	char name[96];

	for (int p = 0; p < job_participants(&o->scenario->job); p++) {
		if (!o->still_ns[p])
			continue;
		participant_name(o->scenario, p, name);
		c->valid = false;
		record_reason(c,
			"the agent of %s did not run for %.1f s: it was stopped, or this machine "
			"is too busy",
			name, seconds(o->still_ns[p]));
	}
}

/* What broke later than it was to, or was repaired later, is another scenario. */
static void judge_faults(struct record_case *c, const struct observation *o)
{
	double late_s = seconds(o->late_ns);

	if (late_s * o->scenario->dilation < FAULT_LATE_S)
		return;
	c->valid = false;
	record_reason(c,
		"the crash of %s at %.1f s, or its repair, came %.1f s after its time: narrowlink "
		"itself did not run, or this machine is too busy",
		o->scenario->sites[o->latest->site].name, seconds(o->latest->at_ns), late_s);
}

static void judge_link(
	struct record_case *c, const struct observation *o, const struct verdict_input *in)
{
	const struct scenario *s = o->scenario;
	double difference = fabs(c->idle_rtt_s - c->idle_rtt_expected_s) * s->dilation;
	double allowed = fmax(RTT_SHARE * c->idle_rtt_expected_s * s->dilation, RTT_SLACK_S);
	double late = fmax(LATE_SHARE * seconds(in->plan->one_way_ns) * s->dilation, LATE_SLACK_S);

	if (isnan(c->idle_rtt_s) && !in->partial) {
		c->valid = false;
		record_reason(c, "no idle round trip was measured");
	}
	if (difference > allowed && !has_jitter(s)) {
		c->valid = false;
		record_reason(c, "idle round trip %.3f ms, the profile says %.3f ms",
			1e3 * c->idle_rtt_s, 1e3 * c->idle_rtt_expected_s);
	}
	if (memory_drops(o)) {
		c->valid = false;
		record_reason(c, "this machine had no room left and dropped %" PRIu64 " segments",
			memory_drops(o));
	}
	if (c->lateness_p99_s > late) {
		c->valid = false;
		record_reason(c,
			"the relay was late by %.3f ms (p99; up to %.3f ms is tolerated): this "
			"machine is "
			"too slow for these links; try --dilation %.0f",
			1e3 * c->lateness_p99_s, 1e3 * late, ceil(2 * s->dilation));
	}
}

static void add_headroom(struct record_case *c, const struct headroom_result *h)
{
	if (!h)
		return;
	c->agents_cpu = h->agents;
	c->softirq = h->softirq;
	c->saturated = h->saturated;
	c->waited = h->waited;
}

static void judge_checks(struct record_case *c)
{
	for (size_t i = 0; i < c->n_checks; i++) {
		const struct record_check *k = &c->checks[i];

		if (strcmp(k->result, "off"))
			continue;
		c->valid = false;
		record_reason(c,
			"calibration: %s from %s to %s is %.6g, the scenario says %.6g (%.6g to "
			"%.6g would do)",
			k->check, k->from, k->to, k->got, k->want, k->low, k->high);
	}
}

/* Two instruments that both saw everything must have seen the same. */
static void judge_captures(struct record_case *c)
{
	for (size_t i = 0; i < c->n_captures; i++) {
		const struct record_capture *k = &c->captures[i];
		double allowed = fmax(CAPTURE_SHARE * k->relay_bytes, CAPTURE_SLACK_BYTES);

		if (k->kernel_drops > 0 || fabs(k->bytes - k->relay_bytes) <= allowed)
			continue;
		c->valid = false;
		record_reason(c,
			"%s %s: the capture counted %.0f bytes on the wire, the emulator %.0f: "
			"they differ by more than 0.1 %%",
			k->site, k->direction, k->bytes, k->relay_bytes);
	}
}

static void judge_headroom(struct record_case *c, const struct scenario *s)
{
	if (!(c->saturated > SATURATED_SHARE) || !(c->waited > WAITED_SHARE))
		return;
	c->valid = false;
	record_reason(c,
		"no processor was idle for %.0f %% of the time, and an agent waited for one for "
		"%.0f %%: this machine, not the link, set the pace; try --dilation %.0f",
		100 * c->saturated, 100 * c->waited, ceil(2 * s->dilation));
}

/* What was measured of the machine and its links, into the record. */
static void add_measured(
	struct record_case *c, const struct observation *o, const struct verdict_input *in)
{
	if (!in->simulated)
		add_idle_rtt(c, o->scenario, in->outcome);
	c->relay_cpu = in->relay_cpu;
	add_headroom(c, in->headroom);
	if (in->tcp)
		c->prune_called = (double)in->tcp->prune_called;
}

void fidelity_judge(
	struct record_case *c, const struct observation *o, const struct verdict_input *in)
{
	add_measured(c, o, in);
	c->valid = !in->not_begun;
	if (in->not_begun) {
		record_reason(c, "%s", in->why_partial);
		return;
	}
	judge_agents(c, o);
	judge_faults(c, o);
	if (!observation_measured(o) && !in->partial) {
		c->valid = false;
		record_reason(c, "the run ended within its warm-up: nothing was measured");
	}
	if (in->simulated)
		return;
	judge_link(c, o, in);
	judge_checks(c);
	judge_captures(c);
	judge_headroom(c, o->scenario);
	held_up_judge(c, o);
}
