/* Participants in simulated time; see world.h. */
#include "bench/model/world.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* Something that happens once, and is gone. */
struct happening {
	struct world_event event;
	struct world *world;
	int who, peer;
	uint32_t incarnation;
	struct parcel *parcel;
};

void world_cancel(struct world *w, struct world_event *event)
{
	if (!event->node.index)
		return;
	heap_remove(&w->heap, &event->node);
	w->n_background -= event->background;
}

void world_set(struct world *w, struct world_event *event, int64_t at_ns)
{
	world_cancel(w, event);
	heap_push(&w->heap, &event->node, at_ns);
	w->n_background += event->background;
}

static struct happening *soon(
	struct world *w, void (*fire)(struct world_event *event), int who, int64_t after_ns)
{
	struct happening *h = memory_zero(1, sizeof *h);

	h->event.fire = fire;
	h->world = w;
	h->who = who;
	world_set(w, &h->event, w->now_ns + after_ns);
	return h;
}

static struct happening *happening_of(struct world_event *event)
{
	return container_of(event, struct happening, event);
}

static void deliver(struct participant *p, struct rt_event event)
{
	event.at_ns = p->world->now_ns;
	event.epoch = p->epoch;
	p->world->config.strategy->event(p->strategy, &p->rt, &event);
}

/* Parcels. */

static struct parcel *parcel_new(struct world *w)
{
	struct parcel *parcel = w->spare;

	if (parcel)
		w->spare = parcel->next;
	else
		parcel = memory_zero(1, sizeof *parcel);
	return parcel;
}

void world_forget(struct world *w, struct parcel *parcel)
{
	parcel->next = w->spare;
	w->spare = parcel;
}

/* Membership. */

static void notice_down(struct participant *p, int peer)
{
	struct network *network = p->world->config.network;

	if (!p->connected[peer])
		return;
	p->connected[peer] = false;
	network->purge(network, p->rt.self, peer);
	deliver(p, (struct rt_event){.kind = RT_PEER_DOWN, .peer = peer});
}

static void notice_up(struct participant *p, int peer)
{
	uint32_t incarnation = p->world->part[peer].incarnation;

	if (p->connected[peer] && p->known[peer] == incarnation)
		return;
	notice_down(p, peer);
	p->connected[peer] = true;
	p->epoch += incarnation - p->known[peer];
	p->known[peer] = incarnation;
	deliver(p, (struct rt_event){.kind = RT_PEER_UP, .peer = peer, .incarnation = incarnation});
}

static void hold(struct participant *p, struct parcel *parcel)
{
	parcel->next = NULL;
	*p->held_end = parcel;
	p->held_end = &parcel->next;
}

void world_arrive(struct world *w, struct parcel *parcel)
{
	struct participant *to = &w->part[parcel->to], *from = &w->part[parcel->from];
	struct rt_event event = {.kind = RT_MESSAGE, .peer = parcel->from};
	uint32_t from_incarnation = parcel->from_incarnation;
	bool meant = to->present && to->incarnation == parcel->to_incarnation;

	if (meant && !to->alive) {
		hold(to, parcel);
		return;
	}
	event.message = parcel->message;
	world_forget(w, parcel);
	if (!meant)
		return;
	if (from->present && from->incarnation == from_incarnation)
		notice_up(to, event.peer);
	if (to->connected[event.peer] && to->known[event.peer] == from_incarnation)
		deliver(to, event);
}

/* The strategy's side. */

static struct participant *participant_of(struct rt *rt)
{
	return container_of(rt, struct participant, rt);
}

static void timer_fires(struct world_event *event)
{
	struct world_timer *t = container_of(event, struct world_timer, event);

	if (t->number < 0)
		deliver(t->participant, (struct rt_event){.kind = RT_COMPUTE});
	else
		deliver(t->participant, (struct rt_event){.kind = RT_TIMER, .timer = t->number});
}

static void set_timer(struct world_timer *t, int64_t ns)
{
	struct world *w = t->participant->world;

	if (ns >= 0)
		world_set(w, &t->event, w->now_ns + ns);
	else if (t->event.node.index && w->config.stale)
		world_set(w, &t->event, w->now_ns);
	else
		world_cancel(w, &t->event);
}

static void op_compute(struct rt *rt, int64_t ns)
{
	struct world_timer *t = &participant_of(rt)->compute;

	assert(ns < 0 || !t->event.node.index || participant_of(rt)->world->config.stale);
	set_timer(t, ns);
}

static void op_timer(struct rt *rt, int timer, int64_t ns)
{
	set_timer(&participant_of(rt)->timers[timer], ns);
}

static void local_arrives(struct world_event *event)
{
	struct happening *h = happening_of(event);

	world_arrive(h->world, h->parcel);
	free(h);
}

static void op_send(struct rt *rt, int peer, const struct rt_message *message)
{
	struct participant *p = participant_of(rt);
	struct world *w = p->world;
	struct parcel *parcel;

	assert(peer >= 0 && peer < w->n && peer != rt->self && message->bytes >= 0);
	if (w->config.on_send)
		w->config.on_send(w->config.user, rt->self, peer, w->now_ns, message);
	if (!p->connected[peer])
		return;
	parcel = parcel_new(w);
	*parcel = (struct parcel){
		.from = rt->self,
		.to = peer,
		.from_incarnation = p->incarnation,
		.to_incarnation = p->known[peer],
		.message = *message,
	};
	parcel->message.sent_ns = w->now_ns;
	if (job_site(rt->job, rt->self) != job_site(rt->job, peer)) {
		w->config.network->send(w->config.network, parcel);
		return;
	}
	w->local_bytes[rt->self] += (uint64_t)message->bytes;
	soon(w, local_arrives, peer, 0)->parcel = parcel;
}

static void op_state(struct rt *rt, enum state state)
{
	struct world *w = participant_of(rt)->world;
	const struct observer *o = w->config.observer;

	o->state(o->user, rt->self, w->now_ns, state);
}

static void op_report(struct rt *rt, const struct rt_report *report)
{
	struct world *w = participant_of(rt)->world;
	const struct observer *o = w->config.observer;

	o->report(o->user, rt->self, w->now_ns, report);
}

static void op_done(struct rt *rt)
{
	struct participant *p = participant_of(rt);
	struct world *w = p->world;
	const struct observer *o = w->config.observer;

	o->state(o->user, rt->self, w->now_ns, STATE_IDLE);
	o->done(o->user, rt->self, w->now_ns);
	w->n_done += !p->done && job_role(rt->job, rt->self) == ROLE_LEARNER;
	p->done = true;
}

static const struct rt_ops ops = {
	.compute = op_compute,
	.send = op_send,
	.timer = op_timer,
	.state = op_state,
	.report = op_report,
	.done = op_done,
};

/* Crashes. */

static void hears_of_loss(struct world_event *event)
{
	struct happening *h = happening_of(event);
	struct participant *p = &h->world->part[h->who];

	if (p->alive && p->known[h->peer] == h->incarnation)
		notice_down(p, h->peer);
	free(h);
}

static void meets(struct world_event *event)
{
	struct happening *h = happening_of(event);
	struct participant *p = &h->world->part[h->who], *peer = &h->world->part[h->peer];

	if (p->alive && peer->present && peer->incarnation == h->incarnation)
		notice_up(p, h->peer);
	free(h);
}

static void meet(struct world *w, int who, int peer, int64_t after_ns)
{
	struct happening *h = soon(w, meets, who, after_ns);

	h->peer = peer;
	h->incarnation = w->part[peer].incarnation;
}

static struct parcel *take_held(struct participant *p)
{
	struct parcel *held = p->held;

	p->held = NULL;
	p->held_end = &p->held;
	return held;
}

static void forget_all(struct world *w, struct parcel *parcel)
{
	for (struct parcel *next; parcel; parcel = next) {
		next = parcel->next;
		world_forget(w, parcel);
	}
}

/* What it takes for known: everybody as they are, unless it meets them one by one. */
static void begin(struct participant *p)
{
	struct world *w = p->world;
	bool strangers = w->config.join == JOIN_AMONG_STRANGERS;

	p->alive = true;
	p->epoch = p->incarnation;
	for (int i = 0; i < w->n; i++) {
		p->known[i] = strangers ? 0 : w->part[i].incarnation;
		p->connected[i] = !strangers;
		if (i != p->rt.self)
			p->epoch += p->known[i];
	}
	p->strategy = w->config.strategy->create(&p->rt);
	deliver(p, (struct rt_event){.kind = RT_START, .incarnation = p->incarnation});
	for (int i = 0; i < w->n; i++)
		if (i != p->rt.self && !w->part[i].present)
			notice_down(p, i);
	for (struct parcel *parcel = take_held(p), *next; parcel; parcel = next) {
		next = parcel->next;
		world_arrive(w, parcel);
	}
}

static void begins(struct world_event *event)
{
	struct happening *h = happening_of(event);
	struct participant *p = &h->world->part[h->who];

	if (p->present && !p->alive && p->incarnation == h->incarnation)
		begin(p);
	free(h);
}

static int64_t until_met(struct world *w, int who, int peer, int newcomer)
{
	return w->config.notices.met(w->config.user, who, peer, newcomer);
}

static void comes_back(struct world_event *event)
{
	struct happening *h = happening_of(event);
	struct world *w = h->world;
	struct participant *p = &w->part[h->who];
	const struct observer *o = w->config.observer;
	int64_t met_ns = 0;

	p->present = true;
	p->incarnation++;
	o->state(o->user, h->who, w->now_ns, STATE_RECOVER);
	if (w->config.join != JOIN_WHEN_MET)
		begin(p);
	for (int i = 0; i < w->n; i++) {
		int64_t own_ns;

		if (i == h->who || !w->part[i].present)
			continue;
		meet(w, i, h->who, until_met(w, i, h->who, h->who));
		if (w->config.join == JOIN_AT_ONCE)
			continue;
		own_ns = until_met(w, h->who, i, h->who);
		meet(w, h->who, i, own_ns);
		met_ns = own_ns > met_ns ? own_ns : met_ns;
	}
	if (w->config.join == JOIN_WHEN_MET)
		soon(w, begins, h->who, met_ns)->incarnation = p->incarnation;
	free(h);
}

void world_crash(struct world *w, int who, int64_t for_ns)
{
	struct participant *p = &w->part[who];
	const struct observer *o = w->config.observer;

	if (!p->present)
		return;
	world_cancel(w, &p->compute.event);
	for (int t = 0; t < WORLD_TIMERS; t++)
		world_cancel(w, &p->timers[t].event);
	if (p->alive)
		w->config.strategy->destroy(p->strategy);
	p->strategy = NULL;
	p->alive = p->present = false;
	forget_all(w, take_held(p));
	o->state(o->user, who, w->now_ns, STATE_DOWN);
	w->config.network->purge(w->config.network, who, -1);
	for (int i = 0; i < w->n; i++) {
		struct happening *h;

		if (i == who)
			continue;
		h = soon(w, hears_of_loss, i, w->config.notices.lost(w->config.user, i, who));
		h->peer = who;
		h->incarnation = p->incarnation;
	}
	soon(w, comes_back, who, for_ns);
}

/* Life. */

static void participant_init(struct world *w, int self)
{
	struct participant *p = &w->part[self];

	*p = (struct participant){
		.rt = {&ops, w->config.job, self}, .world = w, .alive = true, .present = true};
	p->held_end = &p->held;
	p->compute =
		(struct world_timer){.event.fire = timer_fires, .participant = p, .number = -1};
	for (int t = 0; t < WORLD_TIMERS; t++)
		p->timers[t] = (struct world_timer){
			.event.fire = timer_fires, .participant = p, .number = t};
	for (int i = 0; i < w->n; i++)
		p->connected[i] = true;
	p->strategy = w->config.strategy->create(&p->rt);
}

void world_init(struct world *w, const struct world_config *config)
{
	*w = (struct world){.config = *config, .n = job_participants(config->job)};
	for (int i = 0; i < w->n; i++)
		participant_init(w, i);
}

void world_start(struct world *w)
{
	for (int i = 0; i < w->n; i++)
		deliver(&w->part[i], (struct rt_event){.kind = RT_START});
	if (w->config.network->settle)
		w->config.network->settle(w->config.network);
}

int64_t world_next_ns(const struct world *w)
{
	return w->heap.count > w->n_background ? heap_peek(&w->heap)->at_ns : TIME_NEVER;
}

bool world_step(struct world *w)
{
	int64_t at_ns = world_next_ns(w);

	if (at_ns == TIME_NEVER)
		return false;
	w->now_ns = at_ns;
	while (w->heap.count && heap_peek(&w->heap)->at_ns == at_ns) {
		struct heap_node *node = heap_pop(&w->heap);
		struct world_event *event = container_of(node, struct world_event, node);

		w->n_background -= event->background;
		event->fire(event);
	}
	if (w->config.network->settle)
		w->config.network->settle(w->config.network);
	return true;
}

static bool is_happening(const struct world_event *event)
{
	return event->fire == local_arrives || event->fire == hears_of_loss ||
	       event->fire == meets || event->fire == begins || event->fire == comes_back;
}

void world_release(struct world *w)
{
	struct heap_node *node;

	while ((node = heap_pop(&w->heap))) {
		struct world_event *event = container_of(node, struct world_event, node);

		if (is_happening(event)) {
			free(happening_of(event)->parcel);
			free(happening_of(event));
		}
	}
	for (int i = 0; i < w->n; i++) {
		if (w->part[i].alive)
			w->config.strategy->destroy(w->part[i].strategy);
		forget_all(w, take_held(&w->part[i]));
	}
	for (struct parcel *p = w->spare, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	heap_release(&w->heap);
}
