/*
 * streaming-diloco: every H/P steps another of P fragments is all-reduced in a ring while
 * training goes on; the merged fragment is applied tau steps after it was sent, and a learner
 * whose fragment is not merged by then stalls.
 *
 * A fragment belongs to the step after which it counts as sent. It goes out in `buckets` parts
 * during that step's backward pass, as each becomes ready: with one, at the step's end. Parts are
 * numbered e B + k, and this number is their messages' round.
 *
 * A crash breaks the exchanges under way; the others keep their steps, stall when a fragment is
 * due, and begin these exchanges again when the group is whole. A restarted learner fetches the
 * state of the last exchange finished anywhere and goes on from the step at which it was sent.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "bench/collective.h"
#include "bench/strategy/backward.h"
#include "bench/strategy/fragments.h"
#include "bench/strategy/group.h"

struct streaming {
	struct rt *rt;
	struct group group;
	struct rings rings;
	int64_t step;	  /* completed */
	int64_t sent;	  /* exchanges 1 .. sent have been begun, or wait for the group */
	int64_t finished; /* exchanges 1 .. finished are */
	int64_t since;	  /* the step at which this incarnation began */
	int64_t started_ns, step_ns; /* the step under way */
	int ready;		     /* of exchange sent + 1: parts begun during this step */
	enum state state;	     /* as last told; STATE_IDLE at the start */
	bool stalled; /* between two steps: the next one is due, or waits for a fragment */
	bool stateless;
	bool measured;
};

static int64_t missed_bytes(const struct job *job, int64_t from, int64_t to)
{
	int64_t bytes = 0;

	for (int64_t e = from + 1; e <= to; e++)
		bytes += exchange_bytes(job, e);
	return bytes;
}

static void *create(struct rt *rt)
{
	struct streaming *s = memory_zero(1, sizeof *s);

	s->rt = rt;
	s->state = STATE_IDLE;
	group_init(&s->group, rt, GROUP_GREATEST, missed_bytes);
	/*
	 * At most one exchange a step. A learner has tau + 1 under way past those it knows to
	 * be finished, and a neighbour may know of as many more that are.
	 */
	rings_init(&s->rings, rt, (2 * rt->job->overlap + 4) * rt->job->buckets);
	return s;
}

static void destroy(void *self)
{
	struct streaming *s = self;

	if (!s)
		return;
	rings_release(&s->rings);
	free(s);
}

static void enter(struct streaming *s, enum state state)
{
	if (s->state != state)
		rt_state(s->rt, state);
	s->state = state;
}

static void wait_state(struct streaming *s)
{
	enter(s, s->group.whole ? STATE_EXPOSED_COMM : STATE_BARRIER_WAIT);
}

static void start_part(struct streaming *s, int64_t e, int k, int64_t at_ns)
{
	const struct job *job = s->rt->job;
	int64_t number = e * job->buckets + k;
	const struct rt_message label = {
		.fragment = (uint16_t)exchange_fragment(job, e),
		.round = (uint64_t)number,
		.epoch = s->group.epoch,
	};

	rings_start(&s->rings, number, &label, share_of(exchange_bytes(job, e), k, job->buckets),
		at_ns);
}

/* Those parts of the fragment that the step under way ends with, that are ready by now. */
static void start_ready(struct streaming *s, int64_t at_ns)
{
	const struct job *job = s->rt->job;

	if (!s->group.whole || s->stalled || exchange_step(job, s->sent + 1) != s->step + 1)
		return;
	for (; s->ready < job->buckets; s->ready++) {
		int64_t ns = s->started_ns + bucket_ready_ns(s->step_ns, s->ready, job->buckets);

		if (ns > at_ns) {
			rt_timer(s->rt, TIMER_BUCKET, ns - at_ns);
			return;
		}
		start_part(s, s->sent + 1, s->ready, at_ns);
	}
}

/* Begins the next step, unless a fragment is due that is not merged. */
static void next_step(struct streaming *s, int64_t at_ns)
{
	const struct job *job = s->rt->job;

	s->stalled = exchange_step(job, s->finished + 1) + job->overlap <= s->step;
	if (s->stalled) {
		wait_state(s);
		return;
	}
	report_measure(s->rt, s->step, &s->measured);
	if (job_finished(job, s->step)) {
		rt_done(s->rt);
		return;
	}
	enter(s, STATE_COMPUTE);
	s->started_ns = at_ns;
	s->step_ns = job_step_ns(job, s->rt->self, s->step);
	rt_compute(s->rt, s->step_ns);
	if (job->buckets > 1)
		start_ready(s, at_ns);
}

static void start_exchange(struct streaming *s, int64_t e, int from, int64_t at_ns)
{
	for (int k = from; k < s->rt->job->buckets; k++)
		start_part(s, e, k, at_ns);
}

static void computed(struct streaming *s, int64_t at_ns)
{
	report_number(s->rt, REPORT_STEP, s->step);
	s->step++;
	if (exchange_step(s->rt->job, s->sent + 1) == s->step) {
		s->sent++;
		if (s->group.whole)
			start_exchange(s, s->sent, s->ready, at_ns);
		s->ready = 0;
	}
	s->stalled = true; /* until it is seen that nothing is due */
}

/* The steps since this fragment's last exchange are in the merged model. */
static void merged(struct streaming *s, int64_t e)
{
	const struct job *job = s->rt->job;
	int64_t from = e > job->fragments ? exchange_step(job, e - job->fragments) : 0;
	int64_t to = exchange_step(job, e);

	if (from < s->since)
		from = s->since;
	report_amount(s->rt, REPORT_USEFUL,
		(double)(steps_counted(job, to) - steps_counted(job, from)) / job->fragments);
	s->finished = e;
}

/* All parts have come; the last is looked at first, since it mostly is the last to come. */
static bool complete(const struct streaming *s, int64_t e)
{
	int64_t first = e * s->rt->job->buckets;

	for (int64_t n = first + s->rt->job->buckets - 1; n >= first; n--) {
		const struct ring *ring = rings_find(&s->rings, n);

		if (!ring || !ring_complete(&s->rings, ring))
			return false;
	}
	return true;
}

/* Exchanges count as finished in their order, whatever order the messages took. */
static void finish_exchanges(struct streaming *s, int64_t at_ns)
{
	const struct job *job = s->rt->job;

	while (complete(s, s->finished + 1)) {
		int64_t e = s->finished + 1, first = e * job->buckets;

		report_exchange(s->rt, exchange_round(job, e), exchange_fragment(job, e), 0,
			at_ns - rings_find(&s->rings, first)->started_ns);
		for (int k = 0; k < job->buckets; k++)
			rings_retire(&s->rings, first + k);
		merged(s, e);
		group_advance(&s->group, e);
	}
}

static void break_off(struct streaming *s)
{
	rings_clear(&s->rings);
	s->ready = 0;
	s->stateless = !s->group.own.has_state;
	if (s->stateless)
		enter(s, STATE_RECOVER);
	else if (s->stalled)
		wait_state(s);
}

static void fetched(struct streaming *s)
{
	int64_t position = s->group.own.position;

	group_report_recovered(&s->group);
	if (!s->stateless) {
		while (s->finished < position)
			merged(s, s->finished + 1);
		return;
	}
	s->stateless = false;
	s->sent = s->finished = position;
	s->step = s->since = exchange_step(s->rt->job, position);
	report_number(s->rt, REPORT_ROLLBACK, s->step);
	s->stalled = true;
}

static void whole(struct streaming *s, int64_t at_ns)
{
	for (int64_t e = s->finished + 1; e <= s->sent; e++)
		start_exchange(s, e, 0, at_ns);
	if (s->stalled)
		wait_state(s);
	else
		start_ready(s, at_ns);
}

static void event(void *self, struct rt *rt, const struct rt_event *event)
{
	struct streaming *s = self;
	unsigned change = group_event(&s->group, event);

	if (change & GROUP_BROKEN)
		break_off(s);
	if (change & GROUP_FETCHED)
		fetched(s);
	if (change & GROUP_WHOLE)
		whole(s, event->at_ns);
	if (event->kind == RT_START && event->incarnation == 0)
		s->stalled = true;
	else if (event->kind == RT_COMPUTE)
		computed(s, event->at_ns);
	else if (event->kind == RT_TIMER)
		start_ready(s, event->at_ns);
	else if (group_owns_ring(&s->group, event))
		rings_arrived(&s->rings, (int64_t)event->message.round, &event->message);
	finish_exchanges(s, event->at_ns);
	if (s->stalled)
		next_step(s, event->at_ns);
}

static int64_t bytes_sent(const struct job *job, int participant, int64_t round)
{
	int64_t sent = 0;

	for (int k = 0; k < job->buckets; k++)
		sent += ring_bytes_sent(share_of(exchange_bytes(job, round + 1), k, job->buckets),
			participant, job->n_learners);
	return sent;
}

static int64_t bound_ns(const struct job *job, int64_t alpha_ns, double goodput_bps)
{
	return ring_bound_ns(fragment_bytes_max(job), job->n_learners, alpha_ns, goodput_bps);
}

const struct strategy strategy_streaming_diloco = {
	.name = "streaming-diloco",
	.summary = "one of P fragments ring all-reduced every H/P steps, applied tau steps later",
	.create = create,
	.event = event,
	.destroy = destroy,
	.bytes_sent = bytes_sent,
	.factor = ring_job_factor,
	.period = outer_period,
	.settles = outer_settles,
	.exchange_bound_ns = bound_ns,
};
