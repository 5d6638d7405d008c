/*
 * The plan: a scenario's arithmetic; see plan.h, formulas in docs/formulas.md.
 *
 * Most of it is the throughput bound R >= f N b CU / (H T), turned to each of its unknowns. T is
 * the step at speed 1, so a learner of speed v needs v times the rate; the learner with the
 * least rate for its speed decides.
 */
#include "bench/plan.h"

#include <math.h>

#include "base/clock.h"

#define SEGMENT_BYTES 1448 /* payload of a full segment: MTU less IP, TCP and its timestamps */

const double plan_targets[PLAN_TARGETS] = {.50, .80, .90, .95, .99};

static double narrow_rate(const struct scenario *s, int site)
{
	const struct link_direction *d = s->links[s->sites[site].link].direction;
	int64_t up = d[UP].base.rate_bps, down = d[DOWN].base.rate_bps;

	return (double)(up < down ? up : down);
}

static double wire_ratio(const struct scenario *s)
{
	int most = 0;

	if (s->transport.tcp == TRANSPORT_IDEAL)
		return 1;
	for (int i = 0; i < s->n_sites; i++)
		for (int d = 0; d < DIRECTIONS; d++) {
			int bytes = s->links[s->sites[i].link].direction[d].overhead_bytes;

			most = bytes > most ? bytes : most;
		}
	return (double)(LINK_MTU + most) / SEGMENT_BYTES;
}

/* Bits on the wire that one exchange of everything takes, per unit of factor. */
static double wire_bits(const struct plan *plan, const struct scenario *s)
{
	return (double)s->job.parameters * s->job.bits * plan->wire_ratio;
}

static void plan_sizes(struct plan *plan, const struct scenario *s)
{
	const struct job *job = &s->job;

	plan->payload_bytes = job_payload_bytes(job);
	for (int p = 0; p < job_participants(job); p++)
		for (int64_t round = 0; round < plan->exchanges_per_period; round++) {
			int64_t bytes = s->strategy->bytes_sent(job, p, round);
			int64_t *largest = job_role(job, p) == ROLE_LEARNER ? &plan->exchange_bytes
									    : &plan->syncer_bytes;

			*largest = bytes > *largest ? bytes : *largest;
		}
}

static double fastest_speed(const struct scenario *s)
{
	double fastest = 0;

	for (int i = 0; i < s->job.n_learners; i++)
		fastest = fmax(fastest, s->job.speed[i]);
	return fastest;
}

static double sum_of_speeds(const struct scenario *s)
{
	double sum = 0;

	for (int i = 0; i < s->job.n_learners; i++)
		sum += s->job.speed[i];
	return sum;
}

/* The link decides if it needs more for its rate than the one that did up to now. */
static void consider(struct plan *plan, double *needed_bps, int site, double needs, double has)
{
	if (*needed_bps * has >= needs * plan->tight_rate_bps)
		return;
	*needed_bps = needs;
	plan->tight_site = site;
	plan->tight_rate_bps = has;
}

static void plan_rates(struct plan *plan, const struct scenario *s)
{
	const struct job *job = &s->job;
	double step_s = (double)job->step_ns / NS_PER_S, needed_bps = 0, ratio;
	double per_s = wire_bits(plan, s) / ((double)plan->period * step_s);

	plan->rate_bps = INFINITY;
	plan->tight_rate_bps = 1;
	for (int i = 0; i < job->n_learners; i++) {
		plan->rate_bps = fmin(plan->rate_bps, narrow_rate(s, i));
		consider(plan, &needed_bps, i, plan->factor * per_s * job->speed[i],
			narrow_rate(s, i));
	}
	plan->goodput_bps = plan->rate_bps / plan->wire_ratio;
	if (job->syncer == SYNCER_STAR) {
		plan->syncer_rate_bps = narrow_rate(s, job->n_learners);
		plan->syncer_needed_bps = sum_of_speeds(s) * per_s;
		consider(plan, &needed_bps, job->n_learners, plan->syncer_needed_bps,
			plan->syncer_rate_bps);
	}
	ratio = needed_bps / plan->tight_rate_bps;
	for (int i = 0; i < PLAN_TARGETS; i++) {
		plan->needed_bps[i] = needed_bps * plan_targets[i];
		plan->boundary_step_ns[i] =
			(int64_t)fmin(ceil(ratio * step_s * plan_targets[i] * NS_PER_S), 9e18);
	}
	plan->predicted_utilisation = fmin(1, 1 / ratio);
}

/* What one exchange has of the links: at a star's syncer all learners' meet. */
static double exchange_goodput(const struct plan *plan, const struct scenario *s)
{
	if (s->job.syncer != SYNCER_STAR)
		return plan->goodput_bps;
	return fmin(
		plan->goodput_bps, plan->syncer_rate_bps / plan->wire_ratio / s->job.n_learners);
}

/* Sum of what the sites send: f of everything each, a star syncer as much as it has learners. */
static double aggregate(const struct plan *plan, const struct scenario *s)
{
	double period_s = (double)plan->period * (double)s->job.step_ns / NS_PER_S;
	double copies = s->job.syncer == SYNCER_STAR ? plan->factor + 1 : plan->factor;

	return copies * s->job.n_learners * wire_bits(plan, s) / period_s *
	       plan->predicted_utilisation;
}

/*
 * What exchanges leave of the time when each takes as long as it must. Those in flight together
 * wait out each other's stalls, so that a stall counts for all of them.
 */
static double unhidden(const struct plan *plan, const struct scenario *s)
{
	const struct job *job = &s->job;
	double step_ns = (double)job->step_ns / fastest_speed(s);
	double backward = job->buckets ? step_ns * 2 / 3 * (1 - 1. / job->buckets) : 0;
	double hidden = backward + step_ns * job->overlap;
	double interval = step_ns * (double)plan->period / (double)plan->exchanges_per_period;
	double in_flight = fmax(1, hidden / interval);
	double stall = fmax(0, (double)plan->exchange_bound_ns - hidden) / in_flight;

	return interval / (interval + stall);
}

static int64_t longest_way(const struct scenario *s)
{
	int64_t longest = 0;

	for (int i = 0; i < s->n_sites; i++)
		for (int j = 0; j < s->n_sites; j++) {
			const struct link_profile *from = &s->links[s->sites[i].link];
			const struct link_profile *to = &s->links[s->sites[j].link];
			int64_t ns = from->direction[UP].base.delay_ns + s->core_delay_ns[i][j] +
				     to->direction[DOWN].base.delay_ns;

			if (i != j && ns > longest)
				longest = ns;
		}
	return longest;
}

static int64_t expected_wall(const struct plan *plan, const struct scenario *s)
{
	double slowest = INFINITY;

	for (int i = 0; i < s->job.n_learners; i++)
		slowest = fmin(slowest, s->job.speed[i]);
	return (int64_t)fmin((double)s->limit_ns, (double)(s->job.steps + s->job.warmup) *
							  (double)s->job.step_ns / slowest /
							  plan->predicted_utilisation);
}

void plan_make(struct plan *plan, const struct scenario *s)
{
	const struct job *job = &s->job;

	*plan = (struct plan){
		.factor = s->strategy->factor(job),
		.period = s->strategy->period(job),
		.exchanges_per_period = job->fragments,
		.wire_ratio = wire_ratio(s),
		.one_way_ns = longest_way(s),
	};
	plan_sizes(plan, s);
	plan_rates(plan, s);
	plan->exchange_bound_ns =
		s->strategy->exchange_bound_ns(job, plan->one_way_ns, exchange_goodput(plan, s));
	plan->predicted_utilisation = fmin(plan->predicted_utilisation, unhidden(plan, s));
	plan->aggregate_bps = aggregate(plan, s);
	plan->expected_wall_ns = expected_wall(plan, s);
}
