/*
 * The controller of a simulated run: what live.c is for real packets. Breaks things on schedule,
 * samples, notices the end, and lets what is under way arrive.
 */
#include "bench/model/model.h"

#include <stdlib.h>

#include "base/memory.h"
#include "bench/model/flows.h"

#define DRAIN_MAX_NS (10 * NS_PER_S)
#define RETRY_NS (250 * NS_PER_MS) /* between a live agent's attempts to connect, not dilated */

/* A fault's beginning or end. */
struct action {
	struct world_event event;
	struct model *model;
	const struct fault *fault;
	bool begins;
};

struct model {
	const struct scenario *scenario;
	const struct observer *observer;
	struct outcome *out;
	struct observer watch; /* of the world */
	struct world world;
	struct flows *flows;
	bool over; /* what happens now enters no result */
	int64_t tick_ns, next_tick_ns;
	int64_t crashed_ns[PARTICIPANTS_MAX];
	struct action *actions;
};

/* What happens in the world, on its way to the observer. */

static void on_state(void *user, int participant, int64_t at_ns, enum state state)
{
	struct model *m = user;

	if (!m->over && m->observer->state)
		m->observer->state(m->observer->user, participant, at_ns, state);
}

/* As in a live run, exchanges that end while the run is drained are told as of its end. */
static void on_report(void *user, int participant, int64_t at_ns, const struct rt_report *report)
{
	struct model *m = user;

	if (!m->observer->report || (m->over && report->kind != REPORT_EXCHANGE))
		return;
	m->observer->report(
		m->observer->user, participant, m->over ? m->out->wall_ns : at_ns, report);
}

static void on_done(void *user, int participant, int64_t at_ns)
{
	struct model *m = user;

	if (!m->over && m->observer->done)
		m->observer->done(m->observer->user, participant, at_ns);
}

/* Who hears of whom when: as live agents do, by their connections. */

static int64_t one_way_ns(const struct model *m, int from, int to)
{
	int a = job_site(&m->scenario->job, from), b = job_site(&m->scenario->job, to);

	return a == b ? 0 : flows_one_way_ns(m->flows, a, b);
}

/* The reset of a connection takes one way. */
static int64_t until_lost(void *user, int who, int peer)
{
	return one_way_ns(user, peer, who);
}

/*
 * The higher id connects: a newcomer at once, others at their next attempt, which is due 250 ms
 * after the last was refused. A session takes a round trip for the connections, one for the
 * greetings, and half a one until the other side hears that all have been greeted.
 */
static int64_t until_met(void *user, int who, int peer, int newcomer)
{
	struct model *m = user;
	int other = who == newcomer ? peer : who;
	int initiator = who > peer ? who : peer;
	int64_t way = one_way_ns(m, other, newcomer), back = one_way_ns(m, newcomer, other);
	int64_t rtt = way + back, now = m->world.now_ns, attempt = now;
	int64_t retry = (int64_t)((double)RETRY_NS / m->scenario->dilation);

	if (initiator != newcomer) {
		attempt = m->crashed_ns[newcomer] + back + retry;
		if (attempt + way < now)
			attempt += (now - attempt - way + rtt + retry - 1) / (rtt + retry) *
				   (rtt + retry);
	}
	return attempt - now + 2 * rtt + (who == initiator ? 0 : rtt / 2);
}

/* Faults. */

static void act(struct world_event *event)
{
	struct action *a = container_of(event, struct action, event);
	struct model *m = a->model;
	const struct observer *o = m->observer;
	int64_t now = m->world.now_ns;

	if (m->over)
		return;
	if (o->fault)
		o->fault(o->user, a->fault, a->begins, now);
	if (a->fault->kind != FAULT_CRASH || !a->begins)
		return;
	m->crashed_ns[a->fault->site] = now;
	world_crash(&m->world, a->fault->site, a->fault->for_ns);
}

/* An end before a beginning at the same time, as fault_schedule says. */
static void schedule(struct model *m, const struct fault *faults, size_t n)
{
	m->actions = memory_zero(2 * n, sizeof *m->actions);
	for (size_t i = 0; i < 2 * n; i++) {
		const struct fault *f = &faults[i % n];
		bool begins = i >= n;

		m->actions[i] = (struct action){.event = {.fire = act, .background = true},
			.model = m,
			.fault = f,
			.begins = begins};
		world_set(&m->world, &m->actions[i].event, f->at_ns + (begins ? 0 : f->for_ns));
	}
}

/* Time. */

static int64_t tick_interval(const struct job *job)
{
	double compute_s =
		(double)(job->steps + job->warmup) * (double)job->step_ns / (double)NS_PER_S;

	return compute_s <= 600 ? 100 * NS_PER_MS : compute_s <= 14400 ? NS_PER_S : 10 * NS_PER_S;
}

/* Nonzero: stop. */
static int tick(struct model *m, int64_t at_ns)
{
	flows_count(m->flows, at_ns);
	return m->observer->tick ? m->observer->tick(m->observer->user, at_ns) : 0;
}

static void end(struct model *m, enum run_end why, int64_t at_ns)
{
	m->over = true;
	m->out->end = why;
	m->out->wall_ns = at_ns;
}

static void run(struct model *m)
{
	while (!m->over) {
		int64_t next = world_next_ns(&m->world);

		if (m->next_tick_ns <= next && m->next_tick_ns < m->scenario->limit_ns) {
			if (tick(m, m->next_tick_ns))
				end(m, END_STOPPED, m->next_tick_ns);
			m->next_tick_ns += m->tick_ns;
		} else if (next > m->scenario->limit_ns) {
			end(m, END_LIMIT, m->scenario->limit_ns);
		} else {
			world_step(&m->world);
			if (m->world.n_done == m->scenario->job.n_learners)
				end(m, END_DONE, m->world.now_ns);
		}
	}
	tick(m, m->out->wall_ns);
}

static void drain(struct model *m)
{
	if (m->out->end != END_DONE)
		return;
	while (world_next_ns(&m->world) <= m->out->wall_ns + DRAIN_MAX_NS)
		world_step(&m->world);
}

static void set_up(struct model *m, const struct link_plan *links)
{
	m->watch = (struct observer){
		.user = m, .state = on_state, .report = on_report, .done = on_done};
	m->flows = flows_new(&m->world,
		&(struct flows_config){.scenario = m->scenario, .links = links, .out = m->out});
	world_init(&m->world, &(struct world_config){
				      .job = &m->scenario->job,
				      .strategy = m->scenario->strategy,
				      .network = flows_network(m->flows),
				      .observer = &m->watch,
				      .notices = {until_lost, until_met},
				      .user = m,
				      .join = JOIN_WHEN_MET,
			      });
	flows_start(m->flows);
}

static void prepare_outcome(struct outcome *out, const struct world *w)
{
	out->n_participants = w->n;
	for (int i = 0; i < SITES_MAX; i++)
		for (int j = 0; j < SITES_MAX; j++)
			out->idle_rtt_ns[i][j] = -1;
}

int model_run(const struct scenario *s, const struct fault *faults, size_t n_faults,
	const struct link_plan *links, const struct observer *observer, struct outcome *out,
	struct error *err)
{
	_free_ struct model *m = memory_zero(1, sizeof *m);

	*m = (struct model){
		.scenario = s, .observer = observer, .out = out, .tick_ns = tick_interval(&s->job)};
	set_up(m, links);
	prepare_outcome(out, &m->world);
	if (n_faults)
		schedule(m, faults, n_faults);
	world_start(&m->world);
	run(m);
	drain(m);
	m->flows = flows_free(m->flows);
	for (int p = 0; p < m->world.n; p++)
		out->bytes[p].local_sent = m->world.local_bytes[p];
	world_release(&m->world);
	free(m->actions);
	return 0;
}
