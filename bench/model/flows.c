/* Flows over shared links, and their messages; see flows.h. */
#include "bench/model/flows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/live/stripe.h"
#include "bench/model/flow.h"

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
		*d = (struct delivery){
			.event.fire = arrives, .flows = n, .made = n->deliveries};
		n->deliveries = d;
	}
	d->parcel = parcel;
	world_set(n->world, &d->event, at_ns);
}

static double framed(const struct flow *f, const struct parcel *parcel)
{
	const struct flows *n = f->flows;

	if (n->ideal)
		return (double)parcel->message.bytes;
	return (double)(parcel->message.bytes +
			stripe_framing(parcel->message.bytes, n->connections,
				n->chunk_max[flows_site_of(n, f->from)]));
}

static void load_first(struct flow *f)
{
	f->total = framed(f, f->first);
	f->behind -= f->total;
	f->left = f->total;
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
 * A message's last bytes wait in the sockets, as much in each (stripe_unsent), and the slowest
 * connection's are sent last: later than at the rate of all by so much.
 */
static int64_t tail_ns(const struct flow *f)
{
	const struct flows *n = f->flows;
	double waiting = fmin((double)stripe_unsent(n->chunk_max[flows_site_of(n, f->from)]),
		f->total / n->connections);
	double least = f->conn[0].cwnd;

	if (n->ideal)
		return 0;
	for (int c = 1; c < n->connections; c++)
		least = fmin(least, f->conn[c].cwnd);
	return (int64_t)(waiting / f->share.rate *
			 (f->window / TCP_PAYLOAD / least - n->connections));
}

static void finish_message(struct flow *f)
{
	struct flows *n = f->flows;
	struct parcel *parcel = f->first;
	int64_t at_ns = n->world->now_ns + flows_way_ns(n, flows_site_of(n, f->from), flows_site_of(n, f->to));
	double lost;

	at_ns += tail_ns(f);
	lost = flow_judge(f);
	if (lost > 0)
		at_ns += flow_rtt_ns(f) + flow_queues_ns(f, f->data) +
			 (int64_t)(lost * TCP_PAYLOAD / f->share.rate);
	if (at_ns < f->arrival_ns)
		at_ns = f->arrival_ns;
	f->arrival_ns = at_ns;
	count_sent(f, 1);
	f->first = parcel->next;
	if (!f->first)
		f->end = &f->first;
	deliver(n, parcel, at_ns);
}

static void flow_fires(struct world_event *event)
{
	struct flow *f = container_of(event, struct flow, event);
	struct world *w = f->flows->world;
	int64_t due_ns;

	if (f->phase == STALLED) {
		if (flow_path_down(f, w->now_ns)) {
			flow_stall(f);
			return;
		}
		for (int c = 0; c < f->flows->connections; c++)
			tcp_timeout(&f->conn[c], f->flows->kind);
		flow_begin_round(f, false);
		return;
	}
	if (f->phase == WAITING) {
		if (f->served > 0)
			flow_end_round(f);
		flow_begin_round(f, false);
		return;
	}
	flow_advance(f);
	f->last_ns = w->now_ns;
	while (f->first && f->left <= FLOW_BYTE) {
		finish_message(f);
		if (f->first)
			load_first(f);
	}
	if (f->budget <= FLOW_BYTE)
		f->full_ns = w->now_ns;
	if (!f->first) {
		f->left = 0;
		flow_set_phase(f, IDLE);
		return;
	}
	if (f->budget > FLOW_BYTE) {
		flow_set_event(f);
		return;
	}
	due_ns = f->round_ns + flow_rtt_ns(f) * f->rounds;
	if (w->now_ns >= due_ns) {
		flow_end_round(f);
		flow_begin_round(f, false);
	} else {
		flow_set_phase(f, WAITING);
		world_set(w, &f->event, due_ns);
	}
}

static struct flow *make_flow(struct flows *n, int from, int to)
{
	struct flow *f =
		memory_zero(1, sizeof *f + (size_t)n->connections * sizeof *f->conn);
	int a = flows_site_of(n, from), b = flows_site_of(n, to);

	f->flows = n;
	f->event.fire = flow_fires;
	f->from = from;
	f->to = to;
	f->data[0] = f->share.link[0] = 2 * a + UP;
	f->data[1] = f->share.link[1] = 2 * b + DOWN;
	f->acks[0] = 2 * b + UP;
	f->acks[1] = 2 * a + DOWN;
	f->entity = (uint32_t)(from * n->n + to);
	f->end = &f->first;
	f->last_ns = -1;
	f->rounds = 1;
	for (int c = 0; c < n->connections; c++)
		tcp_open(&f->conn[c]);
	n->made = memory_resize(n->made, n->n_made + 1, sizeof *n->made);
	n->made[n->n_made++] = f;
	n->flow[from * n->n + to] = f;
	return f;
}

/* No payload: its own connection, so it waits in the links' queues only. */
static void send_signal(struct flow *f, struct parcel *parcel)
{
	struct flows *n = f->flows;
	int64_t at_ns = n->world->now_ns, timeout = flow_rtt_ns(f) + TCP_RTO_MIN_NS;

	for (int i = 0; !n->ideal && i < 64 && flow_path_down(f, at_ns); i++) {
		at_ns += timeout;
		timeout *= i < FLOW_BACKOFF_MAX ? 2 : 1;
	}
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
	if (f->first != parcel) {
		n->dirty |= f->phase == SENDING && f->burst;
		return;
	}
	load_first(f);
	flow_wake(f);
}

/* Its connections are gone, and what was on them; new ones begin cold. */
static void reset(struct flow *f)
{
	struct flows *n = f->flows;

	if (f->phase == SENDING)
		flow_advance(f);
	world_cancel(n->world, &f->event);
	if (f->first)
		count_sent(f, 1 - f->left / f->total);
	for (struct parcel *p = f->first, *next; p; p = next) {
		next = p->next;
		world_forget(n->world, p);
	}
	f->first = NULL;
	f->end = &f->first;
	f->left = f->behind = f->unjudged = 0;
	flow_set_phase(f, IDLE);
	f->last_ns = -1;
	for (int c = 0; c < n->connections; c++)
		tcp_open(&f->conn[c]);
}

static void network_purge(struct network *network, int from, int to)
{
	struct flows *n = container_of(network, struct flows, network);

	for (int i = to < 0 ? 0 : to; i < (to < 0 ? n->n : to + 1); i++)
		if (n->flow[from * n->n + i])
			reset(n->flow[from * n->n + i]);
}

/* Sharing. */

/*
 * A flow in the queue of the link that limits it. Standing: what of its window is more than the
 * link serves it in a round trip. At its peak, half of the window while slow start sends two
 * segments for each that is acknowledged, and all of it when it comes at once after idle time.
 */
static void queue_up(const struct flow *f, struct pipe *p)
{
	double waiting = f->left + f->behind, window = fmin(f->window, waiting);
	double standing = fmax(0, window - f->share.rate * (double)flow_rtt_ns(f));
	double peak = f->burst ? fmin(f->budget, waiting) : flow_steady(f) ? standing : window / 2;

	p->queued_bytes += standing;
	p->peak_bytes += fmax(standing, peak);
	p->windows += f->window;
	if (flow_rtt_ns(f) > p->rtt_ns)
		p->rtt_ns = flow_rtt_ns(f);
}

static void fill_queues(struct flows *n)
{
	for (int i = 0; i < n->n_pipes; i++)
		n->pipes[i].queued_bytes = n->pipes[i].peak_bytes = n->pipes[i].windows = 0;
	for (size_t i = 0; i < n->n_sending; i++) {
		const struct flow *f = container_of(n->sending[i], struct flow, share);

		queue_up(f, &n->pipes[f->data[f->share.bottleneck]]);
	}
}

static void check_queues(struct flows *n)
{
	for (int i = 0; i < n->n_pipes; i++) {
		struct pipe *p = &n->pipes[i];
		double limit = pipe_queue_limit(p);

		if (p->peak_bytes > limit && n->world->now_ns > p->over_until_ns) {
			p->over_share = (p->peak_bytes - limit) / p->windows;
			p->over_until_ns = n->world->now_ns + p->rtt_ns + (int64_t)(limit / pipe_capacity(p));
			p->episode++;
		}
		p->high_bytes = fmax(p->high_bytes, fmin(p->peak_bytes, limit));
		p->queued_bytes = fmin(p->queued_bytes, limit);
		p->rtt_ns = 0;
	}
}

static void network_settle(struct network *network)
{
	struct flows *n = container_of(network, struct flows, network);

	if (!n->dirty)
		return;
	n->dirty = false;
	for (size_t i = 0; i < n->n_sending; i++)
		flow_advance(container_of(n->sending[i], struct flow, share));
	share_fill(n->shares, n->n_pipes, n->sending, n->n_sending);
	if (!n->ideal) {
		fill_queues(n);
		check_queues(n);
	}
	for (size_t i = 0; i < n->n_sending; i++) {
		struct flow *f = container_of(n->sending[i], struct flow, share);
		const struct pipe *p = &n->pipes[f->data[f->share.bottleneck]];

		if (f->peak_ns < 0)
			f->peak_ns = (int64_t)(fmin(p->peak_bytes, pipe_queue_limit(p)) /
					       pipe_capacity(p));
		flow_set_event(f);
	}
}

/* Links. */

static bool crosses(const struct flow *f, int pipe)
{
	return f->data[0] == pipe || f->data[1] == pipe || f->acks[0] == pipe ||
	       f->acks[1] == pipe;
}

static void pipe_changes(struct world_event *event)
{
	struct pipe *p = container_of(event, struct pipe, change);
	struct flows *n = p->flows;
	int number = (int)(p - n->pipes);
	bool was_down = p->state.down;
	int64_t until_ns;

	for (size_t i = 0; i < n->n_sending; i++)
		flow_advance(container_of(n->sending[i], struct flow, share));
	until_ns = pipe_load(p, n->world->now_ns);
	n->shares[number].capacity = pipe_capacity(p);
	n->dirty = true;
	if (until_ns != TIME_NEVER)
		world_set(n->world, &p->change, until_ns);
	for (size_t i = 0; p->state.down && !was_down && !n->ideal && i < n->n_made; i++) {
		struct flow *f = n->made[i];

		if (!crosses(f, number) || (f->phase != SENDING && f->phase != WAITING))
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

		n->shares[i].capacity = pipe_capacity(p);
		p->flows = n;
		p->change = (struct world_event){.fire = pipe_changes, .background = true};
		if (until_ns != TIME_NEVER)
			world_set(n->world, &p->change, until_ns);
	}
}

/* Life. */

static enum tcp_kind kind_of(const char *congestion)
{
	return !strcmp(congestion, "reno")	 ? TCP_RENO
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
		.window_limit = fmax(2, (double)s->transport.buffer_bytes / 2 / TCP_PAYLOAD),
	};
	n->pipes = memory_zero((size_t)n->n_pipes, sizeof *n->pipes);
	n->shares = memory_zero((size_t)n->n_pipes, sizeof *n->shares);
	n->flow = memory_zero((size_t)(n->n * n->n), sizeof(struct flow *));
	n->sending = memory_zero((size_t)(n->n * n->n), sizeof *n->sending);
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

void flows_count(struct flows *n, int64_t at_ns)
{
	int64_t now_ns = n->world->now_ns;

	n->world->now_ns = at_ns;
	for (size_t i = 0; i < n->n_sending; i++)
		flow_advance(container_of(n->sending[i], struct flow, share));
	n->world->now_ns = now_ns;
	for (int i = 0; i < n->n_pipes; i++)
		pipe_count(&n->pipes[i]);
}

struct flows *flows_free(struct flows *n)
{
	if (!n)
		return NULL;
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
	free(n->sending);
	free(n->shares);
	free(n->pipes);
	free(n);
	return NULL;
}
