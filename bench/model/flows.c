/* Flows, their rounds and their messages; see flows.h. */
#include "bench/model/flows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "bench/live/stripe.h"

#define BACKOFF_MAX 9		  /* doublings of the timeout: Linux ends at 120 s */
#define ACK_GAP_NS (2 * NS_PER_MS) /* HyStart: a longer gap ends a train */
#define SEGMENTS_PER_ACK 10	  /* what arrives as one super-packet is acknowledged at once */
#define BBR_START_NS (91 * NS_PER_MS) /* calibrated: docs/model.md */
#define BBR_START_RTT 0.31
#define STEADY_SEGMENTS 50 /* of a window, for each round trip that is taken at once; */
#define ROUNDS_AT_ONCE 8   /* at most */
#define SAME_WEIGHT 0.02   /* a smaller change leaves the shares as they are */
#define BYTE 1e-6 /* less than this is nothing left */

enum phase {
	IDLE,	 /* nothing to send */
	SENDING, /* has a rate */
	WAITING, /* the window is used up; until the round's acknowledgements come */
	STALLED, /* the link is down; until the next timeout */
};

struct flow {
	struct share_flow share;
	struct world_event event;
	struct flows *flows;
	int from, to;  /* participants */
	int data[2];   /* pipes: up, down */
	int acks[2];
	uint32_t entity;
	enum phase phase;
	struct parcel *first, **end; /* messages; the first is being sent */
	double total, left;	     /* bytes of the first, framing included; and not served yet */
	double behind;		     /* bytes of the others */
	double window;		     /* bytes, all connections */
	double budget, served;	     /* of this round: may still be sent, was served */
	double unjudged;	     /* served, and its losses are not drawn yet */
	int rounds;		     /* round trips that this round stands for */
	bool burst;		     /* the whole window comes at once */
	int64_t since_ns;	     /* served is true at */
	int64_t round_ns, full_ns;   /* the round's begin, and when its window was used up */
	int64_t queued_ns;	     /* in queues at its begin */
	int64_t peak_ns;	     /* in the queue that its windows make; < 0: not known yet */
	int64_t last_ns;	     /* when it last sent; < 0: never */
	int64_t arrival_ns;	     /* of its last message */
	int64_t signal_ns;	     /* of its last message without payload */
	uint64_t draws, episodes[2]; /* of its pipes, that it has had its losses of */
	int backoff;
	size_t place; /* among those that send */
	struct tcp_conn conn[];
};

struct delivery {
	struct world_event event;
	struct flows *flows;
	struct parcel *parcel;
	struct delivery *next, *made; /* spare ones; all of them */
};

struct flows {
	struct network network;
	struct world *world;
	struct flows_config config;
	enum tcp_kind kind;
	bool ideal, dirty;
	int n_pipes, n; /* participants */
	int connections;
	double window_limit; /* segments, of a connection */
	struct pipe *pipes;  /* site * 2 + direction */
	struct share_link *shares;
	struct flow **flow; /* [from * n + to]; NULL: they have not talked */
	struct flow **made;
	size_t n_made;
	struct share_flow **sending;
	size_t n_sending;
	int64_t chunk_max[SITES_MAX];
	struct delivery *spare, *deliveries;
};

/* Paths. */

static struct pipe *pipe_of(const struct flows *n, int site, enum direction d)
{
	return &n->pipes[2 * site + (int)d];
}

static int64_t way_ns(const struct flows *n, int from, int to)
{
	return pipe_delay_ns(pipe_of(n, from, UP)) + n->config.links->core_delay_ns[from][to] +
	       pipe_delay_ns(pipe_of(n, to, DOWN));
}

int64_t flows_round_trip_ns(const struct flows *n, int site, int other)
{
	return way_ns(n, site, other) + way_ns(n, other, site);
}

int64_t flows_one_way_ns(const struct flows *n, int from, int to)
{
	return way_ns(n, from, to) + pipe_queue_ns(pipe_of(n, from, UP)) +
	       pipe_queue_ns(pipe_of(n, to, DOWN));
}

static int site_of(const struct flows *n, int participant)
{
	return job_site(&n->config.scenario->job, participant);
}

static int64_t base_rtt_ns(const struct flow *f)
{
	int64_t ns = flows_round_trip_ns(
		f->flows, site_of(f->flows, f->from), site_of(f->flows, f->to));

	return ns > 0 ? ns : 1;
}

static int64_t queues_ns(const struct flow *f, const int pipes[2])
{
	return pipe_queue_ns(&f->flows->pipes[pipes[0]]) + pipe_queue_ns(&f->flows->pipes[pipes[1]]);
}

/* What its acknowledgements take at least: the queues before them, but not before its data. */
static int64_t rtt_ns(const struct flow *f)
{
	return base_rtt_ns(f) + queues_ns(f, f->acks);
}

static bool path_down(const struct flow *f, int64_t at_ns)
{
	const struct pipe *pipes = f->flows->pipes;

	for (int side = 0; side < 2; side++)
		if (pipe_is_down_at(&pipes[f->data[side]], at_ns) ||
			pipe_is_down_at(&pipes[f->acks[side]], at_ns))
			return true;
	return false;
}

/* Who sends. */

static void set_phase(struct flow *f, enum phase phase)
{
	struct flows *n = f->flows;

	if (f->phase == SENDING && phase != SENDING) {
		struct share_flow *last = n->sending[--n->n_sending];

		n->sending[f->place] = last;
		container_of(last, struct flow, share)->place = f->place;
		f->share.rate = 0;
	} else if (f->phase != SENDING && phase == SENDING) {
		f->place = n->n_sending;
		n->sending[n->n_sending++] = &f->share;
		f->since_ns = n->world->now_ns;
		f->share.rate = 0;
	}
	f->phase = phase;
	n->dirty = true;
}

static void advance(struct flow *f)
{
	struct flows *n = f->flows;
	double bytes = f->share.rate * (double)(n->world->now_ns - f->since_ns);

	f->since_ns = n->world->now_ns;
	if (bytes <= 0)
		return;
	if (bytes > f->left)
		bytes = f->left;
	f->left -= bytes;
	f->served += bytes;
	f->unjudged += bytes;
	f->budget -= bytes;
	pipe_carry(&n->pipes[f->data[0]], bytes);
	pipe_carry(&n->pipes[f->data[1]], bytes);
}

/* Losses. */

static void lose(struct flow *f, int conn)
{
	int64_t now = f->flows->world->now_ns;

	tcp_lose(&f->conn[conn], f->flows->kind, now, now - f->round_ns);
}

/* A connection of the flow, by window. */
static int draw_connection(struct flow *f)
{
	double at = random_unit(f->flows->config.scenario->seed, f->entity, RANDOM_QUEUE,
			    f->draws++) *
		    f->window / TCP_PAYLOAD;
	int c = 0;

	while (c + 1 < f->flows->connections && at >= f->conn[c].cwnd)
		at -= f->conn[c++].cwnd;
	return c;
}

static double lose_on_the_way(struct flow *f)
{
	struct flows *n = f->flows;
	int64_t segments = (int64_t)(f->unjudged / TCP_PAYLOAD + .5);
	int64_t lost = 0;

	f->unjudged = 0;
	for (int side = 0; side < 2; side++)
		lost += pipe_lose(&n->pipes[f->data[side]], segments);
	for (int64_t i = 0; i < lost; i++)
		lose(f, draw_connection(f));
	return (double)lost;
}

/*
 * A queue that runs over drops from whoever's segments come then. A connection of which d are
 * expected to be dropped is hit with probability 1 - exp(-d).
 */
static double lose_in_queue(struct flow *f, int side)
{
	struct flows *n = f->flows;
	struct pipe *p = &n->pipes[f->data[side]];
	double sum = 0;

	if (p->over_until_ns < f->round_ns || f->episodes[side] == p->episode)
		return 0;
	f->episodes[side] = p->episode;
	for (int c = 0; c < n->connections; c++) {
		double expected = p->over_share * f->conn[c].cwnd;

		if (random_exponential(n->config.scenario->seed, f->entity, RANDOM_QUEUE,
			    f->draws++) >= expected)
			continue;
		sum += expected > 1 ? expected : 1;
		lose(f, c);
	}
	pipe_overflow(p, sum);
	return sum;
}

/* Draws the fate of what was served since the last time; returns how many segments were lost. */
static double judge(struct flow *f)
{
	if (f->flows->ideal)
		return 0;
	return lose_on_the_way(f) + lose_in_queue(f, 0) + lose_in_queue(f, 1);
}

/* Rounds. */

static void set_window(struct flow *f)
{
	double sum = 0;

	for (int c = 0; c < f->flows->connections; c++)
		sum += f->conn[c].cwnd;
	f->window = sum * TCP_PAYLOAD;
	f->share.weight = f->window / (double)rtt_ns(f);
}

static bool all_steady(const struct flow *f)
{
	for (int c = 0; c < f->flows->connections; c++)
		if (tcp_slow_start(&f->conn[c]))
			return false;
	return true;
}

/*
 * Of several connections whose segments come together, each finds those of the ones before it
 * in the queue: the last sees a round trip that is longer by nearly the queue's peak.
 */
static void grow(struct flow *f)
{
	struct flows *n = f->flows;
	bool full = f->budget <= BYTE;
	struct tcp_round r = {
		.now_ns = n->world->now_ns,
		.rtt_ns = (n->world->now_ns - f->round_ns) / f->rounds,
		.base_rtt_ns = base_rtt_ns(f),
		.rounds = f->rounds,
		.limit = n->window_limit,
	};

	for (int c = 0; c < n->connections; c++) {
		struct tcp_conn *conn = &f->conn[c];
		int64_t train = f->full_ns - f->round_ns;

		if (conn->reduced_ns == r.now_ns || (!full && !tcp_slow_start(conn)))
			continue;
		r.acked = f->served * conn->cwnd / f->window;
		r.queued_ns = f->queued_ns + f->peak_ns * c / n->connections;
		r.train_ns = (double)train * SEGMENTS_PER_ACK <= r.acked * ACK_GAP_NS ? train : -1;
		tcp_grow(conn, n->kind, &r);
	}
}

static void set_event(struct flow *f)
{
	struct world *w = f->flows->world;
	double ns = ceil(fmin(f->left, f->budget) / f->share.rate);

	world_set(w, &f->event, ns < 9e18 ? w->now_ns + (int64_t)ns : TIME_NEVER);
}

/*
 * Fast forward: windows of some size change little from round to round once they are steady, so
 * that several rounds are one. Not where segments are lost on the way: each round may be the one.
 */
static int rounds_at_once(const struct flow *f)
{
	const struct flows *n = f->flows;
	int rounds = (int)(f->window / n->connections / TCP_PAYLOAD / STEADY_SEGMENTS);

	if (rounds < 2 || !all_steady(f) || loss_possible(&n->pipes[f->data[0]].state) ||
		loss_possible(&n->pipes[f->data[1]].state))
		return 1;
	return rounds < ROUNDS_AT_ONCE ? rounds : ROUNDS_AT_ONCE;
}

/* Shares are made again when a window has changed by more than a little. */
static void begin_round(struct flow *f, bool burst)
{
	struct flows *n = f->flows;
	double weight = f->share.weight;

	set_window(f);
	f->rounds = rounds_at_once(f);
	f->budget = n->ideal ? INFINITY : f->window * f->rounds;
	f->served = 0;
	f->burst = burst;
	f->round_ns = f->full_ns = n->world->now_ns;
	f->queued_ns = queues_ns(f, f->data) + queues_ns(f, f->acks);
	f->peak_ns = -1;
	if (f->phase == SENDING && fabs(f->share.weight - weight) < SAME_WEIGHT * weight) {
		f->share.weight = weight;
		f->peak_ns = 0;
		set_event(f);
		return;
	}
	set_phase(f, SENDING);
}

static void end_round(struct flow *f)
{
	double lost = judge(f);

	f->left += lost * TCP_PAYLOAD;
	f->total += lost * TCP_PAYLOAD;
	grow(f);
}

static void stall(struct flow *f)
{
	struct world *w = f->flows->world;

	set_phase(f, STALLED);
	world_set(w, &f->event, w->now_ns + ((rtt_ns(f) + TCP_RTO_MIN_NS) << f->backoff));
	f->backoff += f->backoff < BACKOFF_MAX;
}

/* A flow that was idle: what is left of its window, or a new round. */
static void wake(struct flow *f)
{
	struct flows *n = f->flows;
	int64_t now = n->world->now_ns, idle_ns = now - f->last_ns, rtt = rtt_ns(f);

	if (!n->ideal && path_down(f, now)) {
		f->backoff = 0;
		stall(f);
		return;
	}
	if (n->ideal || f->last_ns < 0) {
		begin_round(f, true);
		if (n->kind == TCP_BBR && !n->ideal) {
			set_phase(f, WAITING);
			world_set(n->world, &f->event,
				now + BBR_START_NS + (int64_t)(BBR_START_RTT * (double)rtt));
		}
		return;
	}
	if (now < f->round_ns + rtt) {
		f->burst = true;
		set_phase(f, f->budget > BYTE ? SENDING : WAITING);
		if (f->phase == WAITING)
			world_set(n->world, &f->event, f->round_ns + rtt);
		return;
	}
	end_round(f);
	for (int c = 0; c < n->connections; c++) {
		tcp_pause(&f->conn[c], idle_ns);
		if (n->config.scenario->transport.slow_start_after_idle &&
			idle_ns > rtt + TCP_RTO_MIN_NS)
			tcp_restart(&f->conn[c], idle_ns, rtt + TCP_RTO_MIN_NS);
	}
	begin_round(f, true);
}

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
				n->chunk_max[site_of(n, f->from)]));
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
	double waiting = fmin((double)stripe_unsent(n->chunk_max[site_of(n, f->from)]),
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
	int64_t at_ns = n->world->now_ns + way_ns(n, site_of(n, f->from), site_of(n, f->to));
	double lost;

	at_ns += tail_ns(f);
	lost = judge(f);
	if (lost > 0)
		at_ns += rtt_ns(f) + queues_ns(f, f->data) +
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
		if (path_down(f, w->now_ns)) {
			stall(f);
			return;
		}
		for (int c = 0; c < f->flows->connections; c++)
			tcp_timeout(&f->conn[c], f->flows->kind);
		begin_round(f, false);
		return;
	}
	if (f->phase == WAITING) {
		if (f->served > 0)
			end_round(f);
		begin_round(f, false);
		return;
	}
	advance(f);
	f->last_ns = w->now_ns;
	while (f->first && f->left <= BYTE) {
		finish_message(f);
		if (f->first)
			load_first(f);
	}
	if (f->budget <= BYTE)
		f->full_ns = w->now_ns;
	if (!f->first) {
		f->left = 0;
		set_phase(f, IDLE);
		return;
	}
	if (f->budget > BYTE) {
		set_event(f);
		return;
	}
	due_ns = f->round_ns + rtt_ns(f) * f->rounds;
	if (w->now_ns >= due_ns) {
		end_round(f);
		begin_round(f, false);
	} else {
		set_phase(f, WAITING);
		world_set(w, &f->event, due_ns);
	}
}

static struct flow *make_flow(struct flows *n, int from, int to)
{
	struct flow *f =
		memory_zero(1, sizeof *f + (size_t)n->connections * sizeof *f->conn);
	int a = site_of(n, from), b = site_of(n, to);

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
	int64_t at_ns = n->world->now_ns, timeout = rtt_ns(f) + TCP_RTO_MIN_NS;

	for (int i = 0; !n->ideal && i < 64 && path_down(f, at_ns); i++) {
		at_ns += timeout;
		timeout *= i < BACKOFF_MAX ? 2 : 1;
	}
	at_ns += flows_one_way_ns(n, site_of(n, f->from), site_of(n, f->to));
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
	wake(f);
}

/* Its connections are gone, and what was on them; new ones begin cold. */
static void reset(struct flow *f)
{
	struct flows *n = f->flows;

	if (f->phase == SENDING)
		advance(f);
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
	set_phase(f, IDLE);
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
	double standing = fmax(0, window - f->share.rate * (double)rtt_ns(f));
	double peak = f->burst ? fmin(f->budget, waiting) : all_steady(f) ? standing : window / 2;

	p->queued_bytes += standing;
	p->peak_bytes += fmax(standing, peak);
	p->windows += f->window;
	if (rtt_ns(f) > p->rtt_ns)
		p->rtt_ns = rtt_ns(f);
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
		advance(container_of(n->sending[i], struct flow, share));
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
		set_event(f);
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
		advance(container_of(n->sending[i], struct flow, share));
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
		stall(f);
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
		advance(container_of(n->sending[i], struct flow, share));
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
	free(n->made);
	free(n->flow);
	free(n->sending);
	free(n->shares);
	free(n->pipes);
	free(n);
	return NULL;
}
