/*
 * An agent's life: connect to everybody, measure the idle links, start at time zero (or, after
 * a crash, as soon as everybody who answers is connected), run until told to stop.
 */
#include "bench/live/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/live/actor.h"
#include "bench/live/probe.h"

#define SAMPLE_NS (NS_PER_S / 2)

enum phase { PHASE_CONNECTING, PHASE_CONNECTED, PHASE_RUNNING };

struct agent {
	const struct agent_setup *setup;
	struct loop loop;
	struct mesh mesh;
	struct outbox outbox;
	struct actor actor;
	struct probe probe;
	struct loop_source control;
	bool control_blocked;
	enum phase phase;
	bool expected[PARTICIPANTS_MAX]; /* not waited for once the controller says it is gone */
	bool waited;			 /* joining: long enough */
	struct loop_timer start;	 /* time zero; or how long to wait for connections */
	struct loop_timer sample;
	struct loop_timer pulse;
	bool stop, failed;
};

static struct agent *agent_of(struct mesh *mesh)
{
	return container_of(mesh, struct agent, mesh);
}

static const struct mesh_node *node_of(const struct agent *a, int participant)
{
	return &a->setup->mesh.nodes[participant];
}

static uint32_t own_incarnation(const struct agent *a)
{
	return node_of(a, a->setup->self)->incarnation;
}

static void fail(struct agent *a, const char *text)
{
	struct news news = {.kind = NEWS_FAILED};

	if (a->failed)
		return;
	a->failed = a->stop = true;
	snprintf(news.text, sizeof news.text, "%.*s", NEWS_TEXT - 1, text);
	outbox_put(&a->outbox, &news);
}

/*
 * What was received is published last: whoever sees it sees what it has led to. See drained()
 * in live.c. What it has led to includes what the controller is told, which is in the socket by
 * now or pending.
 */
static void publish(struct agent *a)
{
	struct live_flow *flow = &a->setup->counters->flow;

	counter_write(&flow->sent, a->mesh.sent);
	counter_write(&flow->pending, actor_pending(&a->actor) + outbox_pending(&a->outbox));
	counter_write(&flow->received, a->mesh.received);
}

static void settle(struct loop *loop)
{
	struct agent *a = container_of(loop, struct agent, loop);
	bool blocked;

	do {
		actor_settle(&a->actor);
		mesh_settle(&a->mesh);
	} while (a->actor.started && a->actor.count);
	if (outbox_flush(&a->outbox) < 0)
		a->stop = true;
	publish(a);
	blocked = outbox_pending(&a->outbox);
	if (blocked != a->control_blocked) {
		a->control_blocked = blocked;
		loop_change(loop, a->setup->control_fd, EPOLLIN | (blocked ? EPOLLOUT : 0),
			&a->control);
	}
}

/* RT_START, and word of the peers that are not there. */
static void run(struct agent *a)
{
	struct rt_event down = {.kind = RT_PEER_DOWN};

	a->phase = PHASE_RUNNING;
	loop_timer_cancel(&a->loop, &a->start);
	actor_start(&a->actor, own_incarnation(a));
	for (down.peer = 0; down.peer < a->setup->mesh.n_nodes; down.peer++)
		if (down.peer != a->setup->self && !mesh_is_up(&a->mesh, down.peer))
			actor_post(&a->actor, &down, a->actor.at_ns);
	loop_timer_set(&a->loop, &a->sample, a->loop.now_ns);
}

/* All expected peers are up; or, joining, it took too long but somebody elsewhere is. */
static bool enough_connected(const struct agent *a)
{
	const struct mesh_config *config = &a->setup->mesh;
	bool all = true, any = false;

	for (int i = 0; i < config->n_nodes; i++) {
		if (i == a->setup->self)
			continue;
		if (!mesh_is_up(&a->mesh, i))
			all &= !a->expected[i];
		else
			any |= node_of(a, i)->site != node_of(a, a->setup->self)->site;
	}
	return all || (a->waited && any);
}

static void check_connected(struct agent *a)
{
	if (a->phase != PHASE_CONNECTING || !enough_connected(a))
		return;
	loop_timer_cancel(&a->loop, &a->start);
	if (own_incarnation(a)) {
		run(a);
	} else {
		a->phase = PHASE_CONNECTED;
		outbox_put(&a->outbox, &(struct news){.kind = NEWS_CONNECTED});
	}
}

/* Names the first peer that is not there; the controller knows what lies between. */
static void tell_unconnected(struct agent *a)
{
	struct news news = {.kind = NEWS_UNCONNECTED};

	while (news.peer == a->setup->self || mesh_is_up(&a->mesh, news.peer))
		news.peer++;
	news.code = a->mesh.peers[news.peer]->last_error;
	outbox_put(&a->outbox, &news);
}

static void start_due(struct loop_timer *timer)
{
	struct agent *a = container_of(timer, struct agent, start);

	if (a->phase == PHASE_CONNECTED) {
		run(a);
	} else if (own_incarnation(a)) {
		a->waited = true;
		check_connected(a);
	} else {
		tell_unconnected(a);
	}
}

static void mesh_up(struct mesh *mesh, int peer)
{
	struct agent *a = agent_of(mesh);
	struct rt_event event = {
		.kind = RT_PEER_UP, .peer = peer, .incarnation = mesh->peers[peer]->incarnation};

	if (a->phase == PHASE_RUNNING)
		actor_post(&a->actor, &event, actor_scenario_ns(&a->actor, a->loop.now_ns));
	else
		outbox_put(&a->outbox, &(struct news){.kind = NEWS_UP, .peer = peer});
	check_connected(a);
}

static void mesh_lost(struct mesh *mesh, int peer)
{
	struct agent *a = agent_of(mesh);
	struct rt_event event = {.kind = RT_PEER_DOWN, .peer = peer};

	actor_forget(&a->actor, peer);
	if (a->phase == PHASE_RUNNING)
		actor_post(&a->actor, &event, actor_scenario_ns(&a->actor, a->loop.now_ns));
}

static void mesh_message(struct mesh *mesh, int peer, const struct rt_message *message)
{
	struct agent *a = agent_of(mesh);
	struct rt_event event = {.kind = RT_MESSAGE, .peer = peer, .message = *message};

	actor_post(&a->actor, &event, actor_scenario_ns(&a->actor, a->loop.now_ns));
}

static void mesh_pong(struct mesh *mesh, int peer, int64_t rtt_ns)
{
	probe_pong(&agent_of(mesh)->probe, peer, rtt_ns);
}

static void mesh_silence(struct mesh *mesh, int peer, bool silent)
{
	struct agent *a = agent_of(mesh);
	struct news news = {.kind = NEWS_SILENCE,
		.peer = peer,
		.at_ns = actor_scenario_ns(&a->actor, a->loop.now_ns),
		.silent = silent};

	if (a->phase == PHASE_RUNNING)
		outbox_put(&a->outbox, &news);
}

static void mesh_failed(struct mesh *mesh, const char *text)
{
	fail(agent_of(mesh), text);
}

static const struct mesh_user mesh_user = {
	.up = mesh_up,
	.lost = mesh_lost,
	.message = mesh_message,
	.pong = mesh_pong,
	.silence = mesh_silence,
	.failed = mesh_failed,
};

/* Real time to scenario time. */
static void undilate(struct tcp_sample *tcp, double dilation)
{
	tcp->rtt_ns = (int64_t)((double)tcp->rtt_ns / dilation);
	tcp->min_rtt_ns = (int64_t)((double)tcp->min_rtt_ns / dilation);
	tcp->delivery_bps = (uint64_t)((double)tcp->delivery_bps * dilation);
	tcp->busy_ns = (int64_t)((double)tcp->busy_ns / dilation);
	tcp->window_limited_ns = (int64_t)((double)tcp->window_limited_ns / dilation);
	tcp->buffer_limited_ns = (int64_t)((double)tcp->buffer_limited_ns / dilation);
}

static void sample_due(struct loop_timer *timer)
{
	struct agent *a = container_of(timer, struct agent, sample);
	double dilation = a->setup->scenario->dilation;
	struct news news = {
		.kind = NEWS_TCP, .at_ns = actor_scenario_ns(&a->actor, a->loop.now_ns)};

	for (news.peer = 0; news.peer < a->setup->mesh.n_nodes; news.peer++)
		if (news.peer != a->setup->self && peer_info(a->mesh.peers[news.peer], &news.tcp)) {
			undilate(&news.tcp, dilation);
			outbox_put(&a->outbox, &news);
		}
	loop_timer_set(&a->loop, timer, a->loop.now_ns + (int64_t)((double)SAMPLE_NS * dilation));
}

/*
 * So that the controller sees that this process runs. How long it did not is told by itself: the
 * controller may have stood still as well, or instead.
 */
static void pulse_due(struct loop_timer *timer)
{
	struct agent *a = container_of(timer, struct agent, pulse);
	struct live_counters *c = a->setup->counters;
	uint64_t now = (uint64_t)clock_now_ns();

	if (c->alive_ns && now - c->alive_ns >= STILL_NS)
		counter_write(&c->still_ns, c->still_ns + now - c->alive_ns);
	counter_write(&c->alive_ns, now);
	loop_timer_set(&a->loop, timer, a->loop.now_ns + PULSE_NS);
}

static void obey(struct agent *a, const struct order *order)
{
	switch (order->kind) {
	case ORDER_MEASURE:
		probe_begin(&a->probe);
		break;
	case ORDER_START:
		a->actor.t0_ns = order->t0_ns;
		loop_timer_set(&a->loop, &a->start, order->t0_ns);
		break;
	case ORDER_GONE:
		a->expected[order->participant] = false;
		check_connected(a);
		break;
	case ORDER_STOP:
		a->stop = true;
		break;
	}
}

static void control_ready(struct loop_source *source, uint32_t events)
{
	struct agent *a = container_of(source, struct agent, control);
	struct order order;
	ssize_t n;

	if (!(events & ~(uint32_t)EPOLLOUT))
		return; /* there is room again: settle flushes */
	n = recv(a->setup->control_fd, &order, sizeof order, MSG_DONTWAIT);
	if (n == (ssize_t)sizeof order)
		obey(a, &order);
	else if (n >= 0 || errno != EAGAIN)
		a->stop = true; /* the controller is gone */
}

static int set_up(struct agent *a, struct error *err)
{
	const struct agent_setup *setup = a->setup;
	int r = loop_open(&a->loop, settle);

	if (r < 0)
		return error_sys(err, r, "cannot create an epoll descriptor");
	r = loop_add(&a->loop, setup->control_fd, EPOLLIN, &a->control);
	if (r < 0)
		return error_sys(err, r, "cannot watch the controller's socket");
	actor_init(&a->actor, setup->scenario, setup->self, &a->loop, &a->mesh, &a->outbox,
		setup->counters);
	a->actor.t0_ns = setup->t0_ns;
	r = mesh_open(&a->mesh, &a->loop, &setup->mesh, &mesh_user, err);
	if (r < 0)
		return r;
	probe_init(&a->probe, &a->loop, &a->mesh, &a->outbox);
	loop_timer_set(&a->loop, &a->start,
		a->loop.now_ns + (own_incarnation(a) ? setup->mesh.attempt_ns : setup->connect_ns));
	loop_timer_set(&a->loop, &a->pulse, a->loop.now_ns);
	check_connected(a);
	return 0;
}

int agent_run(const struct agent_setup *setup)
{
	struct agent a = {.setup = setup,
		.control.ready = control_ready,
		.start.fire = start_due,
		.sample.fire = sample_due,
		.pulse.fire = pulse_due};
	struct error err = {0};
	bool ready;
	int r;

	for (int i = 0; i < setup->mesh.n_nodes; i++)
		a.expected[i] = !setup->t0_ns || setup->alive[i];
	outbox_init(&a.outbox, setup->control_fd);
	ready = set_up(&a, &err) == 0;
	if (!ready)
		fail(&a, err.text);
	while (!a.stop) {
		r = loop_once(&a.loop);
		if (r < 0)
			fail(&a, strerror(-r));
	}
	outbox_drain(&a.outbox);
	outbox_release(&a.outbox);
	if (ready) {
		mesh_close(&a.mesh);
		actor_release(&a.actor);
		loop_close(&a.loop);
	}
	return a.failed;
}
