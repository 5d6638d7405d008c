/*
 * The controller of a live run: when things happen. Connect, measure, start, break things on
 * schedule, notice the end, wait for what is under way, stop.
 */
#include "bench/live/live.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bench/live/crew.h"

#define TICK_NS (100 * NS_PER_MS)
#define START_NS (100 * NS_PER_MS) /* from the decision to time zero: for all to hear of it */
#define DRAIN_POLL_NS (20 * NS_PER_MS)
#define DRAIN_MAX_NS (10 * NS_PER_S)
#define GRACE_NS (2 * NS_PER_S)

enum phase { CONNECTING, MEASURING, RUNNING, DRAINING, OVER };

/* A fault's beginning or end. */
struct action {
	int64_t at_ns;
	const struct fault *fault;
	bool begins;
};

struct live {
	const struct scenario *scenario;
	const struct observer *observer;
	void (*links_start)(void *user, int64_t t0_ns);
	struct error *err;
	struct outcome *out;
	struct loop loop;
	struct crew crew;
	enum phase phase;
	int code; /* why it failed; 0 while it did not */
	int64_t t0_ns;
	int64_t end_ns;	   /* scenario time after which nothing counts */
	int64_t clamp_ns;  /* when the agent was killed whose last words are being read */
	int64_t latest_ns; /* of what was told to the observer */
	size_t n_actions, next_action;
	struct action *actions;
	struct loop_timer tick, act, limit, drain;
	int64_t drain_until_ns;
};

static int64_t scenario_ns(const struct live *l, int64_t real_ns)
{
	return (int64_t)((double)(real_ns - l->t0_ns) / l->scenario->dilation);
}

static int64_t real_ns(const struct live *l, int64_t at_ns)
{
	double real = (double)at_ns * l->scenario->dilation;

	return real > (double)(INT64_MAX / 2) ? INT64_MAX / 2 : l->t0_ns + (int64_t)real;
}

static struct live *live_of(struct crew *crew)
{
	return container_of(crew, struct live, crew);
}

static void fail(struct live *l, int code)
{
	l->code = code;
	l->phase = OVER;
}

static void observe_state(struct live *l, int participant, int64_t at_ns, enum state state)
{
	if (l->observer->state)
		l->observer->state(l->observer->user, participant, at_ns, state);
}

/* The run is over as far as results are concerned. */
static void finish(struct live *l, enum run_end end, int64_t at_ns)
{
	l->out->end = end;
	l->end_ns = l->out->wall_ns = at_ns;
	loop_timer_cancel(&l->loop, &l->tick);
	loop_timer_cancel(&l->loop, &l->act);
	loop_timer_cancel(&l->loop, &l->limit);
	if (end != END_DONE) {
		l->phase = OVER;
		return;
	}
	l->phase = DRAINING;
	l->drain_until_ns =
		l->loop.now_ns + (int64_t)((double)DRAIN_MAX_NS * l->scenario->dilation);
	loop_timer_set(&l->loop, &l->drain, l->loop.now_ns);
}

static void on_rtt(struct live *l, int participant, const struct news *news)
{
	int from = l->crew.setup.mesh.nodes[participant].site;
	int to = l->crew.setup.mesh.nodes[news->peer].site;
	int64_t rtt =
		news->rtt_ns < 0 ? -1 : (int64_t)((double)news->rtt_ns / l->scenario->dilation);

	l->out->idle_rtt_ns[from][to] = l->out->idle_rtt_ns[to][from] = rtt;
}

static void observe(struct live *l, int participant, const struct news *news)
{
	const struct observer *o = l->observer;
	int64_t at_ns = news->at_ns < l->clamp_ns ? news->at_ns : l->clamp_ns;

	if (at_ns > l->latest_ns)
		l->latest_ns = at_ns;
	if (news->kind == NEWS_STATE)
		observe_state(l, participant, at_ns, news->state);
	else if (news->kind == NEWS_REPORT && o->report)
		o->report(o->user, participant, at_ns, &news->report);
	else if (news->kind == NEWS_DONE && o->done)
		o->done(o->user, participant, at_ns);
	else if (news->kind == NEWS_SILENCE && o->silence)
		o->silence(o->user, participant, news->peer, news->silent, at_ns);
	else if (news->kind == NEWS_TCP && o->tcp)
		o->tcp(o->user, participant, news->peer, at_ns, &news->tcp);
}

static bool all_learners_done(const struct live *l)
{
	for (int i = 0; i < l->scenario->job.n_learners; i++)
		if (!l->crew.members[i].done)
			return false;
	return true;
}

/* Exchanges that were under way at the end are drained: they are told, as of the end. */
static bool is_exchange(const struct news *news)
{
	return news->kind == NEWS_REPORT && news->report.kind == REPORT_EXCHANGE;
}

static void on_news(struct crew *crew, int participant, const struct news *news)
{
	struct live *l = live_of(crew);

	if (news->kind == NEWS_FAILED && l->phase < OVER)
		fail(l, error_set(l->err, -EIO, STATUS_MACHINE, "%s", news->text));
	else if (news->kind == NEWS_RTT)
		on_rtt(l, participant, news);
	else if (news->at_ns <= l->end_ns)
		observe(l, participant, news);
	else if (l->phase < OVER && is_exchange(news) && l->observer->report)
		l->observer->report(l->observer->user, participant, l->end_ns, &news->report);
	if (news->kind == NEWS_DONE && l->phase == RUNNING && all_learners_done(l))
		finish(l, END_DONE, l->latest_ns);
}

static void on_death(struct crew *crew, int participant, const char *text)
{
	struct live *l = live_of(crew);

	if (l->phase == OVER)
		return;
	if (l->t0_ns)
		error_set(l->err, -ECHILD, STATUS_MACHINE,
			"the agent of %s %s at %.3f s, which no fault of the scenario had asked "
			"for",
			crew_name(crew, participant), text,
			(double)scenario_ns(l, clock_now_ns()) / NS_PER_S);
	else
		error_set(l->err, -ECHILD, STATUS_MACHINE,
			"the agent of %s %s before the run began", crew_name(crew, participant),
			text);
	fail(l, -ECHILD);
}

static const struct crew_user crew_user = {.news = on_news, .died = on_death};

static void tick_due(struct loop_timer *timer)
{
	struct live *l = container_of(timer, struct live, tick);
	bool running = l->phase == RUNNING && l->loop.now_ns >= l->t0_ns;
	int64_t at_ns = running ? scenario_ns(l, clock_now_ns()) : -1;

	loop_timer_set(&l->loop, timer, timer->node.at_ns + TICK_NS);
	if (l->observer->tick && l->observer->tick(l->observer->user, at_ns))
		finish(l, END_STOPPED, at_ns < 0 ? 0 : at_ns);
}

static void limit_due(struct loop_timer *timer)
{
	struct live *l = container_of(timer, struct live, limit);

	finish(l, END_LIMIT, l->scenario->limit_ns);
}

/*
 * Whether nothing is under way. Received is read first and sent last, and an agent publishes
 * them the other way round: so when they are equal, all that had been sent was received, what it
 * led to is counted, and with no timer set nothing can follow.
 */
static bool drained(const struct live *l)
{
	uint64_t received = 0, pending = 0, sent = 0;

	for (int i = 0; i < l->crew.n; i++)
		received += counter_read(&l->crew.counters[i].flow.received);
	for (int i = 0; i < l->crew.n; i++)
		pending += counter_read(&l->crew.counters[i].flow.pending);
	for (int i = 0; i < l->crew.n; i++)
		sent += counter_read(&l->crew.counters[i].flow.sent);
	return sent == received && !pending;
}

static void drain_due(struct loop_timer *timer)
{
	struct live *l = container_of(timer, struct live, drain);

	if (drained(l) || l->loop.now_ns >= l->drain_until_ns)
		l->phase = OVER;
	else
		loop_timer_set(&l->loop, timer, l->loop.now_ns + DRAIN_POLL_NS);
}

/* Kills the site's learner (or the star syncer, on its own site), now. */
static void crash(struct live *l, int participant)
{
	int64_t at_ns = scenario_ns(l, clock_now_ns());

	l->clamp_ns = at_ns;
	crew_kill(&l->crew, participant);
	l->clamp_ns = TIME_NEVER;
	observe_state(l, participant, at_ns, STATE_DOWN);
	crew_tell(&l->crew, &(struct order){.kind = ORDER_GONE, .participant = participant});
}

static void repair(struct live *l, int participant)
{
	int r = crew_start(&l->crew, participant, l->t0_ns, l->err);

	if (r < 0)
		fail(l, r);
	else
		observe_state(l, participant, scenario_ns(l, clock_now_ns()), STATE_RECOVER);
}

static void perform(struct live *l, const struct action *action)
{
	const struct observer *o = l->observer;

	if (o->fault)
		o->fault(o->user, action->fault, action->begins, scenario_ns(l, clock_now_ns()));
	if (action->fault->kind != FAULT_CRASH)
		return;
	if (action->begins)
		crash(l, action->fault->site);
	else
		repair(l, action->fault->site);
}

/* Others have their turn even if more has to happen than there is time for. */
static void set_action_after(struct live *l, int64_t least_ns)
{
	int64_t at_ns;

	if (l->next_action == l->n_actions)
		return;
	at_ns = real_ns(l, l->actions[l->next_action].at_ns);
	loop_timer_set(&l->loop, &l->act, at_ns > least_ns ? at_ns : least_ns);
}

static void act_due(struct loop_timer *timer)
{
	struct live *l = container_of(timer, struct live, act);

	perform(l, &l->actions[l->next_action++]);
	if (l->phase == RUNNING)
		set_action_after(l, clock_now_ns() + NS_PER_MS);
}

static int compare_actions(const void *a, const void *b)
{
	const struct action *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (int)x->begins - (int)y->begins; /* a repair before the next crash */
}

static void make_actions(struct live *l, const struct fault *faults, size_t n)
{
	l->n_actions = 2 * n;
	l->actions = memory_zero(l->n_actions, sizeof *l->actions);
	for (size_t i = 0; i < n; i++) {
		l->actions[2 * i] = (struct action){faults[i].at_ns, &faults[i], true};
		l->actions[2 * i + 1] =
			(struct action){faults[i].at_ns + faults[i].for_ns, &faults[i], false};
	}
	qsort(l->actions, l->n_actions, sizeof *l->actions, compare_actions);
}

static void start(struct live *l)
{
	l->phase = RUNNING;
	l->t0_ns = clock_now_ns() + START_NS;
	if (l->links_start)
		l->links_start(l->observer->user, l->t0_ns);
	crew_tell(&l->crew, &(struct order){.kind = ORDER_START, .t0_ns = l->t0_ns});
	loop_timer_set(&l->loop, &l->tick, l->t0_ns + TICK_NS);
	loop_timer_set(&l->loop, &l->limit, real_ns(l, l->scenario->limit_ns));
	set_action_after(l, 0);
}

/* After anything happened: is it time for the next phase? */
static void settle(struct loop *loop)
{
	struct live *l = container_of(loop, struct live, loop);
	bool connected = true, measured = true;

	for (int i = 0; i < l->crew.n; i++) {
		connected &= l->crew.members[i].connected;
		measured &= l->crew.members[i].measured;
	}
	if (l->phase == CONNECTING && connected) {
		l->phase = MEASURING;
		crew_tell(&l->crew, &(struct order){.kind = ORDER_MEASURE});
	} else if (l->phase == MEASURING && measured) {
		start(l);
	}
}

static void run(struct live *l)
{
	int r = 0;

	for (int i = 0; !r && i < l->crew.n; i++)
		r = crew_start(&l->crew, i, 0, l->err);
	if (r < 0)
		fail(l, r);
	loop_timer_set(&l->loop, &l->tick, l->loop.now_ns + TICK_NS);
	while (l->phase != OVER) {
		r = loop_once(&l->loop);
		if (r < 0)
			fail(l, error_sys(l->err, r, "cannot wait for the agents"));
	}
	if (!l->code)
		crew_stop(&l->crew, GRACE_NS);
}

static void collect_bytes(struct live *l)
{
	struct traffic *bytes;

	l->out->n_participants = l->crew.n;
	for (int i = 0; i < l->crew.n; i++) {
		bytes = &l->out->bytes[i];
		*bytes = l->crew.counters[i].link;
		bytes->local_sent = l->crew.counters[i].local.payload_sent;
	}
}

int live_run(const struct scenario *s, const struct topology *t, const struct fault *faults,
	size_t n_faults, void (*links_start)(void *user, int64_t t0_ns),
	const struct observer *observer, struct outcome *out, struct error *err)
{
	_free_ struct live *l = memory_zero(1, sizeof *l);
	_free_ struct outcome *result = memory_zero(1, sizeof *result);
	int r;

	*l = (struct live){.scenario = s,
		.observer = observer,
		.links_start = links_start,
		.err = err,
		.out = result,
		.end_ns = s->limit_ns,
		.clamp_ns = TIME_NEVER,
		.tick.fire = tick_due,
		.act.fire = act_due,
		.limit.fire = limit_due,
		.drain.fire = drain_due};
	for (int i = 0; i < SITES_MAX; i++)
		for (int j = 0; j < SITES_MAX; j++)
			result->idle_rtt_ns[i][j] = -1;
	r = loop_open(&l->loop, settle);
	if (r < 0)
		return error_sys(err, r, "cannot create an epoll descriptor");
	r = crew_open(&l->crew, &l->loop, s, t, &crew_user, err);
	if (!r) {
		make_actions(l, faults, n_faults);
		run(l);
		collect_bytes(l);
		crew_close(&l->crew);
		free(l->actions);
		r = l->code;
	}
	loop_close(&l->loop);
	if (!r)
		*out = *result;
	return r;
}
