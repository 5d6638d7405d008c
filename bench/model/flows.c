/* Flows over shared links, and their messages; see flows.h. */
#include "bench/model/flows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/live/stripe.h"
#include "bench/model/flow.h"

#define FOREVER_NS (TIME_NEVER / 4) /* no run lasts so long, and a delay may be added */
#define USED_UP .75
#define SAME 0.1	    /* of a window: a smaller change leaves the shares as they are */
#define BURST_RATE (5. / 8) /* at which a burst comes, bytes per ns; calibrated: docs/model.md */
#define BURST_TIMES 6	    /* the link's rate, if that is more */

/* Messages. */

static void arrives(struct world_event *event)
{
	struct delivery *d = container_of(event, struct delivery, event);
	struct flows *n = d->flows;
	struct parcel *parcel = d->parcel;

	d->next = n->spare;
	n->spare = d;
	d->parcel = NULL;
	n->config.out->bytes[parcel->to].payload_received += (uint64_t)parcel->message.bytes;
	world_arrive(n->world, parcel);
}

static void deliver(struct flows *n, struct parcel *parcel, int64_t at_ns)
{
	struct delivery *d = n->spare;

	if (d) {
		n->spare = d->next;
	} else {
		d = memory_zero(1, sizeof *d);
		*d = (struct delivery){.event.fire = arrives, .flows = n, .made = n->deliveries};
		n->deliveries = d;
	}
	d->parcel = parcel;
	world_set(n->world, &d->event, at_ns);
}

/* Messages of a flow mostly have one size. */
static double framed(struct flow *f, const struct parcel *parcel)
{
	const struct flows *n = f->flows;
	int64_t bytes = parcel->message.bytes;

	if (n->ideal)
		return (double)bytes;
	if (f->framed_bytes != bytes)
		f->framing = stripe_framing(
			bytes, n->connections, n->chunk_max[flows_site_of(n, f->from)]);
	f->framed_bytes = bytes;
	return (double)(bytes + f->framing);
}

/* The share of a message that was put on the link before it was forgotten. */
static void count_sent(struct flow *f, double share)
{
	struct traffic *t = &f->flows->config.out->bytes[f->from];
	int64_t bytes = f->first->message.bytes;
	double framing = framed(f, f->first) - (double)bytes;

	t->payload_sent += share < 1 ? (uint64_t)(share * (double)bytes) : (uint64_t)bytes;
	t->framing_sent += (uint64_t)(share * framing);
}

/*
 * A message's last bytes wait in the sockets, about as much in each, and the slowest connection's
 * are sent last: later than at the rate of all by so much. Where the windows are the limit, only
 * if they are used up, and at most until a round trip brings all of them back.
 */
static int64_t tail_ns(const struct flow *f)
{
	const struct flows *n = f->flows;
	const struct course *c = &f->course;
	const struct slice *s = &f->slice;
	int64_t chunk = n->chunk_max[flows_site_of(n, f->from)];
	bool full = course_full(c, s);
	double waiting = (double)(stripe_unsent(chunk) + (full ? chunk * 3 / 4 : chunk));
	double rate = full ? s->rate : c->window / (double)s->rtt_ns;
	double slowest = 1 - f->uneven * (1 - f->slowest);
	double ns = least(waiting * n->connections, f->total) / rate * (1 / slowest - 1);

	if (n->ideal || !(f->uneven > 0) ||
		(!full && f->total < c->window && c->sent < USED_UP * c->window))
		return 0;
	return (int64_t)(full ? ns : least(ns, (double)s->rtt_ns));
}

static void finish_message(struct flow *f)
{
	struct flows *n = f->flows;
	struct parcel *parcel = f->first;
	int64_t at_ns = n->world->now_ns +
			flows_way_ns(n, flows_site_of(n, f->from), flows_site_of(n, f->to));
	double lost = flow_judge(f);

	at_ns += tail_ns(f);
	if (lost > 0)
		at_ns += f->slice.rtt_ns +
			 (int64_t)((course_queued(&f->course, &f->slice) + lost * TCP_PAYLOAD) /
				   f->slice.rate);
	if (at_ns < f->arrival_ns)
		at_ns = f->arrival_ns;
	f->arrival_ns = at_ns;
	count_sent(f, 1);
	f->first = parcel->next;
	if (!f->first)
		f->end = &f->first;
	deliver(n, parcel, at_ns);
}

/* The next message, if there is one. */
static void go_on(struct flow *f)
{
	f->last_ns = f->flows->world->now_ns;
	finish_message(f);
	if (!f->first) {
		flow_set_phase(f, IDLE);
		return;
	}
	flow_load(f, framed(f, f->first));
	flow_draw_weight(f);
	f->flows->dirty |= f->slice.shared;
}

static void next_round(struct flow *f)
{
	double want;

	flow_turn(f);
	want = f->course.window / (double)f->base_ns;
	if (f->slice.shared && fabs(want - f->share.want) > SAME * want)
		f->flows->dirty = true;
}

static void flows_due(struct world_event *event)
{
	struct flows *n = container_of(event, struct flows, due);

	n->fired = true;
	for (size_t i = 0; i < n->n_active;) {
		struct flow *f = container_of(n->active[i], struct flow, share);

		if (f->due_ns > n->world->now_ns) {
			i++;
			continue;
		}
		flow_arrive(f);
		if (f->end_kind == COURSE_MESSAGE)
			go_on(f);
		else if (f->end_kind == COURSE_ROUND)
			next_round(f);
		else
			n->dirty = true;
		if (f->phase == ACTIVE)
			flow_plan(f);
	}
}

static void times_out(struct world_event *event)
{
	struct flow *f = container_of(event, struct flow, timeout);

	if (flow_path_down(f, f->flows->world->now_ns))
		flow_stall(f);
	else
		flow_restart(f);
}

static struct flow *make_flow(struct flows *n, int from, int to)
{
	struct flow *f = flow_new(n, from, to);

	f->timeout.fire = times_out;
	n->made = memory_resize(n->made, n->n_made + 1, sizeof *n->made);
	n->made[n->n_made++] = f;
	n->flow[from * n->n + to] = f;
	return f;
}

/* No payload: its own connection, so it waits in the links' queues only. */
static void send_signal(struct flow *f, struct parcel *parcel)
{
	struct flows *n = f->flows;
	int64_t at_ns = n->world->now_ns, timeout = flow_timeout_ns(f);

	if (n->ideal)
		at_ns = flow_path_up_ns(f, at_ns);
	for (int i = 0; i < 64 && flow_path_down(f, at_ns); i++) {
		at_ns += timeout;
		timeout *= i < FLOW_BACKOFF_MAX ? 2 : 1;
	}
	at_ns = at_ns < FOREVER_NS ? at_ns : FOREVER_NS;
	at_ns += flows_one_way_ns(n, flows_site_of(n, f->from), flows_site_of(n, f->to));
	if (at_ns < f->signal_ns)
		at_ns = f->signal_ns;
	f->signal_ns = at_ns;
	deliver(n, parcel, at_ns);
}

static void network_send(struct network *network, struct parcel *parcel)
{
	struct flows *n = container_of(network, struct flows, network);
	struct flow *f = n->flow[parcel->from * n->n + parcel->to];

	if (!f)
		f = make_flow(n, parcel->from, parcel->to);
	if (!parcel->message.bytes) {
		send_signal(f, parcel);
		return;
	}
	parcel->next = NULL;
	*f->end = parcel;
	f->end = &parcel->next;
	f->behind += framed(f, parcel);
	if (f->first != parcel)
		return;
	flow_load(f, framed(f, parcel));
	flow_wake(f);
}

/* Its connections are gone, and what was on them; new ones begin cold. */
static void reset(struct flow *f)
{
	struct flows *n = f->flows;

	if (f->phase == ACTIVE)
		flow_advance(f);
	world_cancel(n->world, &f->timeout);
	if (f->first)
		count_sent(f, 1 - f->course.left / f->total);
	for (struct parcel *p = f->first, *next; p; p = next) {
		next = p->next;
		world_forget(n->world, p);
	}
	f->first = NULL;
	f->end = &f->first;
	f->behind = 0;
	flow_set_phase(f, IDLE);
	flow_open(f);
}

static void network_purge(struct network *network, int from, int to)
{
	struct flows *n = container_of(network, struct flows, network);

	for (int i = to < 0 ? 0 : to; i < (to < 0 ? n->n : to + 1); i++)
		if (n->flow[from * n->n + i])
			reset(n->flow[from * n->n + i]);
}

/* Sharing. */

/* How much its links may have to carry of it before it is done. */
static void ask(struct flow *f)
{
	struct flows *n = f->flows;
	double rtt = (double)f->base_ns;
	double all = (f->course.window + f->course.left + f->behind) / rtt;

	f->share.want = n->ideal ? 0 : f->course.window / rtt;
	for (int side = 0; side < 2; side++) {
		struct pipe *p = &n->pipes[f->data[side]];

		p->n_active++;
		p->n_fresh += !f->placed;
		p->weight += f->share.weight;
		p->offered += least(all, n->pipes[f->data[!side]].capacity);
	}
}

static bool shares(const struct flow *f)
{
	for (int side = 0; side < 2; side++) {
		const struct pipe *p = &f->flows->pipes[f->data[side]];

		if (p->n_active > 1 && p->offered > p->capacity)
			return true;
	}
	return false;
}

static bool loses(const struct flow *f)
{
	const struct pipe *pipes = f->flows->pipes;

	return loss_possible(&pipes[f->data[0]].state) || loss_possible(&pipes[f->data[1]].state);
}

/*
 * How much may come at once: it must find room in both links' queues, among others that begin now,
 * and each link sends while it comes.
 */
static double burst_room(const struct flow *f)
{
	double room = INFINITY;

	for (int side = 0; side < 2; side++) {
		const struct pipe *p = &f->flows->pipes[f->data[side]];
		double limit = pipe_queue_limit(p);
		double own = limit * f->share.weight / p->weight;
		double sent = least(p->capacity / BURST_RATE, 1. / BURST_TIMES);

		if (p->n_fresh)
			own = most(own, (limit - p->queued_bytes) / p->n_fresh);
		room = least(room, own / (1 - sent));
	}
	return room;
}

static struct slice slice_of(const struct flow *f)
{
	const struct flows *n = f->flows;
	const struct pipe *p = &n->pipes[f->data[f->share.bottleneck]];
	struct slice s = {
		.rate = f->share.offered,
		.room = n->ideal ? INFINITY : pipe_queue_limit(p) * f->share.weight / p->weight,
		.rtt_ns = flow_rtt_ns(f),
		.base_ns = f->base_ns,
		.limit = n->window_limit,
		.connections = n->connections,
		.kind = n->kind,
		.dilation = n->config.scenario->dilation,
		.burst = burst_room(f),
		.shared = shares(f),
	};

	if (!n->ideal)
		s.steps = loses(f) || (s.shared && tcp_slow_start(&f->course.tcp));
	return s;
}

static bool same_slice(const struct slice *a, const struct slice *b)
{
	return a->rate == b->rate && a->room == b->room && a->rtt_ns == b->rtt_ns &&
	       a->shared == b->shared && a->steps == b->steps;
}

/* Where the window is the limit and stays it, what the link would give matters little. */
static bool little_changes(const struct flow *f, const struct slice *s)
{
	const struct slice *was = &f->slice;

	return s->shared && was->shared && !s->steps && !was->steps &&
	       !course_full(&f->course, s) && !course_full(&f->course, was) &&
	       fabs(s->rate - was->rate) < SAME * s->rate &&
	       fabs(s->room - was->room) < SAME * s->room && s->rtt_ns == was->rtt_ns;
}

static void share(struct flows *n)
{
	for (int i = 0; i < n->n_pipes; i++) {
		n->pipes[i].n_active = n->pipes[i].n_fresh = 0;
		n->pipes[i].weight = n->pipes[i].offered = 0;
	}
	for (size_t i = 0; i < n->n_active; i++)
		ask(container_of(n->active[i], struct flow, share));
	share_fill(n->shares, n->n_pipes, n->active, n->n_active);
	for (size_t i = 0; i < n->n_active; i++) {
		struct flow *f = container_of(n->active[i], struct flow, share);
		struct slice s = slice_of(f);
		double change = (double)(s.rtt_ns - f->slice.rtt_ns);

		if (f->placed && fabs(change) < SAME * (double)s.rtt_ns)
			s.rtt_ns = f->slice.rtt_ns;
		if (f->placed && (same_slice(&s, &f->slice) || little_changes(f, &s)))
			continue;
		flow_advance(f);
		flow_place(f, &s);
	}
}

static void fill_queues(struct flows *n)
{
	for (int i = 0; i < n->n_pipes; i++)
		n->pipes[i].queued_bytes = 0;
	for (size_t i = 0; i < n->n_active; i++) {
		const struct flow *f = container_of(n->active[i], struct flow, share);
		struct pipe *p = &n->pipes[f->data[f->share.bottleneck]];

		p->queued_bytes += course_queued(&f->course, &f->slice);
		p->high_bytes = most(p->high_bytes, p->queued_bytes);
	}
}

static void set_due(struct flows *n)
{
	int64_t first_ns = TIME_NEVER;

	for (size_t i = 0; i < n->n_active; i++) {
		const struct flow *f = container_of(n->active[i], struct flow, share);

		if (f->due_ns < first_ns)
			first_ns = f->due_ns;
	}
	if (first_ns == TIME_NEVER)
		world_cancel(n->world, &n->due);
	else
		world_set(n->world, &n->due, first_ns);
}

static void network_settle(struct network *network)
{
	struct flows *n = container_of(network, struct flows, network);

	if (!n->dirty && !n->fired)
		return;
	if (n->dirty) {
		share(n);
		if (!n->ideal)
			fill_queues(n);
	}
	n->dirty = n->fired = false;
	set_due(n);
}

/* Links. */

static bool crosses(const struct flow *f, int pipe)
{
	return f->data[0] == pipe || f->data[1] == pipe || f->acks[0] == pipe || f->acks[1] == pipe;
}

static void pipe_changes(struct world_event *event)
{
	struct pipe *p = container_of(event, struct pipe, change);
	struct flows *n = p->flows;
	int number = (int)(p - n->pipes);
	bool was_down = p->state.down;
	int64_t until_ns;

	for (size_t i = 0; i < n->n_active; i++)
		flow_advance(container_of(n->active[i], struct flow, share));
	until_ns = pipe_load(p, n->world->now_ns);
	n->shares[number].capacity = p->capacity;
	n->dirty = true;
	for (size_t i = 0; i < n->n_made; i++)
		flow_measure(n->made[i]);
	if (until_ns != TIME_NEVER)
		world_set(n->world, &p->change, until_ns);
	for (size_t i = 0; p->state.down && !was_down && i < n->n_made; i++) {
		struct flow *f = n->made[i];

		if (!crosses(f, number) || f->phase != ACTIVE)
			continue;
		f->backoff = 0;
		flow_stall(f);
	}
}

void flows_start(struct flows *n)
{
	for (int i = 0; i < n->n_pipes; i++) {
		struct pipe *p = &n->pipes[i];
		int64_t until_ns = pipe_load(p, 0);

		n->shares[i].capacity = p->capacity;
		p->flows = n;
		p->change = (struct world_event){.fire = pipe_changes, .background = true};
		if (until_ns != TIME_NEVER)
			world_set(n->world, &p->change, until_ns);
	}
}

/* Life. */

static enum tcp_kind kind_of(const char *congestion)
{
	return !strcmp(congestion, "reno")	? TCP_RENO
	       : !strncmp(congestion, "bbr", 3) ? TCP_BBR
						: TCP_CUBIC;
}

struct flows *flows_new(struct world *world, const struct flows_config *config)
{
	const struct scenario *s = config->scenario;
	struct flows *n = memory_zero(1, sizeof *n);

	*n = (struct flows){
		.network = {network_send, network_purge, network_settle},
		.world = world,
		.config = *config,
		.kind = kind_of(s->transport.congestion),
		.ideal = s->transport.tcp == TRANSPORT_IDEAL,
		.n_pipes = 2 * s->n_sites,
		.n = job_participants(&s->job),
		.connections = s->transport.tcp == TRANSPORT_IDEAL ? 1 : s->transport.connections,
		.window_limit = most(2, (double)s->transport.buffer_bytes / 2 / TCP_PAYLOAD),
	};
	n->pipes = memory_zero((size_t)n->n_pipes, sizeof *n->pipes);
	n->shares = memory_zero((size_t)n->n_pipes, sizeof *n->shares);
	n->flow = memory_zero((size_t)(n->n * n->n), sizeof(struct flow *));
	n->active = memory_zero((size_t)(n->n * n->n), sizeof *n->active);
	n->due.fire = flows_due;
	for (int i = 0; i < n->n_pipes; i++)
		pipe_init(&n->pipes[i], &config->links->links[i / 2][i % 2], i % 2, s->seed,
			(uint32_t)i, n->ideal, &config->out->links[i / 2][i % 2]);
	for (int i = 0; i < s->n_sites; i++)
		n->chunk_max[i] = stripe_chunk_max(
			s->links[s->sites[i].link].direction[UP].base.rate_bps, n->connections);
	return n;
}

struct network *flows_network(struct flows *flows)
{
	return &flows->network;
}

/* What is on its way between the last event and now is looked at, and nothing is disturbed. */
void flows_count(struct flows *n, int64_t at_ns)
{
	for (int i = 0; i < n->n_pipes; i++)
		n->pipes[i].ahead_bytes = 0;
	for (size_t i = 0; i < n->n_active; i++) {
		const struct flow *f = container_of(n->active[i], struct flow, share);
		double bytes = flow_ahead(f, at_ns);

		n->pipes[f->data[0]].ahead_bytes += bytes;
		n->pipes[f->data[1]].ahead_bytes += bytes;
	}
	for (int i = 0; i < n->n_pipes; i++)
		pipe_count(&n->pipes[i]);
}

struct flows *flows_free(struct flows *n)
{
	if (!n)
		return NULL;
	world_cancel(n->world, &n->due);
	for (size_t i = 0; i < n->n_made; i++) {
		reset(n->made[i]);
		free(n->made[i]);
	}
	for (struct delivery *d = n->deliveries, *made; d; d = made) {
		made = d->made;
		world_cancel(n->world, &d->event);
		if (d->parcel)
			world_forget(n->world, d->parcel);
		free(d);
	}
	for (int i = 0; i < n->n_pipes; i++)
		world_cancel(n->world, &n->pipes[i].change);
	free(n->made);
	free(n->flow);
	free(n->active);
	free(n->shares);
	free(n->pipes);
	free(n);
	return NULL;
}
