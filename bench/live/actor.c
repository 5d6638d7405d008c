/* Timers, messages and reports between a strategy and the process it runs in; see actor.h. */
#include "bench/live/actor.h"

#include <stdlib.h>

#include "base/memory.h"

static struct actor *actor_of(struct rt *rt)
{
	return container_of(rt, struct actor, rt);
}

int64_t actor_scenario_ns(const struct actor *a, int64_t real_ns)
{
	return (int64_t)((double)(real_ns - a->t0_ns) / a->dilation);
}

int64_t actor_real_ns(const struct actor *a, int64_t scenario_ns)
{
	return a->t0_ns + (int64_t)((double)scenario_ns * a->dilation);
}

static void tell(struct actor *a, struct news news)
{
	news.at_ns = a->at_ns;
	outbox_put(a->outbox, &news);
}

static void set_timer(struct actor_timer *t, int64_t ns)
{
	struct actor *a = t->actor;

	if (ns < 0) {
		loop_timer_cancel(a->loop, &t->timer);
		return;
	}
	t->due_ns = a->at_ns + ns;
	loop_timer_set(a->loop, &t->timer, actor_real_ns(a, t->due_ns));
}

static void timer_due(struct loop_timer *timer)
{
	struct actor_timer *t = container_of(timer, struct actor_timer, timer);
	struct rt_event event = {.kind = RT_COMPUTE};

	if (t->number >= 0)
		event = (struct rt_event){.kind = RT_TIMER, .timer = t->number};
	actor_post(t->actor, &event, t->due_ns);
}

static void op_compute(struct rt *rt, int64_t ns)
{
	set_timer(&actor_of(rt)->compute, ns);
}

static void op_timer(struct rt *rt, int timer, int64_t ns)
{
	set_timer(&actor_of(rt)->timers[timer], ns);
}

/* To itself: no socket, but not at once either. */
static void send_to_self(struct actor *a, const struct rt_message *message)
{
	struct rt_event event = {.kind = RT_MESSAGE, .peer = a->rt.self, .message = *message};

	a->counters->local.payload_sent += (uint64_t)message->bytes;
	a->counters->local.payload_received += (uint64_t)message->bytes;
	actor_post(a, &event, a->at_ns);
}

static void op_send(struct rt *rt, int peer, const struct rt_message *msg)
{
	struct actor *a = actor_of(rt);
	struct rt_message message = *msg;

	message.sent_ns = a->at_ns;
	if (peer == rt->self)
		send_to_self(a, &message);
	else
		mesh_send(a->mesh, peer, &message);
}

static void op_state(struct rt *rt, enum state state)
{
	tell(actor_of(rt), (struct news){.kind = NEWS_STATE, .state = state});
}

static void op_report(struct rt *rt, const struct rt_report *report)
{
	tell(actor_of(rt), (struct news){.kind = NEWS_REPORT, .report = *report});
}

static void op_done(struct rt *rt)
{
	op_state(rt, STATE_IDLE);
	tell(actor_of(rt), (struct news){.kind = NEWS_DONE});
}

static const struct rt_ops ops = {
	.compute = op_compute,
	.send = op_send,
	.timer = op_timer,
	.state = op_state,
	.report = op_report,
	.done = op_done,
};

void actor_init(struct actor *a, const struct scenario *s, int participant, struct loop *loop,
	struct mesh *mesh, struct outbox *outbox, struct live_counters *counters)
{
	*a = (struct actor){
		.rt = {.ops = &ops, .job = &s->job, .self = participant},
		.loop = loop,
		.mesh = mesh,
		.outbox = outbox,
		.counters = counters,
		.strategy = s->strategy,
		.dilation = s->dilation,
	};
	a->compute = (struct actor_timer){.timer.fire = timer_due, .actor = a, .number = -1};
	for (int i = 0; i < ACTOR_TIMERS; i++)
		a->timers[i] =
			(struct actor_timer){.timer.fire = timer_due, .actor = a, .number = i};
	a->self = a->strategy->create(&a->rt);
}

void actor_release(struct actor *a)
{
	a->strategy->destroy(a->self);
	free(a->events);
	a->events = NULL;
}

static struct rt_event *event_at(struct actor *a, size_t i)
{
	return &a->events[(a->first + i) & (a->room - 1)];
}

static void make_room(struct actor *a)
{
	size_t room = a->room ? 2 * a->room : 16;
	struct rt_event *events;

	if (a->count < a->room)
		return;
	events = memory_zero(room, sizeof *events);
	for (size_t i = 0; i < a->count; i++)
		events[i] = *event_at(a, i);
	free(a->events);
	a->events = events;
	a->room = room;
	a->first = 0;
}

void actor_post(struct actor *a, const struct rt_event *event, int64_t at_ns)
{
	struct rt_event *e;

	make_room(a);
	e = event_at(a, a->count++);
	*e = *event;
	e->at_ns = at_ns;
}

void actor_start(struct actor *a, uint32_t incarnation)
{
	make_room(a);
	a->first = (a->first - 1) & (a->room - 1);
	a->count++;
	*event_at(a, 0) = (struct rt_event){.kind = RT_START, .incarnation = incarnation};
	/* a joining actor's time begins now; what is queued came before and is seen after */
	a->at_ns = incarnation ? actor_scenario_ns(a, a->loop->now_ns) : 0;
	a->started = true;
}

void actor_forget(struct actor *a, int peer)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->count; i++)
		if (event_at(a, i)->kind != RT_MESSAGE || event_at(a, i)->peer != peer)
			*event_at(a, kept++) = *event_at(a, i);
	a->count = kept;
}

uint64_t actor_pending(const struct actor *a)
{
	uint64_t n = a->count + (a->compute.timer.node.index > 0);

	for (int i = 0; i < ACTOR_TIMERS; i++)
		n += a->timers[i].timer.node.index > 0;
	return n;
}

void actor_settle(struct actor *a)
{
	struct rt_event event;

	while (a->started && a->count) {
		event = *event_at(a, 0);
		a->first = (a->first + 1) & (a->room - 1);
		a->count--;
		if (event.at_ns < a->at_ns)
			event.at_ns = a->at_ns;
		a->at_ns = event.at_ns;
		event.epoch = mesh_epoch(a->mesh);
		a->strategy->event(a->self, &a->rt, &event);
	}
}
