/* The learner of decoupled-diloco; see contributor.h. */
#include "bench/strategy/contributor.h"

#include <stdlib.h>

#include "base/memory.h"
#include "bench/collective.h"
#include "bench/strategy/fragments.h"
#include "bench/strategy/syncer.h"

enum phase {
	PHASE_COMPUTE,
	PHASE_STALL, /* between two steps: something must be answered first */
	PHASE_DONE,
	PHASE_ASK, /* came back: who has state? */
	PHASE_FETCH,
	PHASE_POSITION, /* has state: where is the job? */
};

struct flight {
	int64_t exchange; /* 0: free */
	int64_t sent_ns;
	int64_t fresh; /* steps in it that count */
	int answers;
	uint64_t weight; /* sum over answers */
};

struct contributor {
	struct rt *rt;
	enum phase phase;
	enum state state; /* as last told */
	int64_t step;	  /* completed */
	int64_t next;	  /* exchange to send next */
	int64_t *since;	  /* per fragment: step of its last sending */
	int slots;
	struct flight *flights;
	uint64_t down; /* learners, one bit each */
	bool measured;
	/* While coming back: */
	int donor;	  /* learner; -1: the syncer */
	uint64_t fit;	  /* learners that all syncers say have state */
	uint64_t refused; /* learners that say they have none */
	uint64_t replied; /* syncers */
	int64_t position; /* least over replies */
};

struct contributor *contributor_new(struct rt *rt)
{
	struct contributor *c = memory_zero(1, sizeof *c);

	c->rt = rt;
	c->state = STATE_IDLE;
	c->next = 1;
	c->since = memory_zero((size_t)rt->job->fragments, sizeof *c->since);
	c->slots = rt->job->overlap;
	c->flights = memory_zero((size_t)c->slots, sizeof *c->flights);
	return c;
}

struct contributor *contributor_free(struct contributor *c)
{
	if (!c)
		return NULL;
	free(c->since);
	free(c->flights);
	free(c);
	return NULL;
}

static void enter(struct contributor *c, enum state state)
{
	if (c->state != state)
		rt_state(c->rt, state);
	c->state = state;
}

static void stall(struct contributor *c)
{
	const struct job *job = c->rt->job;
	int up = job->n_learners - __builtin_popcountll(c->down);

	c->phase = PHASE_STALL;
	enter(c, up < job->quorum ? STATE_BARRIER_WAIT : STATE_EXPOSED_COMM);
}

/* The place of an exchange in flight; of exchange 0, a free one. NULL if there is none. */
static struct flight *flight_of(struct contributor *c, int64_t exchange)
{
	for (int i = 0; i < c->slots; i++)
		if (c->flights[i].exchange == exchange)
			return &c->flights[i];
	return NULL;
}

static void send_fragment(struct contributor *c, struct flight *flight, int64_t at_ns)
{
	const struct job *job = c->rt->job;
	int p = exchange_fragment(job, c->next);
	uint64_t steps = (uint64_t)(c->step - c->since[p]);
	struct rt_message message = {
		.kind = MESSAGE_CONTRIBUTION,
		.fragment = (uint16_t)p,
		.round = (uint64_t)exchange_round(job, c->next),
		.tokens = steps * (uint64_t)job->tokens,
		.steps = steps,
	};

	*flight = (struct flight){
		.exchange = c->next,
		.sent_ns = at_ns,
		.fresh = steps_counted(job, c->step) - steps_counted(job, c->since[p]),
	};
	c->since[p] = c->step;
	/* Each learner begins with another shard, so that they do not all send to the same. */
	for (int i = 1; i <= syncer_count(job); i++) {
		int k = (c->rt->self + i) % syncer_count(job);

		message.bytes = syncer_share(job, job_fragment_bytes(job, p), k);
		rt_send(c->rt, job->n_learners + k, &message);
	}
}

static void report_skip(const struct contributor *c)
{
	const struct rt_report report = {
		.kind = REPORT_SKIP,
		.a = c->step,
		.b = exchange_fragment(c->rt->job, c->next),
	};

	rt_report(c->rt, &report);
}

/* Sends what is due. False: it must wait for an answer first. */
static bool send_due(struct contributor *c, int64_t at_ns)
{
	const struct job *job = c->rt->job;
	struct flight *flight = flight_of(c, 0);

	if (exchange_step(job, c->next) != c->step)
		return true;
	if (!flight && job->when_late == WHEN_LATE_STALL)
		return false;
	if (flight)
		send_fragment(c, flight, at_ns);
	else
		report_skip(c);
	c->next++;
	return true;
}

static void next_step(struct contributor *c, int64_t at_ns)
{
	const struct job *job = c->rt->job;

	if (!send_due(c, at_ns)) {
		stall(c);
		return;
	}
	report_measure(c->rt, c->step, &c->measured);
	if (job_finished(job, c->step)) {
		c->phase = PHASE_DONE;
		rt_done(c->rt);
		return;
	}
	c->phase = PHASE_COMPUTE;
	enter(c, STATE_COMPUTE);
	rt_compute(c->rt, job_step_ns(job, c->rt->self, c->step));
}

static void computed(struct contributor *c, int64_t at_ns)
{
	report_number(c->rt, REPORT_STEP, c->step);
	c->step++;
	next_step(c, at_ns);
}

/* An answer from one syncer; those to an earlier incarnation ended with its connections. */
static void merged(struct contributor *c, const struct rt_event *event)
{
	const struct job *job = c->rt->job;
	const struct rt_message *m = &event->message;
	struct flight *flight;
	double useful;

	flight = flight_of(c, (int64_t)m->round * job->fragments + m->fragment);
	if (!flight)
		return;
	flight->weight += m->tokens;
	if (++flight->answers < syncer_count(job))
		return;
	report_exchange(c->rt, (int64_t)m->round, m->fragment,
		(int64_t)(flight->weight / (uint64_t)syncer_count(job)),
		event->at_ns - flight->sent_ns);
	useful = (double)flight->fresh / job->fragments;
	flight->exchange = 0;
	report_amount(c->rt, REPORT_USEFUL, useful);
	if (c->phase == PHASE_STALL)
		next_step(c, event->at_ns);
}

static void ask(const struct contributor *c, int k)
{
	const struct rt_message message = {
		.kind = MESSAGE_ASK,
		.stage = c->phase,
		.steps = c->phase == PHASE_POSITION, /* has state */
	};

	rt_send(c->rt, c->rt->job->n_learners + k, &message);
}

static void ask_all(struct contributor *c, enum phase phase)
{
	c->phase = phase;
	c->replied = 0;
	c->fit = ~UINT64_C(0);
	c->position = INT64_MAX;
	enter(c, STATE_RECOVER);
	for (int k = 0; k < syncer_count(c->rt->job); k++)
		ask(c, k);
}

static void fetch(struct contributor *c)
{
	const struct rt_message request = {.kind = MESSAGE_FETCH};
	const struct job *job = c->rt->job;
	uint64_t donors = c->fit & ~c->refused & ~c->down;

	c->phase = PHASE_FETCH;
	c->replied = 0;
	c->donor = -1;
	for (int i = 1; i < job->n_learners && c->donor < 0; i++)
		if (donors >> (c->rt->self + i) % job->n_learners & 1)
			c->donor = (c->rt->self + i) % job->n_learners;
	if (c->donor >= 0)
		rt_send(c->rt, c->donor, &request);
	for (int k = 0; c->donor < 0 && k < syncer_count(job); k++)
		rt_send(c->rt, job->n_learners + k, &request);
}

/* Goes on from the job's position, with nothing computed since any fragment's last sending. */
static void go_on(struct contributor *c, int64_t at_ns)
{
	c->next = c->position;
	c->step = exchange_step(c->rt->job, c->position - 1);
	for (int p = 0; p < c->rt->job->fragments; p++)
		c->since[p] = c->step;
	next_step(c, at_ns);
}

/* Notes that a syncer has replied; whether all have. */
static bool all_replied(struct contributor *c, int peer)
{
	c->replied |= UINT64_C(1) << (peer - c->rt->job->n_learners);
	return __builtin_popcountll(c->replied) == syncer_count(c->rt->job);
}

static void told_position(struct contributor *c, const struct rt_event *event)
{
	const struct rt_message *m = &event->message;

	if (m->stage != (uint32_t)c->phase)
		return;
	c->fit &= m->tokens;
	if ((int64_t)m->round < c->position)
		c->position = (int64_t)m->round;
	if (!all_replied(c, event->peer))
		return;
	if (c->phase == PHASE_ASK)
		fetch(c);
	else
		go_on(c, event->at_ns);
}

static void got_state(struct contributor *c, int peer)
{
	bool from_syncer = peer >= c->rt->job->n_learners;

	if (c->phase != PHASE_FETCH || from_syncer != (c->donor < 0))
		return;
	if (from_syncer ? !all_replied(c, peer) : peer != c->donor)
		return;
	report_number(c->rt, REPORT_RECOVERED, peer);
	ask_all(c, PHASE_POSITION);
}

static void give_state(const struct contributor *c, int peer)
{
	bool has_state = c->phase < PHASE_ASK || c->phase == PHASE_POSITION;
	const struct rt_message reply = {
		.kind = has_state ? MESSAGE_STATE : MESSAGE_REFUSAL,
		.bytes = has_state ? c->rt->job->state_bytes : 0,
	};

	rt_send(c->rt, peer, &reply);
}

static void refused(struct contributor *c, int peer)
{
	if (c->phase != PHASE_FETCH || peer != c->donor)
		return;
	c->refused |= UINT64_C(1) << peer;
	fetch(c);
}

static void message(struct contributor *c, const struct rt_event *event)
{
	switch (event->message.kind) {
	case MESSAGE_MERGED:
		merged(c, event);
		break;
	case MESSAGE_POSITION:
		told_position(c, event);
		break;
	case MESSAGE_STATE:
		got_state(c, event->peer);
		break;
	case MESSAGE_FETCH:
		give_state(c, event->peer);
		break;
	case MESSAGE_REFUSAL:
		refused(c, event->peer);
		break;
	}
}

static void start(struct contributor *c, const struct rt_event *event)
{
	if (event->incarnation)
		ask_all(c, PHASE_ASK);
	else
		next_step(c, event->at_ns);
}

/* A learner has gone down or come up. */
static void learner_changed(struct contributor *c, int peer, bool down)
{
	uint64_t bit = UINT64_C(1) << peer;

	c->down = down ? c->down | bit : c->down & ~bit;
	c->refused &= ~bit;
	if (c->phase == PHASE_STALL)
		stall(c);
	if (c->phase == PHASE_FETCH && c->donor == peer)
		ask_all(c, PHASE_ASK);
}

/* What was asked before the connection stood may have gone nowhere. */
static void syncer_up(struct contributor *c, int peer)
{
	int k = peer - c->rt->job->n_learners;

	if ((c->phase == PHASE_ASK || c->phase == PHASE_POSITION) && !(c->replied >> k & 1))
		ask(c, k);
}

void contributor_event(struct contributor *c, const struct rt_event *event)
{
	switch (event->kind) {
	case RT_START:
		start(c, event);
		break;
	case RT_COMPUTE:
		computed(c, event->at_ns);
		break;
	case RT_MESSAGE:
		message(c, event);
		break;
	case RT_PEER_DOWN:
	case RT_PEER_UP:
		if (event->peer < c->rt->job->n_learners)
			learner_changed(c, event->peer, event->kind == RT_PEER_DOWN);
		else if (event->kind == RT_PEER_UP)
			syncer_up(c, event->peer);
		break;
	default:
		break;
	}
}
