/* The group of learners; see group.h. */
#include "bench/strategy/group.h"

#include "bench/collective.h"
#include "bench/strategy/learner.h"

void group_init(struct group *g, struct rt *rt, enum group_rule rule,
	int64_t (*missed_bytes)(const struct job *job, int64_t from, int64_t to))
{
	*g = (struct group){
		.rt = rt,
		.rule = rule,
		.missed_bytes = missed_bytes,
		.whole = true,
		.donor = -1,
		.fetched_from = -1,
		.own = {.has_state = true},
	};
}

void group_advance(struct group *g, int64_t position)
{
	g->own.position = position;
}

static int members(const struct group *g)
{
	return g->rt->job->n_learners;
}

static void say(const struct group *g, int peer)
{
	const struct rt_message word = {
		.kind = MESSAGE_WORD,
		.epoch = g->epoch,
		.round = (uint64_t)g->own.position,
		.steps = g->own.has_state,
	};

	rt_send(g->rt, peer, &word);
}

static void say_to_all(const struct group *g)
{
	for (int p = 0; p < members(g); p++)
		if (p != g->rt->self && !g->down[p])
			say(g, p);
}

static const struct group_word *word_of(const struct group *g, int p)
{
	return p == g->rt->self ? &g->own : &g->word[p];
}

static bool all_have_spoken(const struct group *g)
{
	for (int p = 0; p < members(g); p++)
		if (p != g->rt->self && !(g->word[p].said && g->word[p].epoch == g->epoch))
			return false;
	return g->n_down == 0;
}

/* Where to go on from; -1 when nobody has state. */
static int64_t common_position(const struct group *g)
{
	int64_t best = -1;

	for (int p = 0; p < members(g); p++) {
		const struct group_word *w = word_of(g, p);
		bool better = g->rule == GROUP_LEAST ? w->position < best : w->position > best;

		if (w->has_state && (best < 0 || better))
			best = w->position;
	}
	return best;
}

static bool is_there(const struct group *g, int p, int64_t position)
{
	const struct group_word *w = word_of(g, p);

	return w->has_state && (g->rule == GROUP_LEAST || w->position == position);
}

static void fetch(struct group *g, int64_t position)
{
	const struct rt_message request = {
		.kind = MESSAGE_FETCH,
		.epoch = g->epoch,
		.round = (uint64_t)position,
		.steps = g->own.has_state,
		.tokens = (uint64_t)g->own.position,
	};

	for (g->donor = 0; !is_there(g, g->donor, position); g->donor++)
		;
	rt_send(g->rt, g->donor, &request);
}

static unsigned stand_at(struct group *g, int64_t position, int donor)
{
	g->own.has_state = true;
	g->own.position = position;
	g->fetched_from = donor;
	g->donor = -1;
	return GROUP_FETCHED;
}

static unsigned conclude(struct group *g)
{
	unsigned change = 0;
	int64_t position;

	if (g->whole || !all_have_spoken(g))
		return 0;
	position = common_position(g);
	if (position < 0) {
		change = stand_at(g, 0, -1);
	} else if (!is_there(g, g->rt->self, position)) {
		if (g->donor >= 0)
			return 0;
		fetch(g, position);
		return GROUP_FETCHES;
	} else {
		for (int p = 0; p < members(g); p++)
			if (!is_there(g, p, position))
				return 0;
	}
	g->whole = true;
	g->target = position < 0 ? 0 : position;
	g->own.position = g->target;
	return change | GROUP_WHOLE;
}

static unsigned start(struct group *g, const struct rt_event *event)
{
	g->epoch = event->epoch;
	if (event->incarnation == 0)
		return 0;
	g->whole = false;
	g->own.has_state = false;
	say_to_all(g);
	return GROUP_BROKEN | conclude(g);
}

static unsigned peer_down(struct group *g, int peer)
{
	if (!g->down[peer])
		g->n_down++;
	g->down[peer] = true;
	g->whole = false;
	if (g->donor == peer)
		g->donor = -1;
	return GROUP_BROKEN;
}

static unsigned peer_up(struct group *g, const struct rt_event *event)
{
	if (g->down[event->peer])
		g->n_down--;
	g->down[event->peer] = false;
	g->whole = false;
	g->epoch = event->epoch;
	say_to_all(g);
	return GROUP_BROKEN | conclude(g);
}

/* Within an epoch a second word says that its sender has fetched; it may overtake the first. */
static bool is_news(const struct group_word *known, const struct group_word *heard)
{
	if (known->epoch != heard->epoch)
		return heard->epoch > known->epoch;
	if (known->has_state != heard->has_state)
		return heard->has_state;
	return heard->position > known->position;
}

static unsigned hear_word(struct group *g, const struct rt_event *event)
{
	struct group_word *w = &g->word[event->peer];

	struct group_word heard = {
		.said = true,
		.epoch = event->message.epoch,
		.has_state = event->message.steps != 0,
		.position = (int64_t)event->message.round,
	};

	if (w->said && !is_news(w, &heard))
		return 0;
	*w = heard;
	return conclude(g);
}

static void give(const struct group *g, const struct rt_event *event)
{
	const struct rt_message *request = &event->message;
	struct rt_message state = {
		.kind = MESSAGE_STATE,
		.epoch = request->epoch,
		.round = request->round,
		.bytes = g->rt->job->state_bytes,
	};

	if (request->steps)
		state.bytes = g->missed_bytes(
			g->rt->job, (int64_t)request->tokens, (int64_t)request->round);
	rt_send(g->rt, event->peer, &state);
}

/* What the donor sent is good in a later epoch too: nobody went on meanwhile. */
static unsigned take(struct group *g, const struct rt_event *event)
{
	unsigned change;

	if (event->peer != g->donor)
		return 0;
	change = stand_at(g, (int64_t)event->message.round, event->peer);
	say_to_all(g);
	return change | conclude(g);
}

unsigned group_event(struct group *g, const struct rt_event *event)
{
	bool learner = event->peer < members(g);

	switch (event->kind) {
	case RT_START:
		return start(g, event);
	case RT_PEER_DOWN:
		return learner ? peer_down(g, event->peer) : 0;
	case RT_PEER_UP:
		return learner ? peer_up(g, event) : 0;
	case RT_MESSAGE:
		if (event->message.kind == MESSAGE_WORD)
			return hear_word(g, event);
		if (event->message.kind == MESSAGE_FETCH)
			give(g, event);
		if (event->message.kind == MESSAGE_STATE)
			return take(g, event);
		return 0;
	default:
		return 0;
	}
}

bool group_owns_ring(const struct group *g, const struct rt_event *event)
{
	return event->kind == RT_MESSAGE && event->message.kind == MESSAGE_RING &&
	       event->message.epoch == g->epoch;
}

void group_report_recovered(const struct group *g)
{
	if (g->fetched_from >= 0)
		report_number(g->rt, REPORT_RECOVERED, g->fetched_from);
}
