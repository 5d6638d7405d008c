/*
 * The controller of a live run: when things happen. Connect, measure, start, break things on
 * schedule, notice the end, wait for what is under way, stop.
 */
#include "bench/live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "bench/live/crew.h"
#include "bench/live/patience.h"

#define TICK_NS (100 * NS_PER_MS)
#define START_NS (100 * NS_PER_MS) /* from the decision to time zero: for all to hear of it */
#define DRAIN_POLL_NS (20 * NS_PER_MS)
#define DRAIN_MAX_NS (10 * NS_PER_S)
#define GRACE_NS (2 * NS_PER_S)
#define OVERDUE_NS (3 * NS_PER_S)  /* after an agent should have said that it cannot connect */
#define MEASURE_NS (10 * NS_PER_S) /* for the pings of all, but for the last answers */

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
	struct loop_timer tick, act, limit, drain, overdue;
	int n_up; /* pairs on different sites that are connected, before the start */
	int64_t drain_until_ns;
	int64_t ran_ns; /* when this process was last seen to run */
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

/* Tells of agents that did not run: those that do again, and at_end those that still do not. */
static void observe_still(struct live *l, bool at_end)
{
	int64_t for_ns, at_ns = l->t0_ns ? scenario_ns(l, clock_now_ns()) : 0;

	for (int i = 0; i < l->crew.n; i++)
		if (crew_stood_still(&l->crew, i, at_end, &for_ns) && l->observer->still)
			l->observer->still(l->observer->user, i, at_ns,
				(int64_t)((double)for_ns / l->scenario->dilation));
}

/* Tells of this very process not running: time in which it saw and did nothing. */
static void observe_absence(struct live *l)
{
	int64_t now = clock_now_ns(), from_ns = l->ran_ns > l->t0_ns ? l->ran_ns : l->t0_ns;

	l->ran_ns = now;
	if (l->phase == RUNNING && now - from_ns >= STILL_NS && l->observer->absent)
		l->observer->absent(l->observer->user, scenario_ns(l, now),
			(int64_t)((double)(now - from_ns) / l->scenario->dilation));
}

/* The run is over as far as results are concerned. */
static void finish(struct live *l, enum run_end end, int64_t at_ns)
{
	observe_absence(l);
	observe_still(l, true);
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

static bool share_site(const struct live *l, int a, int b)
{
	return job_site(&l->scenario->job, a) == job_site(&l->scenario->job, b);
}

/* Of participants that have links between them. */
static int n_pairs(const struct live *l)
{
	int n = 0;

	for (int a = 0; a < l->crew.n; a++)
		for (int b = 0; b < a; b++)
			n += !share_site(l, a, b);
	return n;
}

static const char *site_name(const struct live *l, int participant)
{
	return l->scenario->sites[job_site(&l->scenario->job, participant)].name;
}

/* What keeps two sites from connecting, as far as it is known. */
static void describe_obstacle(struct live *l, int a, int b, int code, char *text, size_t size)
{
	const struct scenario *s = l->scenario;
	int from = job_site(&s->job, a), to = job_site(&s->job, b);
	double there = patience_loss(s, from, to), back = patience_loss(s, to, from);
	char lost[2][32];
	int64_t for_ns;
	int still = crew_stood_still(&l->crew, a, true, &for_ns)   ? a
		    : crew_stood_still(&l->crew, b, true, &for_ns) ? b
								   : -1;

	if (still >= 0)
		snprintf(text, size, "the agent of %s has not run for %.1f s of real time",
			site_name(l, still), (double)for_ns / NS_PER_S);
	else if (code && code != -ETIMEDOUT)
		snprintf(text, size, "%s", strerror(-code));
	else if (there > 0 || back > 0)
		snprintf(text, size,
			"the links between them lose %s of the segments there and %s back, too "
			"many for TCP to open its connections",
			percent_format(lost[0], sizeof lost[0], there, 3),
			percent_format(lost[1], sizeof lost[1], back, 3));
	else
		snprintf(text, size,
			"nothing was heard, though the links between them lose nothing: this "
			"machine "
			"may be too busy");
}

static void cannot_connect(struct live *l, int a, int b, int code)
{
	char obstacle[512];

	describe_obstacle(l, a, b, code, obstacle, sizeof obstacle);
	fail(l, error_set(l->err, -ETIMEDOUT, STATUS_INVALID,
			"%s and %s could not connect within %.0f s of real time: %s",
			site_name(l, a), site_name(l, b),
			(double)l->crew.setup.connect_ns / NS_PER_S, obstacle));
}

/* Nobody said that it cannot go on, but one has not said that it can. */
static void overdue_due(struct loop_timer *timer)
{
	struct live *l = container_of(timer, struct live, overdue);
	const char *what = l->phase == CONNECTING ? "connect" : "measure its idle links";
	int64_t for_ns = 0;
	int i = 0;

	while (i < l->crew.n - 1 && (l->phase == CONNECTING ? l->crew.members[i].connected
							    : l->crew.members[i].measured))
		i++;
	if (crew_stood_still(&l->crew, i, true, &for_ns))
		fail(l, error_set(l->err, -ETIMEDOUT, STATUS_INVALID,
				"%s did not %s: its agent has not run for %.1f s of real time",
				site_name(l, i), what, (double)for_ns / NS_PER_S));
	else
		fail(l, error_set(l->err, -ETIMEDOUT, STATUS_INVALID,
				"%s did not %s in time: this machine is too busy", site_name(l, i),
				what));
}

static void on_news(struct crew *crew, int participant, const struct news *news)
{
	struct live *l = live_of(crew);

	if (news->kind == NEWS_FAILED && l->phase < OVER)
		fail(l, error_set(l->err, -EIO, STATUS_MACHINE, "%s", news->text));
	else if (news->kind == NEWS_UNCONNECTED && l->phase == CONNECTING)
		cannot_connect(l, participant, news->peer, news->code);
	else if (news->kind == NEWS_UP)
		l->n_up += participant > news->peer && !share_site(l, participant, news->peer);
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
	observe_absence(l);
	observe_still(l, false);
	if (l->phase == CONNECTING && l->observer->connecting)
		l->observer->connecting(l->observer->user, l->n_up, n_pairs(l));
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

	if (!drained(l) && l->loop.now_ns < l->drain_until_ns) {
		loop_timer_set(&l->loop, timer, l->loop.now_ns + DRAIN_POLL_NS);
		return;
	}
	crew_read(&l->crew); /* what was told of it may still be on its way */
	l->phase = OVER;
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
	loop_timer_cancel(&l->loop, &l->overdue);
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
		loop_timer_set(&l->loop, &l->overdue,
			l->loop.now_ns + l->crew.setup.mesh.attempt_ns + MEASURE_NS);
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
	loop_timer_set(
		&l->loop, &l->overdue, l->loop.now_ns + l->crew.setup.connect_ns + OVERDUE_NS);
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
		.drain.fire = drain_due,
		.overdue.fire = overdue_due};
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
