/*
 * Windows; see tcp.h. Cubic's arithmetic is net/ipv4/tcp_cubic.c's: C = 0.4, beta = 717/1024, the
 * reno-friendly floor of 3 (1 - beta) / (1 + beta) segments a round. Only +, -, * and / and the
 * root below, so that results are the same on every machine.
 */
#include "bench/model/tcp.h"

#include <math.h>

#include "base/clock.h"

#define CUBIC_C 0.4
#define CUBIC_BETA (717. / 1024)
#define BBR_LEAST 4    /* segments, of a window */
#define HYSTART_LOW 16 /* segments: below, HyStart does not look */

void tcp_open(struct tcp_conn *c)
{
	*c = (struct tcp_conn){
		.cwnd = TCP_FIRST_WINDOW, .ssthresh = INFINITY, .epoch_ns = -1, .reduced_ns = -1};
}

bool tcp_slow_start(const struct tcp_conn *c)
{
	return c->cwnd < c->ssthresh;
}

/* The cube root of v > 0 by Newton's method; IEEE operations only. */
static double root3(double v)
{
	double x = v > 1 ? v : 1;

	for (int i = 0; i < 200; i++) {
		double next = (2 * x + v / (x * x)) / 3;

		if (!(next < x))
			break;
		x = next;
	}
	return x;
}

/*
 * Which share of a round's acknowledgements goes by before HyStart ends slow start; 1: it does
 * not. Acknowledgements that come close together for longer than half a round trip say that the
 * pipe is half full, but by then the window has grown with each of them; a round trip that is an
 * eighth longer from its first segments on (4 to 16 ms) says that a queue stands.
 */
static double hystart(const struct tcp_round *r)
{
	int64_t eighth = r->base_rtt_ns / 8, half = r->base_rtt_ns / 2;

	if (eighth < 4 * NS_PER_MS)
		eighth = 4 * NS_PER_MS;
	if (eighth > 16 * NS_PER_MS)
		eighth = 16 * NS_PER_MS;
	if (r->queued_ns > eighth)
		return 0;
	return r->train_ns > half ? (double)half / (double)r->train_ns : 1;
}

static void cubic_begin(struct tcp_conn *c, int64_t now_ns)
{
	c->epoch_ns = now_ns;
	c->reno = c->cwnd;
	if (c->last_max > c->cwnd) {
		c->origin = c->last_max;
		c->to_origin_s = root3((c->last_max - c->cwnd) / CUBIC_C);
	} else {
		c->origin = c->cwnd;
		c->to_origin_s = 0;
	}
}

static double cubic_target(const struct tcp_conn *c, int64_t at_ns)
{
	double t = (double)(at_ns - c->epoch_ns) / NS_PER_S - c->to_origin_s;

	return c->origin + CUBIC_C * t * t * t;
}

static void grow_cubic(struct tcp_conn *c, const struct tcp_round *r)
{
	double most = c->cwnd, target;

	if (c->epoch_ns < 0)
		cubic_begin(c, r->now_ns - r->rtt_ns);
	c->reno += 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) * r->acked / c->cwnd;
	for (int i = 0; i < (int)r->rounds; i++)
		most *= 1.5;
	target = cubic_target(c, r->now_ns + r->base_rtt_ns);
	target = target > c->reno ? target : c->reno;
	target = target > c->cwnd ? target : c->cwnd + r->rounds / 100;
	c->cwnd = target < most ? target : most;
}

static void grow_slow_start(struct tcp_conn *c, enum tcp_kind kind, const struct tcp_round *r)
{
	double share = 1;

	if (kind == TCP_CUBIC && !c->found && c->cwnd >= HYSTART_LOW)
		share = hystart(r);
	c->cwnd += share * r->acked;
	if (share < 1) {
		c->found = true;
		c->ssthresh = c->cwnd;
	}
	if (c->cwnd > c->ssthresh)
		c->cwnd = c->ssthresh;
}

/*
 * Start-up doubles until three rounds have not brought a quarter more; then the window is twice
 * what the bandwidth (the largest of ten rounds, here one that fades by a tenth in each) carries
 * in a round trip without queues (Cardwell et al., BBR, ACM Queue 14(5), 2016).
 */
static void grow_bbr(struct tcp_conn *c, const struct tcp_round *r)
{
	double now = r->acked / r->rounds / (double)r->rtt_ns;
	double kept = c->bandwidth;

	c->full_rounds = now > 1.25 * kept ? 0 : c->full_rounds + 1;
	for (int i = 0; i < (int)r->rounds; i++)
		kept *= 0.9;
	c->bandwidth = now > kept ? now : kept;
	c->found |= c->full_rounds >= 3;
	if (!c->found) {
		c->cwnd += r->acked;
		return;
	}
	c->cwnd = 2 * c->bandwidth * (double)r->base_rtt_ns;
	c->ssthresh = 0;
	if (c->cwnd < BBR_LEAST)
		c->cwnd = BBR_LEAST;
}

static int64_t longer(int64_t ns, double k)
{
	return (int64_t)((double)ns * k);
}

struct tcp_round tcp_dilate(struct tcp_round r, double k)
{
	r.now_ns = longer(r.now_ns, k);
	r.rtt_ns = longer(r.rtt_ns, k);
	r.base_rtt_ns = longer(r.base_rtt_ns, k);
	r.queued_ns = longer(r.queued_ns, k);
	if (r.train_ns >= 0)
		r.train_ns = longer(r.train_ns, k);
	return r;
}

void tcp_grow(struct tcp_conn *c, enum tcp_kind kind, const struct tcp_round *r)
{
	if (kind == TCP_BBR)
		grow_bbr(c, r);
	else if (tcp_slow_start(c))
		grow_slow_start(c, kind, r);
	else if (kind == TCP_CUBIC)
		grow_cubic(c, r);
	else if (kind == TCP_RENO)
		c->cwnd += r->acked / c->cwnd;
	if (c->cwnd > r->limit)
		c->cwnd = r->limit;
}

void tcp_lose(struct tcp_conn *c, enum tcp_kind kind, int64_t now_ns, int64_t rtt_ns)
{
	double beta = kind == TCP_CUBIC ? CUBIC_BETA : .5;

	if (kind == TCP_BBR || (c->reduced_ns >= 0 && now_ns - c->reduced_ns < rtt_ns))
		return;
	c->reduced_ns = now_ns;
	c->epoch_ns = -1;
	c->last_max = c->cwnd < c->last_max ? c->cwnd * (1 + CUBIC_BETA) / 2 : c->cwnd;
	c->ssthresh = c->cwnd * beta > 2 ? c->cwnd * beta : 2;
	c->cwnd = c->ssthresh;
}

void tcp_timeout(struct tcp_conn *c, enum tcp_kind kind)
{
	double beta = kind == TCP_CUBIC ? CUBIC_BETA : .5;

	if (kind != TCP_BBR)
		c->ssthresh = c->cwnd * beta > 2 ? c->cwnd * beta : 2;
	c->last_max = 0;
	c->epoch_ns = -1;
	c->found = false;
	c->cwnd = 1;
}

void tcp_restart(struct tcp_conn *c, int64_t idle_ns, int64_t rto_ns)
{
	double kept = 0.75 * c->cwnd;

	if (!(c->ssthresh > kept))
		c->ssthresh = kept;
	for (; idle_ns > rto_ns && c->cwnd > TCP_FIRST_WINDOW; idle_ns -= rto_ns)
		c->cwnd /= 2;
	if (c->cwnd < TCP_FIRST_WINDOW)
		c->cwnd = TCP_FIRST_WINDOW;
}

void tcp_pause(struct tcp_conn *c, int64_t idle_ns)
{
	if (c->epoch_ns >= 0)
		c->epoch_ns += idle_ns;
}
