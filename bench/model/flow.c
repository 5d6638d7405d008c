/* A flow's course; see flow.h. */
#include "bench/model/flow.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"

#define BBR_START_NS (91 * NS_PER_MS) /* calibrated: docs/model.md */
#define BBR_START_RTT 0.31
#define ROUNDS_AHEAD 8	   /* where others decide what it may send, nothing is worth more of them */
#define UNEVEN 0.65	   /* of connections, over a message; calibrated: docs/model.md */
#define UNEVEN_PAUSED 0.75 /* how much of that after a pause, if nothing was ever dropped */
#define UNEVEN_NOW 0.82	   /* at a moment */

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

void flow_measure(struct flow *f)
{
	int64_t ns = flows_round_trip_ns(
		f->flows, flows_site_of(f->flows, f->from), flows_site_of(f->flows, f->to));

	f->base_ns = ns > 0 ? ns : 1;
}

int64_t flow_rtt_ns(const struct flow *f)
{
	const struct pipe *pipes = f->flows->pipes;

	return f->base_ns + pipe_queue_ns(&pipes[f->acks[0]]) + pipe_queue_ns(&pipes[f->acks[1]]);
}

/* A time of TCP's own in the scenario's. */
static int64_t tcp_own_ns(const struct flow *f, int64_t ns)
{
	return (int64_t)((double)ns / f->flows->config.scenario->dilation);
}

int64_t flow_timeout_ns(const struct flow *f)
{
	return flow_rtt_ns(f) + tcp_own_ns(f, TCP_RTO_MIN_NS);
}

bool flow_path_down(const struct flow *f, int64_t at_ns)
{
	const struct pipe *pipes = f->flows->pipes;
	bool ideal = f->flows->ideal; /* nobody waits for acknowledgements */

	for (int side = 0; side < 2; side++)
		if (pipe_is_down_at(&pipes[f->data[side]], at_ns) ||
			(!ideal && pipe_is_down_at(&pipes[f->acks[side]], at_ns)))
			return true;
	return false;
}

int64_t flow_path_up_ns(const struct flow *f, int64_t at_ns)
{
	const struct pipe *pipes = f->flows->pipes;

	for (int side = 0; at_ns < TIME_NEVER && flow_path_down(f, at_ns); side = !side)
		at_ns = pipe_up_at(&pipes[f->data[side]], at_ns);
	return at_ns;
}

/* Who sends. */

void flow_set_phase(struct flow *f, enum phase phase)
{
	struct flows *n = f->flows;

	if (f->phase == ACTIVE && phase != ACTIVE) {
		struct share_flow *last = n->active[--n->n_active];

		n->active[f->place] = last;
		container_of(last, struct flow, share)->place = f->place;
	} else if (f->phase != ACTIVE && phase == ACTIVE) {
		f->place = n->n_active;
		n->active[n->n_active++] = &f->share;
		f->placed = false;
		f->due_ns = TIME_NEVER;
	}
	f->phase = phase;
	n->dirty = true;
}

/* The queue has dropped segments of it: its connections are not alike any more. */
static void note_drops(struct flow *f, double segments)
{
	if (!(segments > 0))
		return;
	pipe_overflow(&f->flows->pipes[f->data[f->share.bottleneck]], segments);
	f->uneven = 1;
}

/* What the course has come to is counted. */
static void commit(struct flow *f, const struct course *to)
{
	struct pipe *pipes = f->flows->pipes;
	double bytes = f->course.left - to->left;

	f->unjudged += bytes;
	pipe_carry(&pipes[f->data[0]], bytes);
	pipe_carry(&pipes[f->data[1]], bytes);
	note_drops(f, to->dropped - f->course.dropped);
	f->course = *to;
}

void flow_advance(struct flow *f)
{
	struct course to = f->course;
	int64_t now = f->flows->world->now_ns;

	if (f->placed && to.at_ns < now)
		course_run(&to, &f->slice, now);
	to.at_ns = now;
	commit(f, &to);
}

double flow_ahead(const struct flow *f, int64_t at_ns)
{
	struct course to = f->course;

	if (f->placed && to.at_ns < at_ns)
		course_run(&to, &f->slice, at_ns < f->due_ns ? at_ns : f->due_ns);
	return f->course.left - to.left;
}

void flow_arrive(struct flow *f)
{
	commit(f, &f->planned);
}

void flow_plan(struct flow *f)
{
	bool sees_far = !f->slice.shared || course_full(&f->course, &f->slice);
	int64_t until_ns = f->course.at_ns + ROUNDS_AHEAD * f->slice.rtt_ns;

	f->planned = f->course;
	f->end_kind = course_run(&f->planned, &f->slice, sees_far ? TIME_NEVER : until_ns);
	f->due_ns = f->planned.at_ns;
}

void flow_place(struct flow *f, const struct slice *slice)
{
	double before = f->course.dropped;

	f->slice = *slice;
	if (!f->placed && !f->flows->ideal)
		course_burst(&f->course, slice, f->course.left + f->behind);
	note_drops(f, f->course.dropped - before);
	f->placed = true;
	flow_plan(f);
}

void flow_load(struct flow *f, double bytes)
{
	f->total = bytes;
	f->behind -= bytes;
	f->course.left = bytes;
}

/*
 * Flows that share a queue do not share it evenly: how unevenly is calibrated. A sum over the
 * connections, so that more of them are more even.
 */
void flow_draw_weight(struct flow *f)
{
	const struct flows *n = f->flows;
	double sum = 0, slowest = INFINITY;

	f->share.weight = f->slowest = 1;
	if (n->ideal)
		return;
	for (int c = 0; c < n->connections; c++) {
		double u =
			random_unit(n->config.scenario->seed, f->entity, RANDOM_QUEUE, f->draws++);

		sum += 1 - UNEVEN + UNEVEN * 3 * u * u;
		slowest = least(slowest, 1 - UNEVEN_NOW + UNEVEN_NOW * 3 * u * u);
	}
	f->share.weight = sum / n->connections;
	f->slowest = slowest;
}

/* Losses. */

static void split(struct flow *f)
{
	for (int c = 0; c < f->flows->connections && !f->split; c++)
		f->conn[c] = f->course.tcp;
	f->split = true;
}

static void set_window(struct flow *f)
{
	double sum = 0;

	if (!f->split) {
		course_set_window(&f->course, f->flows->connections);
		return;
	}
	for (int c = 0; c < f->flows->connections; c++)
		sum += f->conn[c].cwnd;
	f->course.window = sum * TCP_PAYLOAD;
	f->course.tcp.cwnd = sum / f->flows->connections;
}

/* A connection of the flow, by window. */
static int draw_connection(struct flow *f)
{
	double at =
		random_unit(f->flows->config.scenario->seed, f->entity, RANDOM_QUEUE, f->draws++) *
		f->course.window / TCP_PAYLOAD;
	int c = 0;

	while (c + 1 < f->flows->connections && at >= f->conn[c].cwnd)
		at -= f->conn[c++].cwnd;
	return c;
}

double flow_judge(struct flow *f)
{
	struct flows *n = f->flows;
	int64_t segments = (int64_t)(f->unjudged / TCP_PAYLOAD + .5), now = n->world->now_ns;
	int64_t lost = 0;

	f->unjudged = 0;
	if (n->ideal)
		return 0;
	for (int side = 0; side < 2; side++)
		lost += pipe_lose(&n->pipes[f->data[side]], segments);
	if (lost) {
		split(f);
		f->uneven = 1;
	}
	for (int64_t i = 0; i < lost; i++)
		tcp_lose(&f->conn[draw_connection(f)], n->kind, now, now - f->course.round_ns);
	return (double)lost;
}

/* Rounds. */

static void grow_split(struct flow *f)
{
	const struct slice *s = &f->slice;
	struct course *c = &f->course;
	struct tcp_round r = {
		.now_ns = c->at_ns,
		.rtt_ns = c->at_ns - c->round_ns,
		.base_rtt_ns = s->base_ns,
		.queued_ns = s->rtt_ns - s->base_ns,
		.train_ns = -1,
		.rounds = 1,
		.limit = s->limit,
	};

	r = tcp_dilate(r, s->dilation);
	for (int i = 0; i < s->connections; i++) {
		struct tcp_conn *conn = &f->conn[i];

		if (conn->reduced_ns == c->at_ns)
			continue;
		r.acked = least(1, c->sent / c->window) * conn->cwnd;
		tcp_grow(conn, s->kind, &r);
	}
	set_window(f);
	if (course_overflow(c, s, false)) {
		for (int i = 0; i < s->connections; i++)
			tcp_lose(&f->conn[i], s->kind, c->at_ns, 0);
		set_window(f);
	}
	c->round_ns = c->full_ns = c->at_ns;
	c->sent = c->lost;
	c->train = c->lost = 0;
}

void flow_turn(struct flow *f)
{
	double lost = flow_judge(f) * TCP_PAYLOAD;

	f->course.left += lost;
	f->total += lost;
	if (f->split)
		grow_split(f);
	else
		course_turn(&f->course, &f->slice);
}

void flow_open(struct flow *f)
{
	f->course = (struct course){.at_ns = f->flows->world->now_ns};
	f->split = false;
	f->uneven = 0;
	f->last_ns = -1;
	f->unjudged = 0;
	tcp_open(&f->course.tcp);
	course_set_window(&f->course, f->flows->connections);
	if (f->flows->ideal)
		f->course.window = INFINITY;
}

struct flow *flow_new(struct flows *n, int from, int to)
{
	struct flow *f = memory_zero(1, sizeof *f + (size_t)n->connections * sizeof *f->conn);
	int a = flows_site_of(n, from), b = flows_site_of(n, to);

	f->flows = n;
	f->from = from;
	f->to = to;
	f->data[0] = f->share.link[0] = 2 * a + UP;
	f->data[1] = f->share.link[1] = 2 * b + DOWN;
	f->acks[0] = 2 * b + UP;
	f->acks[1] = 2 * a + DOWN;
	f->entity = (uint32_t)(from * n->n + to);
	f->end = &f->first;
	flow_measure(f);
	flow_open(f);
	return f;
}

void flow_stall(struct flow *f)
{
	struct world *w = f->flows->world;
	int64_t up_ns;

	flow_set_phase(f, STALLED);
	if (f->flows->ideal) {
		up_ns = flow_path_up_ns(f, w->now_ns);
		if (up_ns < TIME_NEVER)
			world_set(w, &f->timeout, up_ns);
		return;
	}
	world_set(w, &f->timeout, w->now_ns + (flow_timeout_ns(f) << f->backoff));
	f->backoff += f->backoff < FLOW_BACKOFF_MAX;
}

static void each(
	struct flow *f, void (*what)(struct tcp_conn *c, const int64_t *arg), const int64_t *arg)
{
	if (!f->split)
		what(&f->course.tcp, arg);
	for (int c = 0; c < f->flows->connections && f->split; c++)
		what(&f->conn[c], arg);
	set_window(f);
}

static void pause(struct tcp_conn *c, const int64_t *idle_ns)
{
	tcp_pause(c, *idle_ns);
}

static void restart(struct tcp_conn *c, const int64_t *times)
{
	tcp_restart(c, times[0], times[1]);
}

static void time_out(struct tcp_conn *c, const int64_t *kind)
{
	tcp_timeout(c, (enum tcp_kind) * kind);
}

void flow_restart(struct flow *f)
{
	const int64_t kind = f->flows->kind;

	if (!f->flows->ideal)
		each(f, time_out, &kind);
	f->course.at_ns = f->course.round_ns = f->course.full_ns = f->flows->world->now_ns;
	f->course.sent = 0;
	f->course.waiting = false;
	flow_set_phase(f, ACTIVE);
}

/* Longer than a round trip ago. */
static void after_pause(struct flow *f, int64_t idle_ns)
{
	const int64_t times[] = {idle_ns, flow_timeout_ns(f)};
	const int64_t still_ns = (int64_t)((double)idle_ns * f->flows->config.scenario->dilation);

	flow_turn(f);
	each(f, pause, &still_ns);
	if (f->flows->config.scenario->transport.slow_start_after_idle && idle_ns > times[1])
		each(f, restart, times);
	f->course.round_ns = f->course.full_ns = f->course.at_ns;
	f->course.sent = 0;
}

static void begin_late(struct flow *f, int64_t rtt_ns)
{
	f->course.waiting = true;
	f->course.resume_ns = f->course.at_ns + tcp_own_ns(f, BBR_START_NS) +
			      (int64_t)(BBR_START_RTT * (double)rtt_ns);
}

/* A window that filled the link is acknowledged at its rate, and so is its room. */
static bool still_draining(const struct flow *f, int64_t now_ns)
{
	return course_full(&f->course, &f->slice) &&
	       (double)(now_ns - f->last_ns) < f->course.window / f->slice.rate;
}

void flow_wake(struct flow *f)
{
	struct flows *n = f->flows;
	int64_t now = n->world->now_ns, rtt = flow_rtt_ns(f);

	flow_draw_weight(f);
	if (flow_path_down(f, now)) {
		f->backoff = 0;
		flow_stall(f);
		return;
	}
	f->course.at_ns = now;
	f->course.train = 0;
	if (f->last_ns >= 0 && now - f->last_ns > flow_timeout_ns(f))
		f->uneven = most(f->uneven, UNEVEN_PAUSED);
	if (n->ideal || f->last_ns < 0) {
		f->course.round_ns = f->course.full_ns = now;
		f->course.sent = 0;
		if (n->kind == TCP_BBR && !n->ideal)
			begin_late(f, rtt);
	} else if (still_draining(f, now)) {
		f->course.waiting = false;
	} else if (now < f->course.round_ns + rtt) {
		f->course.waiting = f->course.sent >= f->course.window;
		f->course.resume_ns = f->course.round_ns + rtt;
	} else {
		after_pause(f, now - f->last_ns);
	}
	flow_set_phase(f, ACTIVE);
}
