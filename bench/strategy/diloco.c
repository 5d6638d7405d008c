/*
 * diloco: H local steps, then one all-reduce of everything, overlapped with the backward pass of
 * the last of them. Nobody can finish an exchange without everybody, but between two a learner
 * is on its own: when a peer crashes the others keep their steps and wait at the exchange.
 *
 * A restarted learner fetches the state of the last exchange and does its H steps again. One that
 * had given its part to an exchange that finished only elsewhere fetches the result.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "bench/strategy/backward.h"
#include "bench/strategy/group.h"
#include "bench/strategy/learner.h"

struct diloco {
	struct rt *rt;
	struct group group;
	struct backward backward;
	int64_t round; /* exchanges finished */
	int64_t inner; /* steps completed since the last */
	bool waiting;  /* all H are; the exchange is not */
	bool stateless;
	bool measured;
};

static int64_t missed_bytes(const struct job *job, int64_t from, int64_t to)
{
	return (to - from) * job_payload_bytes(job);
}

static void *create(struct rt *rt)
{
	struct diloco *d = memory_zero(1, sizeof *d);

	d->rt = rt;
	group_init(&d->group, rt, GROUP_GREATEST, missed_bytes);
	backward_init(&d->backward, rt);
	return d;
}

static void destroy(void *self)
{
	struct diloco *d = self;

	if (!d)
		return;
	backward_release(&d->backward);
	free(d);
}

static void next_step(struct diloco *d, int64_t at_ns)
{
	const struct job *job = d->rt->job;
	int64_t ns = begin_step(d->rt, d->round * job->period + d->inner, &d->measured);

	if (!ns)
		rt_done(d->rt);
	else if (d->inner == job->period - 1)
		backward_begin(&d->backward, d->round, at_ns, ns);
}

static void wait_state(struct diloco *d)
{
	rt_state(d->rt, d->group.whole ? STATE_EXPOSED_COMM : STATE_BARRIER_WAIT);
}

static void computed(struct diloco *d, int64_t at_ns)
{
	const struct job *job = d->rt->job;

	report_number(d->rt, REPORT_STEP, d->round * job->period + d->inner);
	d->inner++;
	if (d->inner < job->period) {
		next_step(d, at_ns);
		return;
	}
	d->waiting = true;
	backward_ready(&d->backward, at_ns);
	if (!backward_finished(&d->backward))
		wait_state(d);
}

/* The steps since the last exchange are in the merged model; on from exchange `round`. */
static void merged(struct diloco *d, int64_t round)
{
	const struct job *job = d->rt->job;
	int64_t from = d->round * job->period;

	report_amount(d->rt, REPORT_USEFUL,
		(double)(steps_counted(job, from + d->inner) - steps_counted(job, from)));
	d->round = round;
	d->inner = 0;
	d->waiting = false;
	backward_end(&d->backward);
}

static void finish_exchange(struct diloco *d, int64_t at_ns)
{
	if (!d->waiting || !backward_finished(&d->backward))
		return;
	report_exchange(d->rt, d->round, 0, 0, at_ns - d->backward.first_ns);
	merged(d, d->round + 1);
	group_advance(&d->group, d->round);
	next_step(d, at_ns);
}

static void break_off(struct diloco *d)
{
	backward_break(&d->backward);
	d->stateless = !d->group.own.has_state;
	if (d->stateless)
		rt_state(d->rt, STATE_RECOVER);
	else if (d->waiting)
		wait_state(d);
}

static void fetched(struct diloco *d, int64_t at_ns)
{
	group_report_recovered(&d->group);
	if (d->stateless)
		report_number(d->rt, REPORT_ROLLBACK, d->group.own.position * d->rt->job->period);
	d->stateless = false;
	merged(d, d->group.own.position);
	next_step(d, at_ns);
}

static void event(void *self, struct rt *rt, const struct rt_event *event)
{
	struct diloco *d = self;
	unsigned change = group_event(&d->group, event);

	if (change & GROUP_BROKEN)
		break_off(d);
	if (change & GROUP_FETCHED)
		fetched(d, event->at_ns);
	if (change & GROUP_WHOLE) {
		backward_open(&d->backward, d->group.epoch, event->at_ns);
		if (d->waiting)
			wait_state(d);
	}
	switch (event->kind) {
	case RT_START:
		if (event->incarnation == 0)
			next_step(d, event->at_ns);
		break;
	case RT_COMPUTE:
		computed(d, event->at_ns);
		break;
	case RT_TIMER:
		backward_ready(&d->backward, event->at_ns);
		break;
	case RT_MESSAGE:
		if (group_owns_ring(&d->group, event))
			backward_message(&d->backward, &event->message);
		break;
	default:
		break;
	}
	finish_exchange(d, event->at_ns);
}

const struct strategy strategy_diloco = {
	.name = "diloco",
	.summary = "H local steps, then one ring all-reduce of all parameters",
	.create = create,
	.event = event,
	.destroy = destroy,
	.bytes_sent = backward_bytes_sent,
	.factor = ring_job_factor,
	.period = outer_period,
	.settles = outer_period,
	.exchange_bound_ns = backward_bound_ns,
};
