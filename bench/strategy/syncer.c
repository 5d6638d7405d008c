/* The syncer of decoupled-diloco; see syncer.h. */
#include "bench/strategy/syncer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/collective.h"
#include "bench/strategy/fragments.h"

#define TIMER_GRACE 0

struct contribution {
	int learner;
	bool wanted; /* its sender waits for the answer: it has not crashed since */
	int64_t round;
	uint64_t tokens, steps;
	int64_t sent_ns;
};

struct amount {
	uint64_t tokens, steps;
};

struct fragment {
	int64_t merged;	     /* the last round merged; one before the first at the start */
	int64_t deadline_ns; /* when its grace window ends; TIME_NEVER: no quorum */
	size_t n, room;
	struct contribution *contributions; /* to rounds not merged */
	struct amount late[LEARNERS_MAX];   /* carried over from earlier rounds */
	int n_late;
};

struct syncer_state {
	struct rt *rt;
	struct fragment *fragments;
	uint64_t fit;		   /* learners that are up and have state, one bit each */
	double quorum_ns, sync_ns; /* moving averages; negative: nothing measured yet */
	int64_t last;		   /* latest exchange merged, numbered as in fragments.h */
};

int syncer_count(const struct job *job)
{
	return job_participants(job) - job->n_learners;
}

int64_t syncer_share(const struct job *job, int64_t bytes, int k)
{
	return share_of(bytes, k, syncer_count(job));
}

double syncer_weight(uint64_t tokens, uint64_t steps)
{
	return (double)tokens * ((double)tokens / (double)steps);
}

int64_t syncer_grace_ns(
	double gamma, int overlap, int64_t step_ns, double quorum_ns, double sync_ns)
{
	double slack_ns = (double)step_ns * overlap - (quorum_ns + sync_ns);

	return slack_ns > 0 ? (int64_t)(gamma * slack_ns) : 0;
}

static void average(double *x, int64_t measured_ns)
{
	if (*x < 0)
		*x = (double)measured_ns;
	else
		*x += ((double)measured_ns - *x) / SYNCER_AVERAGE;
}

static uint64_t bit(int learner)
{
	return UINT64_C(1) << learner;
}

struct syncer_state *syncer_new(struct rt *rt)
{
	struct syncer_state *s = memory_zero(1, sizeof *s);

	*s = (struct syncer_state){.rt = rt, .quorum_ns = -1, .sync_ns = -1};
	s->fragments = memory_zero((size_t)rt->job->fragments, sizeof *s->fragments);
	for (int p = 0; p < rt->job->fragments; p++) {
		s->fragments[p].merged = p ? -1 : 0; /* exchange 0 does not exist */
		s->fragments[p].deadline_ns = TIME_NEVER;
	}
	for (int m = 0; m < rt->job->n_learners; m++)
		s->fit |= bit(m);
	return s;
}

struct syncer_state *syncer_free(struct syncer_state *s)
{
	if (!s)
		return NULL;
	for (int p = 0; p < s->rt->job->fragments; p++)
		free(s->fragments[p].contributions);
	free(s->fragments);
	free(s);
	return NULL;
}

static int64_t part_of(const struct syncer_state *s, int64_t bytes)
{
	return syncer_share(s->rt->job, bytes, s->rt->self - s->rt->job->n_learners);
}

/* weight: the learner's part of the merge, units of 1e-9; 0 for one that is carried over. */
static void answer(struct syncer_state *s, int p, const struct contribution *c, int64_t weight)
{
	const struct rt_message message = {
		.kind = MESSAGE_MERGED,
		.fragment = (uint16_t)p,
		.round = (uint64_t)c->round,
		.tokens = (uint64_t)weight,
		.bytes = part_of(s, job_fragment_bytes(s->rt->job, p)),
	};

	if (c->wanted)
		rt_send(s->rt, c->learner, &message);
}

/* Learners who have contributed to rounds up to `round`. */
static uint64_t contributors(const struct fragment *f, int64_t round)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < f->n; i++)
		if (f->contributions[i].round <= round)
			mask |= bit(f->contributions[i].learner);
	return mask;
}

/* The earliest round that has its quorum; -1 if none has. */
static int64_t quorum_round(const struct syncer_state *s, const struct fragment *f)
{
	int64_t best = -1;

	for (size_t i = 0; i < f->n; i++) {
		int64_t round = f->contributions[i].round;
		uint64_t mask;

		if (best >= 0 && round >= best)
			continue;
		mask = contributors(f, round);
		if (__builtin_popcountll(mask) >= s->rt->job->quorum)
			best = round;
	}
	return best;
}

static void sum_amounts(const struct fragment *f, int64_t round, struct amount *amounts)
{
	memcpy(amounts, f->late, sizeof f->late);
	for (size_t i = 0; i < f->n; i++) {
		const struct contribution *c = &f->contributions[i];

		if (c->round > round)
			continue;
		amounts[c->learner].tokens += c->tokens;
		amounts[c->learner].steps += c->steps;
	}
}

static double weigh(const struct amount *amounts, double *weights)
{
	double total = 0;

	for (int m = 0; m < LEARNERS_MAX; m++) {
		weights[m] =
			amounts[m].steps ? syncer_weight(amounts[m].tokens, amounts[m].steps) : 0;
		total += weights[m];
	}
	return total;
}

/* In units of 1e-9; all are 0 when nobody has any tokens. */
static int64_t weight_share(double weight, double total)
{
	return total > 0 ? llround(RATIO_ONE * (weight / total)) : 0;
}

static void report_merge(const struct syncer_state *s, int p, int64_t round)
{
	const struct fragment *f = &s->fragments[p];
	const struct rt_report report = {
		.kind = REPORT_MERGE,
		.a = round,
		.b = p,
		.c = f->n_late,
		.amount = __builtin_popcountll(contributors(f, round)),
	};

	rt_report(s->rt, &report);
}

static void merge(struct syncer_state *s, int p, int64_t round)
{
	struct fragment *f = &s->fragments[p];
	struct amount amounts[LEARNERS_MAX];
	double weights[LEARNERS_MAX], total;
	int64_t e = round * s->rt->job->fragments + p;
	size_t left = 0;

	sum_amounts(f, round, amounts);
	total = weigh(amounts, weights);
	report_merge(s, p, round);
	for (size_t i = 0; i < f->n; i++) {
		const struct contribution c = f->contributions[i];

		if (c.round > round)
			f->contributions[left++] = c;
		else
			answer(s, p, &c, weight_share(weights[c.learner], total));
	}
	f->n = left;
	f->merged = round;
	f->deadline_ns = TIME_NEVER;
	memset(f->late, 0, sizeof f->late);
	f->n_late = 0;
	if (e > s->last)
		s->last = e;
}

/* The grace window of a round that has just got its quorum. */
static int64_t window_ns(
	struct syncer_state *s, const struct fragment *f, int64_t round, int64_t at_ns)
{
	const struct job *job = s->rt->job;
	int64_t first_ns = at_ns;
	double fastest = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct contribution *c = &f->contributions[i];

		if (c->round > round)
			continue;
		if (c->sent_ns < first_ns)
			first_ns = c->sent_ns;
		if (job->speed[c->learner] > fastest)
			fastest = job->speed[c->learner];
	}
	average(&s->quorum_ns, at_ns - first_ns);
	return syncer_grace_ns(job->grace, job->overlap, llround((double)job->step_ns / fastest),
		s->quorum_ns, s->sync_ns > 0 ? s->sync_ns : 0);
}

/* Merges what is to be merged of a fragment by now. */
static void settle(struct syncer_state *s, int p, int64_t at_ns)
{
	struct fragment *f = &s->fragments[p];
	int64_t round;

	while ((round = quorum_round(s, f)) >= 0) {
		if (f->deadline_ns == TIME_NEVER)
			f->deadline_ns = at_ns + window_ns(s, f, round, at_ns);
		if (at_ns < f->deadline_ns && s->fit & ~contributors(f, round))
			return;
		merge(s, p, round);
	}
}

static void set_timer(struct syncer_state *s, int64_t at_ns)
{
	int64_t first_ns = TIME_NEVER;

	for (int p = 0; p < s->rt->job->fragments; p++)
		if (s->fragments[p].deadline_ns < first_ns)
			first_ns = s->fragments[p].deadline_ns;
	rt_timer(s->rt, TIMER_GRACE, first_ns == TIME_NEVER ? -1 : first_ns - at_ns);
}

/* Room for a learner's contribution to a round; a restarted learner's replaces its old one. */
static struct contribution *contribution_for(struct fragment *f, int learner, int64_t round)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->contributions[i].learner == learner && f->contributions[i].round == round)
			return &f->contributions[i];
	if (f->n == f->room) {
		f->room = f->room ? 2 * f->room : 8;
		f->contributions =
			memory_resize(f->contributions, f->room, sizeof *f->contributions);
	}
	return &f->contributions[f->n++];
}

static void contribute(struct syncer_state *s, const struct rt_event *event)
{
	const struct rt_message *m = &event->message;
	struct fragment *f = &s->fragments[m->fragment];
	const struct contribution c = {
		.learner = event->peer,
		.wanted = true,
		.round = (int64_t)m->round,
		.tokens = m->tokens,
		.steps = m->steps,
		.sent_ns = m->sent_ns,
	};

	s->fit |= bit(event->peer);
	if (job_site(s->rt->job, event->peer) != job_site(s->rt->job, s->rt->self))
		average(&s->sync_ns, event->at_ns - m->sent_ns);
	if (c.round > f->merged) {
		*contribution_for(f, c.learner, c.round) = c;
		settle(s, m->fragment, event->at_ns);
		set_timer(s, event->at_ns);
		return;
	}
	f->late[c.learner].tokens += c.tokens;
	f->late[c.learner].steps += c.steps;
	f->n_late++;
	answer(s, m->fragment, &c, 0);
}

/*
 * The exchange from which a learner that comes back goes on: the oldest that somebody is stalled
 * for without a quorum, so that nobody waits in vain; else the one after the last merged.
 */
static int64_t position(const struct syncer_state *s)
{
	bool stalls = s->rt->job->when_late == WHEN_LATE_STALL;
	int P = s->rt->job->fragments;
	int64_t oldest = INT64_MAX, last = s->last;

	for (int p = 0; p < P; p++) {
		const struct fragment *f = &s->fragments[p];
		int64_t quorate = quorum_round(s, f);

		if (quorate >= 0 && quorate * P + p > last)
			last = quorate * P + p;
		for (size_t i = 0; i < f->n; i++) {
			const struct contribution *c = &f->contributions[i];

			if (stalls && c->wanted && c->round > quorate && c->round * P + p < oldest)
				oldest = c->round * P + p;
		}
	}
	return oldest < INT64_MAX ? oldest : last + 1;
}

static void tell_position(struct syncer_state *s, const struct rt_event *event)
{
	const struct rt_message message = {
		.kind = MESSAGE_POSITION,
		.stage = event->message.stage,
		.round = (uint64_t)position(s),
		.tokens = s->fit & ~bit(event->peer),
	};

	rt_send(s->rt, event->peer, &message);
	if (event->message.steps)
		s->fit |= bit(event->peer);
}

static void give_state(struct syncer_state *s, const struct rt_event *event)
{
	const struct rt_message message = {
		.kind = MESSAGE_STATE,
		.bytes = part_of(s, s->rt->job->state_bytes),
	};

	rt_send(s->rt, event->peer, &message);
}

static void learner_down(struct syncer_state *s, int learner, int64_t at_ns)
{
	s->fit &= ~bit(learner);
	for (int p = 0; p < s->rt->job->fragments; p++) {
		struct fragment *f = &s->fragments[p];

		for (size_t i = 0; i < f->n; i++)
			if (f->contributions[i].learner == learner)
				f->contributions[i].wanted = false;
		settle(s, p, at_ns);
	}
	set_timer(s, at_ns);
}

static void message(struct syncer_state *s, const struct rt_event *event)
{
	if (event->message.kind == MESSAGE_CONTRIBUTION)
		contribute(s, event);
	else if (event->message.kind == MESSAGE_ASK)
		tell_position(s, event);
	else if (event->message.kind == MESSAGE_FETCH)
		give_state(s, event);
}

void syncer_event(struct syncer_state *s, const struct rt_event *event)
{
	switch (event->kind) {
	case RT_START:
		rt_state(s->rt, STATE_IDLE);
		break;
	case RT_MESSAGE:
		message(s, event);
		break;
	case RT_PEER_DOWN:
		if (event->peer < s->rt->job->n_learners)
			learner_down(s, event->peer, event->at_ns);
		break;
	case RT_TIMER:
		for (int p = 0; p < s->rt->job->fragments; p++)
			settle(s, p, event->at_ns);
		set_timer(s, event->at_ns);
		break;
	default:
		break;
	}
}
