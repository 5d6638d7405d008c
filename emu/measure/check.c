/* From measurements to checks; see check.h. */
#include "emu/measure/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/stats.h"

#define Z99 2.576
#define Z9999 3.891
#define DELAY_SHARE 0.01
#define DELAY_SLACK_S 0.5e-3
#define RATE_SHARE 0.01
#define QUEUE_SHARE 0.05
#define MATHIS_SHARE 0.30
#define OVERLOAD_LEAST 1.02 /* datagrams sent against the link's rate */
#define BUSY_MOST 0.95
#define SEGMENT 1448

static const struct {
	const char *name, *title;
} kinds[CHECK_KINDS] = {
	[CHECK_DELAY] = {"one_way_delay", "one-way delay"},
	[CHECK_RTT] = {"rtt", "round trip"},
	[CHECK_LOSS] = {"loss", "loss"},
	[CHECK_BURST] = {"loss_burst", "mean burst of losses"},
	[CHECK_REORDER] = {"reordering", "reordering"},
	[CHECK_RATE_UDP] = {"rate_udp", "rate, UDP"},
	[CHECK_RATE_TCP] = {"rate_tcp", "rate, TCP"},
	[CHECK_MATHIS] = {"mathis", "TCP under loss"},
	[CHECK_QUEUE] = {"queue", "delay of a full queue"},
};

const char *check_name(enum check_kind kind)
{
	return kinds[kind].name;
}

const char *check_title(enum check_kind kind)
{
	return kinds[kind].title;
}

const char *check_result_name(enum check_result result)
{
	return result == CHECK_HOLDS ? "holds" : result == CHECK_OFF ? "off" : "unmeasured";
}

static void begin(struct check *c, const struct check_context *x, enum check_kind kind, double want)
{
	*c = (struct check){.from = x->path->from,
		.to = x->path->to,
		.kind = kind,
		.want = want,
		.got = NAN,
		.low = NAN,
		.high = NAN,
		.min = NAN,
		.p99 = NAN,
		.n = NAN};
}

void check_unknown(struct check *c, const struct check_context *x, enum check_kind kind,
	const char *format, ...)
{
	va_list ap;

	begin(c, x, kind, NAN);
	c->result = CHECK_UNKNOWN;
	va_start(ap, format);
	vsnprintf(c->why, sizeof c->why, format, ap);
	va_end(ap);
}

static void unknown(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void unknown(struct check *c, const char *format, ...)
{
	va_list ap;

	c->result = CHECK_UNKNOWN;
	va_start(ap, format);
	vsnprintf(c->why, sizeof c->why, format, ap);
	va_end(ap);
}

static void within(struct check *c, double low, double high)
{
	c->low = low;
	c->high = high;
	c->result = c->got >= low && c->got <= high ? CHECK_HOLDS : CHECK_OFF;
}

static void delay(struct check *c, const struct check_context *x, const struct probe_summary *s,
	double want_s, double jitter_s)
{
	double k = x->dilation;
	double slack = fmax(DELAY_SHARE * want_s, DELAY_SLACK_S / k) + jitter_s / 2;

	c->n = (double)s->sent;
	c->got = s->p50_s / k;
	c->min = s->min_s / k;
	c->p99 = s->p99_s / k;
	if (isnan(c->got)) {
		unknown(c, "none of %.0f probes came back", c->n);
		return;
	}
	within(c, want_s - slack, want_s + slack);
	if (c->got > c->high && c->got <= c->high + s->late_p50_s / k)
		unknown(c,
			"%+.3g ms, but this machine's timers are late: the probes themselves were "
			"sent "
			"%.3g ms after their time",
			1e3 * (c->got - want_s), 1e3 * s->late_p50_s / k);
}

static double scenario_s(const struct check_context *x, int64_t ns)
{
	return (double)ns / NS_PER_S / x->dilation;
}

void check_delay(struct check *c, const struct check_context *x, const struct probe_summary *s)
{
	double want = scenario_s(x, x->path->probe_ns);

	begin(c, x, CHECK_DELAY, want);
	delay(c, x, s, want, scenario_s(x, x->path->jitter_ns));
}

void check_rtt(struct check *c, const struct check_context *x, const struct probe_summary *s)
{
	double want = scenario_s(x, x->path->probe_ns + x->back->probe_ns);

	begin(c, x, CHECK_RTT, want);
	delay(c, x, s, want, scenario_s(x, x->path->jitter_ns + x->back->jitter_ns));
}

void check_loss(struct check *c, const struct check_context *x, const struct probe_summary *s,
	uint64_t dropped)
{
	double share = (1 - x->path->correlation) / (1 + x->path->correlation), p = x->path->loss;
	double independent = (double)s->sent * share, low, high;
	uint64_t n = (uint64_t)llround(independent), k;

	begin(c, x, CHECK_LOSS, p);
	c->n = (double)s->sent;
	if (!s->sent) {
		unknown(c, "no probe was sent");
		return;
	}
	c->got = (double)s->lost / c->n;
	k = (uint64_t)llround(c->got * independent);
	stats_wilson(k, n, Z99, &c->low, &c->high);
	stats_wilson(k, n, Z9999, &low, &high);
	c->result = p >= low && p <= high ? CHECK_HOLDS : CHECK_OFF;
	if (c->result == CHECK_OFF && c->got > p && dropped > 0)
		unknown(c,
			"%.0f of %.0f probes were lost, but the measuring process dropped %.0f: "
			"this "
			"machine is too slow",
			(double)s->lost, c->n, (double)dropped);
}

void check_burst(struct check *c, const struct check_context *x, const struct probe_summary *s)
{
	double want = x->path->burst, n = (double)s->bursts, spread;

	begin(c, x, CHECK_BURST, want);
	c->n = n;
	if (isnan(want)) {
		unknown(c, "several causes of loss on this way");
		return;
	}
	if (n < 10) {
		unknown(c, "%.0f bursts are too few", n);
		return;
	}
	c->got = (double)s->lost / n;
	spread = Z9999 * sqrt(want * (want - 1) / n);
	within(c, want - spread, want + spread);
}

void check_reorder(struct check *c, const struct check_context *x, const struct probe_summary *s)
{
	begin(c, x, CHECK_REORDER, 0);
	c->n = (double)s->sent;
	c->got = s->sent ? (double)s->reordered / c->n : NAN;
	if (!s->sent)
		unknown(c, "no probe was sent");
	else
		within(c, 0, 0);
}

static double wire_bps(const struct check_context *x, double payload_bps, int payload)
{
	return payload_bps * (LINK_MTU + x->path->overhead_bytes) / payload;
}

static void slower(struct check *c, const struct check_context *x, const struct flow_watch *w)
{
	unknown(c, "no queue stood before the link while it was measured%s; try --dilation %.0f",
		w->busy > BUSY_MOST
			? ": a processor was busy all the time, it is this machine that is "
			  "too slow, not the link"
			: ": the sender, not the link, set the pace",
		ceil(2 * x->dilation));
}

/* The least that probes waited beside the flow says whether the link was ever idle. */
static bool queue_stood(const struct check_context *x, const struct flow_watch *w)
{
	double packet_s = (LINK_MTU + x->path->overhead_bytes) * 8. / (double)x->path->rate_bps;

	return w->filled.min_s - w->idle_s > 2 * packet_s + DELAY_SLACK_S;
}

/* A process that stood still for a while counted what came meanwhile at another time. */
static void stood_still(
	struct check *c, const struct check_context *x, double seconds, const struct flow_watch *w)
{
	double still_s = w->filled.late_max_s;

	if (c->result != CHECK_OFF ||
		!(fabs(c->got - c->want) <= (RATE_SHARE + still_s / seconds) * c->want))
		return;
	unknown(c,
		"processes of this machine stood still for up to %.0f of %.0f ms; try --dilation "
		"%.0f",
		1e3 * still_s, 1e3 * seconds, ceil(2 * x->dilation));
}

void check_rate_udp(struct check *c, const struct check_context *x, const struct flow_spec *spec,
	const struct flow_result *r, const struct flow_watch *w)
{
	double want = (double)x->path->rate_bps;
	double received = wire_bps(x, r->received_bps, FLOW_DATAGRAM) + w->beside_bps;
	double slack = RATE_SHARE * want * x->dilation;

	begin(c, x, CHECK_RATE_UDP, want * x->dilation);
	c->got = received / (1 - x->path->loss) * x->dilation;
	within(c, c->want - slack, c->want + slack);
	if (c->result == CHECK_HOLDS)
		return;
	if (w->receiver_drops > 0)
		unknown(c,
			"the receiving process dropped %.0f datagrams: this machine is too slow; "
			"try --dilation %.0f",
			w->receiver_drops, ceil(2 * x->dilation));
	else if (wire_bps(x, r->sent_bps, FLOW_DATAGRAM) < OVERLOAD_LEAST * want)
		unknown(c,
			"the sender reached %.3g of %.3g Mbit/s: this machine is too slow; "
			"try --dilation %.0f",
			r->sent_bps / 1e6, (double)spec->rate_bps / 1e6, ceil(2 * x->dilation));
	else if (c->got < c->low && !queue_stood(x, w)) /* it paused, and caught up later */
		slower(c, x, w);
	else
		stood_still(c, x, r->seconds, w);
}

void check_rate_tcp(struct check *c, const struct check_context *x, const struct flow_result *r,
	const struct flow_watch *w)
{
	double want = (double)x->path->rate_bps * x->dilation, slack = RATE_SHARE * want;

	begin(c, x, CHECK_RATE_TCP, want);
	c->got = (wire_bps(x, r->received_bps, SEGMENT) + w->beside_bps) * x->dilation;
	within(c, want - slack, want + slack);
	if (c->result == CHECK_OFF && r->retransmits > 0)
		unknown(c,
			"TCP lost %.0f segments, as it does when this machine stands still (here "
			"for up to %.3g ms) and what it then sends at once is more than the queue "
			"of %.3g ms holds; try --dilation %.0f",
			r->retransmits, 1e3 * w->filled.late_max_s, 1e3 * path_queue_s(x->path),
			ceil(2 * x->dilation));
	else if (c->got < c->low && !queue_stood(x, w))
		slower(c, x, w);
	else
		stood_still(c, x, r->seconds, w);
}

void check_mathis(struct check *c, const struct check_context *x, const struct flow_result *r,
	const struct flow_watch *w, double measured_s)
{
	double rtt_s = (double)(x->path->delay_ns + x->back->delay_ns) / NS_PER_S;
	double want = path_mathis_bps(x->path, rtt_s);
	double losses = want / (SEGMENT * 8) * x->path->loss_events * measured_s;
	double slack = MATHIS_SHARE + Z9999 / 2 / sqrt(fmax(losses, 1));

	begin(c, x, CHECK_MATHIS, want * x->dilation);
	c->got = r->received_bps * x->dilation;
	if (losses < 10) {
		unknown(c, "%.1f losses in the time are too few", losses);
		return;
	}
	within(c, c->want * fmax(0, 1 - slack), c->want * (1 + slack));
	if (c->got < c->low && w->busy > BUSY_MOST)
		slower(c, x, w);
}

void check_queue(struct check *c, const struct check_context *x, double added_s)
{
	double want = path_queue_s(x->path), k = x->dilation;
	double packet_s = (LINK_MTU + x->path->overhead_bytes) * 8. / (double)x->path->rate_bps;
	double slack = fmax(QUEUE_SHARE * want, 2 * packet_s + DELAY_SLACK_S);

	begin(c, x, CHECK_QUEUE, want / k);
	c->got = added_s / k;
	if (isnan(added_s))
		unknown(c, "no probe passed the full queue");
	else
		within(c, (want - slack) / k, (want + slack) / k);
}
