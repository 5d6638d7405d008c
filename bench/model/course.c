/* Rounds without events; see course.h. */
#include "bench/model/course.h"

#include <math.h>

#include "base/clock.h"
#include "bench/model/share.h"

#define SEGMENTS_PER_ACK 10	   /* what arrives as one super-packet is acknowledged at once */
#define ACK_GAP_NS (2 * NS_PER_MS) /* HyStart: a longer gap ends a train */
#define ROUNDS_AT_ONCE 8	   /* of a window that changes little */
#define ROUNDS_MAX 64		   /* more of them make no difference */
#define CLUMPS_SLOW_START .25 /* of a window, in the queue on average: half of it at the peak */
#define CLUMPS .2	      /* after it. Calibrated: docs/model.md */
#define PROBE_ROUNDS 2	      /* RFC 8985: what is lost last is missed two round trips later */
#define OVERSHOOT 1.25	      /* of what fits: slow start's window when it hears of drops */

static bool slow(const struct course *c)
{
	return tcp_slow_start(&c->tcp);
}

static double full_window(const struct slice *s)
{
	return s->rate * (double)s->rtt_ns;
}

bool course_full(const struct course *c, const struct slice *s)
{
	return c->window >= full_window(s);
}

double course_queued(const struct course *c, const struct slice *s)
{
	double window = least(c->window, c->left + c->sent);
	double clumps = window * (slow(c) ? CLUMPS_SLOW_START : CLUMPS);

	return least(most(window - full_window(s), clumps), s->room);
}

void course_set_window(struct course *c, int connections)
{
	c->window = c->tcp.cwnd * connections * TCP_PAYLOAD;
}

/*
 * The most that stands in the queue in the next round: slow start sends two segments for each that
 * is acknowledged, so half of them wait.
 */
static double peak(const struct course *c, const struct slice *s, bool slow_start)
{
	double standing = c->window - full_window(s);

	return slow_start ? most(standing, least(c->train, c->window / 2)) : standing;
}

/*
 * Slow start sends on for a round trip until it hears of what was dropped. The connections are hit
 * alike; the link has the queue to send meanwhile.
 */
bool course_overflow(struct course *c, const struct slice *s, bool slow_start)
{
	double over = peak(c, s, slow_start) - s->room;

	if (!(over > 0))
		return false;
	c->dropped += over / TCP_PAYLOAD;
	if (slow_start)
		c->tcp.cwnd = least(
			c->tcp.cwnd, OVERSHOOT * (c->window - over) / s->connections / TCP_PAYLOAD);
	tcp_lose(&c->tcp, s->kind, c->at_ns, 0);
	course_set_window(c, s->connections);
	c->lost = least(over, c->window);
	return true;
}

static void grow(struct course *c, const struct slice *s, double rounds)
{
	double train = (double)(c->full_ns - c->round_ns);
	double acked = c->sent / TCP_PAYLOAD / s->connections;
	bool slow_start = slow(c);
	struct tcp_round r = {
		.now_ns = c->at_ns,
		.rtt_ns = (int64_t)most((double)s->rtt_ns, c->window / s->rate),
		.base_rtt_ns = s->base_ns,
		.queued_ns = s->rtt_ns - s->base_ns +
			     (int64_t)(most(0, c->window - full_window(s)) / s->rate),
		.train_ns = train * s->dilation * SEGMENTS_PER_ACK <= acked * ACK_GAP_NS
				    ? (int64_t)train
				    : -1,
		.acked = acked,
		.rounds = rounds,
		.limit = s->limit,
	};

	r = tcp_dilate(r, s->dilation);
	tcp_grow(&c->tcp, s->kind, &r);
	course_set_window(c, s->connections);
	course_overflow(c, s, slow_start);
}

/* What was dropped takes its place in the window again, and is not new. */
static void begin_round(struct course *c)
{
	c->round_ns = c->full_ns = c->at_ns;
	c->sent = c->lost;
	c->train = c->lost = 0;
	c->late_ns = 0;
}

void course_turn(struct course *c, const struct slice *s)
{
	double rounds = course_full(c, s) ? floor(c->sent / c->window + COURSE_BYTE) : 1;

	if (c->sent > 0)
		grow(c, s, rounds < 1 ? 1 : least(rounds, ROUNDS_MAX));
	begin_round(c);
}

/* How much it sends before its window is to be looked at again. */
static double budget(const struct course *c, const struct slice *s)
{
	if (!course_full(c, s) || slow(c))
		return c->window - c->sent;
	if (s->shared)
		return INFINITY;
	return c->window * (s->steps ? 1 : ROUNDS_AT_ONCE) - c->sent;
}

static enum course_end stop(struct course *c, const struct slice *s, int64_t at_ns)
{
	c->at_ns = at_ns;
	if (s->shared && !s->steps && !slow(c) && course_full(c, s) &&
		c->sent >= ROUNDS_AT_ONCE * c->window)
		course_turn(c, s);
	return COURSE_TIME;
}

/* Sends until the budget is used up: true; or the message or the time is. */
static bool send(struct course *c, const struct slice *s, double room, int64_t until_ns)
{
	double bytes = least(c->left, room);
	double ns = ceil(bytes / s->rate);
	bool all = ns <= (double)(until_ns - c->at_ns);

	if (!all)
		bytes = least(bytes, s->rate * (double)(until_ns - c->at_ns));
	c->at_ns = all ? c->at_ns + (int64_t)ns : until_ns;
	c->left -= bytes;
	c->sent += bytes;
	c->train += bytes;
	return all;
}

enum course_end course_run(struct course *c, const struct slice *s, int64_t until_ns)
{
	for (;;) {
		double room;

		if (c->waiting) {
			if (c->resume_ns > until_ns)
				return stop(c, s, until_ns);
			c->at_ns = c->resume_ns > c->at_ns ? c->resume_ns : c->at_ns;
			c->waiting = false;
			if (s->steps)
				return COURSE_ROUND;
			course_turn(c, s);
		}
		room = budget(c, s);
		if (!send(c, s, room > 0 ? room : 0, until_ns))
			return stop(c, s, until_ns);
		if (c->left <= COURSE_BYTE) {
			c->left = 0;
			return COURSE_MESSAGE;
		}
		c->full_ns = c->at_ns;
		c->waiting = true;
		c->resume_ns = c->round_ns + s->rtt_ns + c->late_ns;
	}
}

void course_burst(struct course *c, const struct slice *s, double waiting)
{
	double burst = c->waiting ? 0 : least(c->window - c->sent, waiting);

	if (!(burst > s->burst))
		return;
	c->dropped += (burst - s->burst) / TCP_PAYLOAD;
	tcp_lose(&c->tcp, s->kind, c->at_ns, 0);
	course_set_window(c, s->connections);
	c->sent = most(0, c->window - s->burst);
	if (burst >= waiting)
		c->late_ns = PROBE_ROUNDS * s->rtt_ns;
}
