/*
 * The order of measuring: probes on all ways at once while the links are idle; then, way by way
 * and direction by direction, flows with probes beside them.
 *
 * Datagrams at a quarter more than the rate fill the queue and leave no doubt about who sets the
 * pace, but a process sends only so many. TCP, from fewer and larger pieces, is for what is faster;
 * reno, since cubic leaves slow start when a queue begins to stand.
 */
#include "emu/measure/calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "emu/measure/busy.h"

#define PROBE_PORT                                                                                 \
	5311 /* and the flow's after it: of the experimental kind, in a site of our own */
#define FLOW_PORT 5201
#define PROBES_PER_S 4000 /* of all ways together */
#define PROBE_SHARE 0.2	  /* of a link's rate */
#define BESIDE_GAP_NS (5 * NS_PER_MS)
#define IN_THE_WAY_NS NS_PER_MS
#define OVERLOAD 1.25
#define UDP_MOST_BPS 300e6
#define WINDOW_KEPT 0.62 /* of a buffer: the kernel takes the rest for itself */
#define BUFFER_LEAST (256 << 10)
#define FIRST_WINDOW 14480.
#define FILLING_STREAMS 3
#define SLACK_NS (300 * NS_PER_MS)
#define MATHIS_SHARE_MOST 0.8 /* of the rate: beyond it the link limits TCP, not loss */
#define LOSSES_WANTED 200

const struct calibrate_effort calibrate_brief = {
	.probe_ns = NS_PER_S, .measure_ns = NS_PER_S, .settle_most_ns = 2 * NS_PER_S, .one = true};
const struct calibrate_effort calibrate_usual = {.probe_ns = 3 * NS_PER_S,
	.measure_ns = NS_PER_S,
	.settle_most_ns = 30 * NS_PER_S,
	.both = true};
const struct calibrate_effort calibrate_thorough = {.probe_ns = 10 * NS_PER_S,
	.measure_ns = 5 * NS_PER_S,
	.settle_most_ns = 120 * NS_PER_S,
	.both = true,
	.queue = true};

struct work {
	struct calibration *out;
	const struct calibrate_setup *setup;
	struct path there[SITES_MAX], back[SITES_MAX]; /* by way */
	double idle_there_s[SITES_MAX], idle_back_s[SITES_MAX];
	struct topology *topology;
	struct error *err;
};

static double real_s(int64_t ns)
{
	return (double)ns / NS_PER_S;
}

static struct check *add(struct work *w)
{
	struct calibration *c = w->out;

	c->checks = memory_resize(c->checks, c->n_checks + 1, sizeof *c->checks);
	return &c->checks[c->n_checks++];
}

/* Of a way's there-direction, or with the roles changed. */
static struct check_context context(const struct work *w, int way, bool back)
{
	return (struct check_context){
		.path = back ? &w->back[way] : &w->there[way],
		.back = back ? &w->there[way] : &w->back[way],
		.dilation = w->setup->plan->dilation,
	};
}

static int64_t round_trip_ns(const struct work *w, int way)
{
	return w->there[way].probe_ns + w->back[way].probe_ns + w->there[way].jitter_ns +
	       w->back[way].jitter_ns;
}

/* Idle: so few that they are no load, but enough of them to count losses. */
static struct probe_spec idle_spec(const struct work *w, int way)
{
	const struct path *there = &w->there[way], *back = &w->back[way];
	double rate = (double)(there->rate_bps < back->rate_bps ? there->rate_bps : back->rate_bps);
	double bits = (PROBE_IP_BYTES + LINK_OVERHEAD_WIRE) * 8;
	double per_s = fmin(PROBES_PER_S / w->setup->n_ways, PROBE_SHARE * rate / bits);
	double n = real_s(w->setup->effort->probe_ns) * per_s;

	return (struct probe_spec){
		.from = there->from,
		.to = there->to,
		.port = PROBE_PORT + way,
		.n = n < 10 ? 10 : (int)n,
		.gap_ns = (int64_t)(NS_PER_S / per_s),
		.patience_ns = round_trip_ns(w, way) + SLACK_NS,
		.stop_fd = w->setup->stop_fd,
	};
}

static void judge_way(struct work *w, int way, bool back, const struct probes *p)
{
	struct check_context x = context(w, way, back);
	struct probe_summary s;

	probes_summary(p->times, p->spec.n, back ? WAY_BACK : WAY_THERE, 0, INT64_MAX, &s);
	*(back ? &w->idle_back_s[way] : &w->idle_there_s[way]) = s.p50_s;
	check_delay(add(w), &x, &s);
	check_loss(add(w), &x, &s, p->dropped[back ? WAY_BACK : WAY_THERE]);
	if (x.path->loss > 0)
		check_burst(add(w), &x, &s);
	check_reorder(add(w), &x, &s);
}

static double sample_s(const struct work *w, const struct probe_times *t, enum probe_way way)
{
	int64_t ns = probe_delay_ns(t, way);

	return ns < 0 ? NAN : real_s(ns) / w->setup->plan->dilation;
}

static void keep_samples(struct work *w, const struct probes *p)
{
	struct calibration *c = w->out;

	c->samples = memory_zero((size_t)p->spec.n, sizeof *c->samples);
	c->n_samples = (size_t)p->spec.n;
	for (int i = 0; i < p->spec.n; i++) {
		const struct probe_times *t = &p->times[i];

		c->samples[i] = (struct calibrate_sample){
			.at_s = real_s(t->sent_ns - p->times[0].sent_ns) / w->setup->plan->dilation,
			.there_s = sample_s(w, t, WAY_THERE),
			.back_s = sample_s(w, t, WAY_BACK),
		};
	}
}

static void judge_probes(struct work *w, int way, const struct probes *p)
{
	struct check_context x = context(w, way, false);
	struct probe_summary s;

	probes_summary(p->times, p->spec.n, WAY_ROUND, 0, INT64_MAX, &s);
	check_rtt(add(w), &x, &s);
	judge_way(w, way, false, p);
	judge_way(w, way, true, p);
	if (way == 0)
		keep_samples(w, p);
}

static int measure_idle(struct work *w)
{
	const struct calibrate_setup *s = w->setup;
	_free_ struct probes *probes = memory_zero((size_t)s->n_ways, sizeof *probes);
	int r = 0;

	for (int i = 0; !r && i < s->n_ways; i++) {
		struct probe_spec spec = idle_spec(w, i);

		r = probes_start(&probes[i], w->topology, &spec, w->err);
	}
	for (int i = 0; !r && i < s->n_ways; i++) {
		r = probes_finish(&probes[i], w->err);
		if (!r)
			judge_probes(w, i, &probes[i]);
	}
	for (int i = 0; i < s->n_ways; i++)
		probes_free(&probes[i]);
	return r;
}

/*
 * When a flow's first packets were in the way of the probes beside it, since the first of those: it
 * begins some round trips after its client. TIME_NEVER: never.
 */
static int64_t flow_began_ns(const struct probes *p, double idle_s)
{
	for (int i = 0; i < p->spec.n; i++) {
		int64_t delay_ns = probe_delay_ns(&p->times[i], WAY_THERE);

		if (delay_ns > (int64_t)(idle_s * NS_PER_S) + IN_THE_WAY_NS)
			return p->times[i].sent_ns - p->times[0].sent_ns;
	}
	return TIME_NEVER;
}

/* While the flow counted, as near as can be told. */
static void sum_beside(struct flow_watch *watch, const struct probes *p,
	const struct check_context *x, const struct flow_spec *spec)
{
	int64_t began_ns = flow_began_ns(p, watch->idle_s), from_ns = INT64_MAX, until_ns = 0;

	if (began_ns != TIME_NEVER) {
		from_ns = began_ns + spec->settle_ns;
		until_ns = from_ns + spec->measure_ns;
	}
	probes_summary(p->times, p->spec.n, WAY_THERE, from_ns, until_ns, &watch->filled);
	watch->beside_bps = (double)(watch->filled.sent - watch->filled.lost) * 8 *
			    (PROBE_IP_BYTES + x->path->overhead_bytes) / real_s(spec->measure_ns);
}

/* A flow with probes beside it; *out and *watch are about the time that counts. */
static int run_flow(struct work *w, int way, const struct check_context *x,
	const struct flow_spec *spec, struct flow_result *out, struct flow_watch *watch)
{
	int64_t length_ns = spec->settle_ns + spec->measure_ns + spec->patience_ns + NS_PER_S;
	const struct probe_spec beside = {
		.from = spec->from,
		.to = spec->to,
		.port = PROBE_PORT,
		.n = (int)(length_ns / BESIDE_GAP_NS) + 1,
		.gap_ns = BESIDE_GAP_NS,
		.patience_ns = round_trip_ns(w, way) + (int64_t)(path_queue_s(x->path) * NS_PER_S),
	};
	const struct topology *t = w->topology;
	struct busy busy;
	struct probes probes;
	struct flow flow;
	int r = flow_start(&flow, t, spec, w->err);

	if (r < 0)
		return r;
	r = probes_start(&probes, t, &beside, w->err);
	if (r < 0) {
		flow_stop(&flow);
		return r;
	}
	busy_begin(&busy, t, spec->to);
	r = flow_finish(&flow, out, w->err);
	probes_stop(&probes);
	busy_end(&busy, t, spec->to, &watch->busy, &watch->receiver_drops);
	if (!r)
		sum_beside(watch, &probes, x, spec);
	probes_free(&probes);
	if (!r)
		memcpy(w->out->iperf, out->version, sizeof w->out->iperf);
	return r;
}

static struct flow_spec flow_spec(const struct work *w, int way, const struct check_context *x)
{
	return (struct flow_spec){
		.from = x->path->from,
		.to = x->path->to,
		.port = FLOW_PORT,
		.streams = 1,
		.measure_ns = w->setup->effort->measure_ns,
		.patience_ns =
			10 * (round_trip_ns(w, way) + (int64_t)(path_queue_s(x->path) * NS_PER_S)),
		.stop_fd = w->setup->stop_fd,
	};
}

/* How long until the queue stands, at the receiver, whose clock starts a little before. */
static int64_t fill_ns(const struct work *w, int way, const struct path *p)
{
	return 2 * round_trip_ns(w, way) + (int64_t)(path_queue_s(p) / (OVERLOAD - 1) * NS_PER_S) +
	       SLACK_NS;
}

static bool udp_can(const struct work *w, int way, const struct path *p)
{
	return OVERLOAD * (double)p->rate_bps <= UDP_MOST_BPS &&
	       fill_ns(w, way, p) <= w->setup->effort->settle_most_ns;
}

/* Without an end in time there is one figure less: others may be had. */
static int pass_over(struct work *w, const struct check_context *x, enum check_kind kind, int r)
{
	if (r != -ETIMEDOUT)
		return r;
	check_unknown(add(w), x, kind,
		"%s: this machine is too slow, or the link carries next to nothing; try --dilation "
		"%.0f",
		w->err->text, ceil(2 * x->dilation));
	*w->err = (struct error){0};
	return 0;
}

static int measure_udp(struct work *w, int way, bool back)
{
	struct check_context x = context(w, way, back);
	struct flow_watch watch = {.idle_s = back ? w->idle_back_s[way] : w->idle_there_s[way]};
	struct flow_spec spec = flow_spec(w, way, &x);
	struct flow_result result;
	struct check rate;
	int r;

	spec.udp = true;
	spec.settle_ns = fill_ns(w, way, x.path);
	spec.rate_bps = (int64_t)(OVERLOAD * (double)x.path->rate_bps * FLOW_DATAGRAM /
				  (LINK_MTU + x.path->overhead_bytes));
	r = run_flow(w, way, &x, &spec, &result, &watch);
	if (r < 0)
		return pass_over(w, &x, CHECK_RATE_UDP, r);
	check_rate_udp(&rate, &x, &spec, &result, &watch);
	*add(w) = rate;
	if (rate.result == CHECK_UNKNOWN)
		check_unknown(add(w), &x, CHECK_QUEUE, "the sender did not keep it full");
	else
		check_queue(add(w), &x, watch.filled.p50_s - watch.idle_s);
	return 0;
}

static int64_t slow_start_ns(const struct work *w, int way, const struct path *p)
{
	double rtt_s = real_s(round_trip_ns(w, way));
	double bytes = rtt_s * (double)p->rate_bps / 8 + (double)p->queue_bytes;
	double rounds = log2(fmax(1, bytes / FIRST_WINDOW)) + 4;

	return (int64_t)(rounds * rtt_s * NS_PER_S) + SLACK_NS;
}

static bool loss_limits(const struct work *w, int way, const struct path *p)
{
	double rtt_s = real_s(w->there[way].delay_ns + w->back[way].delay_ns);

	return path_mathis_bps(p, rtt_s) < MATHIS_SHARE_MOST * (double)p->rate_bps;
}

/* Long enough to count on what loss does, as far as the effort goes. */
static int64_t mathis_ns(const struct work *w, int way, const struct path *p)
{
	double rtt_s = real_s(w->there[way].delay_ns + w->back[way].delay_ns);
	double per_s = path_mathis_bps(p, rtt_s) / (1448 * 8) * p->loss_events;
	double wanted = LOSSES_WANTED / per_s;

	return (int64_t)(fmin(fmax(wanted, 1), real_s(5 * w->setup->effort->measure_ns)) *
			 NS_PER_S);
}

static int measure_tcp(struct work *w, int way, bool back)
{
	struct check_context x = context(w, way, back);
	struct flow_watch watch = {.idle_s = back ? w->idle_back_s[way] : w->idle_there_s[way]};
	struct flow_spec spec = flow_spec(w, way, &x);
	bool mathis = loss_limits(w, way, x.path);
	struct flow_result result;
	int r;

	memcpy(spec.congestion, "reno", sizeof "reno");
	spec.settle_ns = slow_start_ns(w, way, x.path);
	if (mathis)
		spec.measure_ns = mathis_ns(w, way, x.path);
	if (spec.settle_ns > w->setup->effort->settle_most_ns) {
		check_unknown(add(w), &x, CHECK_RATE_TCP,
			"TCP needs %.0f s to reach the rate: narrowlink calibrate takes the time",
			real_s(spec.settle_ns));
		return 0;
	}
	r = run_flow(w, way, &x, &spec, &result, &watch);
	if (r < 0)
		return pass_over(w, &x, mathis ? CHECK_MATHIS : CHECK_RATE_TCP, r);
	if (mathis)
		check_mathis(add(w), &x, &result, &watch, result.seconds);
	else if (x.path->loss > 0)
		check_unknown(add(w), &x, CHECK_RATE_TCP,
			"loss makes it less than the rate, by how much no formula says");
	else
		check_rate_tcp(add(w), &x, &result, &watch);
	return 0;
}

/* More window than way and queue hold: slow start ends when the queue is full. */
static int measure_queue_by_tcp(struct work *w, int way, bool back)
{
	struct check_context x = context(w, way, back);
	struct flow_watch watch = {.idle_s = back ? w->idle_back_s[way] : w->idle_there_s[way]};
	struct flow_spec spec = flow_spec(w, way, &x);
	struct flow_result result;
	int r;

	memcpy(spec.congestion, "reno", sizeof "reno");
	spec.streams = FILLING_STREAMS;
	spec.measure_ns = slow_start_ns(w, way, x.path);
	r = run_flow(w, way, &x, &spec, &result, &watch);
	if (r < 0)
		return pass_over(w, &x, CHECK_QUEUE, r);
	if (result.retransmits > 0)
		check_queue(add(w), &x, watch.filled.max_s - watch.idle_s);
	else
		check_unknown(add(w), &x, CHECK_QUEUE, "TCP did not overflow it");
	return 0;
}

static int measure_direction(struct work *w, int way, bool back)
{
	const struct calibrate_effort *effort = w->setup->effort;
	struct check_context x = context(w, way, back);
	bool udp = udp_can(w, way, x.path);
	int r = 0;

	if (udp)
		r = measure_udp(w, way, back);
	else if (effort->both)
		check_unknown(add(w), &x, CHECK_RATE_UDP,
			"one process cannot send datagrams at this rate; try --dilation %.0f",
			ceil(OVERLOAD * (double)x.path->rate_bps * x.dilation / UDP_MOST_BPS));
	if (!r && (!udp || effort->both))
		r = measure_tcp(w, way, back);
	if (!r && !udp && effort->queue)
		r = measure_queue_by_tcp(w, way, back);
	return r;
}

static int measure_way(struct work *w, int way)
{
	const struct path *there = &w->there[way], *back = &w->back[way];
	bool alike = there->rate_bps == back->rate_bps && there->queue_bytes == back->queue_bytes;
	int r = measure_direction(w, way, false);

	if (!r && !(alike && w->setup->effort->one))
		r = measure_direction(w, way, true);
	return r;
}

static int measure(struct work *w)
{
	int r = measure_idle(w);

	for (int i = 0; !r && i < w->setup->n_ways; i++)
		if (w->setup->ways[i].flows)
			r = measure_way(w, i);
	return r;
}

/*
 * The buffer with whose window one connection fills the way and its queue by half: a queue stands
 * all the time, and nothing is lost, which would make what is received uneven.
 */
static int64_t buffer_bytes(const struct work *w, int way, const struct path *p)
{
	double window = (double)p->rate_bps / 8 * real_s(round_trip_ns(w, way)) +
			(double)p->queue_bytes / 2;

	return (int64_t)fmin(fmax(window / WINDOW_KEPT, BUFFER_LEAST), INT32_MAX);
}

static int raise_sites(struct work *w)
{
	const struct calibrate_setup *s = w->setup;
	struct topology_tcp tcp = {.receive_buffer = BUFFER_LEAST, .slow_start_after_idle = true};

	for (int i = 0; i < s->n_ways; i++) {
		int64_t there = buffer_bytes(w, i, &w->there[i]);
		int64_t back = buffer_bytes(w, i, &w->back[i]);

		if (s->ways[i].flows && there > tcp.receive_buffer)
			tcp.receive_buffer = there;
		if (s->ways[i].flows && back > tcp.receive_buffer)
			tcp.receive_buffer = back;
	}
	tcp.send_buffer = tcp.receive_buffer;
	return topology_up(&w->topology, s->n_sites, s->names, &tcp, w->err);
}

int calibrate(struct calibration *out, const struct calibrate_setup *setup, struct error *err)
{
	_free_ struct work *w = memory_zero(1, sizeof *w);
	struct backend_run *run = NULL;
	int r;

	*out = (struct calibration){0};
	*w = (struct work){.out = out, .setup = setup, .err = err};
	for (int i = 0; i < setup->n_ways; i++) {
		path_make(&w->there[i], setup->plan, setup->ways[i].from, setup->ways[i].to);
		path_make(&w->back[i], setup->plan, setup->ways[i].to, setup->ways[i].from);
	}
	r = raise_sites(w);
	if (!r)
		r = setup->backend->up(&run, w->topology, setup->plan, err);
	if (!r)
		r = measure(w);
	setup->backend->down(run);
	topology_down(w->topology);
	return r;
}

void calibration_release(struct calibration *c)
{
	free(c->checks);
	free(c->samples);
	*c = (struct calibration){0};
}

size_t calibration_count(const struct calibration *c, enum check_result result)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_checks; i++)
		n += c->checks[i].result == result;
	return n;
}
