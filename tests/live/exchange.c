/* Strategies to test with; see exchange.h. */
#include "tests/live/exchange.h"

#include <stdlib.h>

#include "base/memory.h"

enum kind { KIND_DATA = 1, KIND_ASK, KIND_STATE };

struct exchanger {
	bool waits;
	int64_t step;
	int64_t arrived[LEARNERS_MAX]; /* messages from each */
	bool up[LEARNERS_MAX];
	bool sent; /* this step's messages are out */
	bool recovering, asked;
};

static void compute(struct exchanger *x, struct rt *rt)
{
	if (x->step == rt->job->steps) {
		rt_done(rt);
		return;
	}
	rt_state(rt, STATE_COMPUTE);
	rt_compute(rt, job_step_ns(rt->job, rt->self, x->step));
}

static void send_all(struct rt *rt)
{
	struct rt_message m = {.kind = KIND_DATA, .bytes = job_payload_bytes(rt->job)};

	for (int i = 0; i < rt->job->n_learners; i++)
		if (i != rt->self)
			rt_send(rt, i, &m);
}

/* The step ends when everybody's message of it is here. */
static void check_step(struct exchanger *x, struct rt *rt)
{
	struct rt_report done = {.kind = REPORT_STEP, .a = x->step};
	struct rt_report useful = {.kind = REPORT_USEFUL, .amount = 1};

	for (int i = 0; x->waits && i < rt->job->n_learners; i++)
		if (i != rt->self && x->arrived[i] <= x->step)
			return;
	rt_report(rt, &done);
	rt_report(rt, &useful);
	x->step++;
	x->sent = false;
	compute(x, rt);
}

static void ask_for_state(struct exchanger *x, struct rt *rt)
{
	for (int i = 0; x->recovering && !x->asked && i < rt->job->n_learners; i++)
		if (i != rt->self && x->up[i]) {
			rt_send(rt, i, &(struct rt_message){.kind = KIND_ASK});
			x->asked = true;
		}
}

static void begin(struct exchanger *x, struct rt *rt, uint32_t incarnation)
{
	struct rt_report measure = {.kind = REPORT_MEASURE};

	for (int i = 0; i < rt->job->n_learners; i++)
		x->up[i] = true;
	x->recovering = incarnation > 0;
	if (x->recovering) { /* who is down is told next: ask a little later */
		rt_timer(rt, 3, 1000000);
		return;
	}
	rt_report(rt, &measure);
	compute(x, rt);
}

static void message(struct exchanger *x, struct rt *rt, int peer, const struct rt_message *m)
{
	struct rt_message state = {.kind = KIND_STATE, .bytes = rt->job->state_bytes};
	struct rt_report recovered = {.kind = REPORT_RECOVERED, .a = peer};

	if (m->kind == KIND_ASK) {
		rt_send(rt, peer, &state);
	} else if (m->kind == KIND_STATE) {
		x->recovering = false;
		rt_report(rt, &recovered);
		compute(x, rt);
	} else {
		x->arrived[peer]++;
		if (x->waits && x->sent)
			check_step(x, rt);
	}
}

static void event(void *self, struct rt *rt, const struct rt_event *e)
{
	struct exchanger *x = self;

	switch (e->kind) {
	case RT_START:
		begin(x, rt, e->incarnation);
		break;
	case RT_COMPUTE:
		send_all(rt);
		rt_state(rt, STATE_EXPOSED_COMM);
		x->sent = true;
		check_step(x, rt);
		break;
	case RT_MESSAGE:
		message(x, rt, e->peer, &e->message);
		break;
	case RT_TIMER:
		ask_for_state(x, rt);
		break;
	case RT_PEER_DOWN:
		x->up[e->peer] = false;
		break;
	case RT_PEER_UP:
		x->up[e->peer] = true;
		ask_for_state(x, rt);
		break;
	}
}

static void *create_exchange(struct rt *rt)
{
	struct exchanger *x = memory_zero(1, sizeof *x);

	x->waits = true;
	return x;
}

static void *create_gossip(struct rt *rt)
{
	return memory_zero(1, sizeof(struct exchanger));
}

const struct strategy strategy_exchange = {
	.name = "exchange", .create = create_exchange, .event = event, .destroy = free};
const struct strategy strategy_gossip = {
	.name = "gossip", .create = create_gossip, .event = event, .destroy = free};

/* Done at once; a while later, exchanges that were under way finish, all at the same time. */
static void event_afterthought(void *self, struct rt *rt, const struct rt_event *e)
{
	const struct rt_report measure = {.kind = REPORT_MEASURE};

	if (e->kind == RT_START) {
		rt_report(rt, &measure);
		rt_timer(rt, 0, 50000000);
		rt_done(rt);
	}
	for (int64_t i = 0; e->kind == RT_TIMER && i < rt->job->steps; i++)
		rt_report(rt, &(struct rt_report){.kind = REPORT_EXCHANGE, .a = i});
}

const struct strategy strategy_afterthought = {.name = "afterthought",
	.create = create_gossip,
	.event = event_afterthought,
	.destroy = free};
