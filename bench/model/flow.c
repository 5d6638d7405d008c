/* A flow's rounds; see flow.h. */
#include "bench/model/flow.h"

#include <math.h>

#include "base/random.h"

#define ACK_GAP_NS (2 * NS_PER_MS) /* HyStart: a longer gap ends a train */
#define SEGMENTS_PER_ACK 10	  /* what arrives as one super-packet is acknowledged at once */
#define BBR_START_NS (91 * NS_PER_MS) /* calibrated: docs/model.md */
#define BBR_START_RTT 0.31
#define STEADY_SEGMENTS 50 /* of a window, for each round trip that is taken at once; */
#define ROUNDS_AT_ONCE 8   /* at most */
#define SAME_WEIGHT 0.02   /* a smaller change leaves the shares as they are */

/* Paths. */

static struct pipe *pipe_of(const struct flows *n, int site, enum direction d)
{
	return &n->pipes[2 * site + (int)d];
}

int64_t flows_way_ns(const struct flows *n, int from, int to)
{
	return pipe_delay_ns(pipe_of(n, from, UP)) + n->config.links->core_delay_ns[from][to] +
	       pipe_delay_ns(pipe_of(n, to, DOWN));
}

int64_t flows_round_trip_ns(const struct flows *n, int site, int other)
{
	return flows_way_ns(n, site, other) + flows_way_ns(n, other, site);
}

int64_t flows_one_way_ns(const struct flows *n, int from, int to)
{
	return flows_way_ns(n, from, to) + pipe_queue_ns(pipe_of(n, from, UP)) +
	       pipe_queue_ns(pipe_of(n, to, DOWN));
}

int flows_site_of(const struct flows *n, int participant)
{
	return job_site(&n->config.scenario->job, participant);
}

static int64_t base_rtt_ns(const struct flow *f)
{
	int64_t ns = flows_round_trip_ns(
		f->flows, flows_site_of(f->flows, f->from), flows_site_of(f->flows, f->to));

	return ns > 0 ? ns : 1;
}

int64_t flow_queues_ns(const struct flow *f, const int pipes[2])
{
	return pipe_queue_ns(&f->flows->pipes[pipes[0]]) + pipe_queue_ns(&f->flows->pipes[pipes[1]]);
}

/* What its acknowledgements take at least: the queues before them, but not before its data. */
int64_t flow_rtt_ns(const struct flow *f)
{
	return base_rtt_ns(f) + flow_queues_ns(f, f->acks);
}

bool flow_path_down(const struct flow *f, int64_t at_ns)
{
	const struct pipe *pipes = f->flows->pipes;

	for (int side = 0; side < 2; side++)
		if (pipe_is_down_at(&pipes[f->data[side]], at_ns) ||
			pipe_is_down_at(&pipes[f->acks[side]], at_ns))
			return true;
	return false;
}

/* Who sends. */

void flow_set_phase(struct flow *f, enum phase phase)
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

void flow_advance(struct flow *f)
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
double flow_judge(struct flow *f)
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
	f->share.weight = f->window / (double)flow_rtt_ns(f);
}

bool flow_steady(const struct flow *f)
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
	bool full = f->budget <= FLOW_BYTE;
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

void flow_set_event(struct flow *f)
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

	if (rounds < 2 || !flow_steady(f) || loss_possible(&n->pipes[f->data[0]].state) ||
		loss_possible(&n->pipes[f->data[1]].state))
		return 1;
	return rounds < ROUNDS_AT_ONCE ? rounds : ROUNDS_AT_ONCE;
}

/* Shares are made again when a window has changed by more than a little. */
void flow_begin_round(struct flow *f, bool burst)
{
	struct flows *n = f->flows;
	double weight = f->share.weight;

	set_window(f);
	f->rounds = rounds_at_once(f);
	f->budget = n->ideal ? INFINITY : f->window * f->rounds;
	f->served = 0;
	f->burst = burst;
	f->round_ns = f->full_ns = n->world->now_ns;
	f->queued_ns = flow_queues_ns(f, f->data) + flow_queues_ns(f, f->acks);
	f->peak_ns = -1;
	if (f->phase == SENDING && fabs(f->share.weight - weight) < SAME_WEIGHT * weight) {
		f->share.weight = weight;
		f->peak_ns = 0;
		flow_set_event(f);
		return;
	}
	flow_set_phase(f, SENDING);
}

void flow_end_round(struct flow *f)
{
	double lost = flow_judge(f);

	f->left += lost * TCP_PAYLOAD;
	f->total += lost * TCP_PAYLOAD;
	grow(f);
}

void flow_stall(struct flow *f)
{
	struct world *w = f->flows->world;

	flow_set_phase(f, STALLED);
	world_set(w, &f->event, w->now_ns + ((flow_rtt_ns(f) + TCP_RTO_MIN_NS) << f->backoff));
	f->backoff += f->backoff < FLOW_BACKOFF_MAX;
}

/* A flow that was idle: what is left of its window, or a new round. */
void flow_wake(struct flow *f)
{
	struct flows *n = f->flows;
	int64_t now = n->world->now_ns, idle_ns = now - f->last_ns, rtt = flow_rtt_ns(f);

	if (!n->ideal && flow_path_down(f, now)) {
		f->backoff = 0;
		flow_stall(f);
		return;
	}
	if (n->ideal || f->last_ns < 0) {
		flow_begin_round(f, true);
		if (n->kind == TCP_BBR && !n->ideal) {
			flow_set_phase(f, WAITING);
			world_set(n->world, &f->event,
				now + BBR_START_NS + (int64_t)(BBR_START_RTT * (double)rtt));
		}
		return;
	}
	if (now < f->round_ns + rtt) {
		f->burst = true;
		flow_set_phase(f, f->budget > FLOW_BYTE ? SENDING : WAITING);
		if (f->phase == WAITING)
			world_set(n->world, &f->event, f->round_ns + rtt);
		return;
	}
	flow_end_round(f);
	for (int c = 0; c < n->connections; c++) {
		tcp_pause(&f->conn[c], idle_ns);
		if (n->config.scenario->transport.slow_start_after_idle &&
			idle_ns > rtt + TCP_RTO_MIN_NS)
			tcp_restart(&f->conn[c], idle_ns, rtt + TCP_RTO_MIN_NS);
	}
	flow_begin_round(f, true);
}
