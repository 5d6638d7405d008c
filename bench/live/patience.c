/* See patience.h. */
#include "bench/live/patience.h"

#include <math.h>

#include "base/clock.h"

#define TRIES_MIN 2
#define TRIES_MAX 6
#define ROUND_TRIPS 6
#define HANDSHAKE_BYTES 400 /* each way and connection: SYN, ACK, hello and its ACK, frames all */
#define CHANCE 0.9

static struct link_state at_start(const struct scenario *s, int site, enum direction d)
{
	struct link_state state;
	int64_t until_ns;

	link_at(&s->links[s->sites[site].link].direction[d], d, 0, &state, &until_ns);
	return state;
}

static double passes(const struct scenario *s, int site, enum direction d)
{
	struct link_state state = at_start(s, site, d);

	return (1 - state.loss) * (1 - state.burst_loss);
}

double patience_loss(const struct scenario *s, int from, int to)
{
	return 1 - passes(s, from, UP) * passes(s, to, DOWN);
}

static int64_t one_way_ns(const struct scenario *s, int from, int to)
{
	return at_start(s, from, UP).delay_ns + s->core_delay_ns[from][to] +
	       at_start(s, to, DOWN).delay_ns;
}

/* SYNs until `connections` of them have come through and back, with CHANCE. */
static int tries(double lost, int connections)
{
	double allowed = 1 - pow(CHANCE, 1.0 / connections);
	int n = TRIES_MIN;

	while (n < TRIES_MAX && pow(lost, n) > allowed)
		n++;
	return n;
}

/* All handshakes of the site that has the most to do for its rate. */
static double handshakes_s(const struct scenario *s)
{
	int per_site = job_participants(&s->job) > s->n_sites ? 2 : 1;
	double connections =
		(double)(s->n_sites - 1) * per_site * per_site * (s->transport.connections + 1);
	double slowest = INFINITY;

	for (int i = 0; i < s->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			slowest = fmin(slowest, (double)at_start(s, i, d).rate_bps);
	return connections * HANDSHAKE_BYTES * 8 / slowest;
}

struct patience patience_for(const struct scenario *s)
{
	int64_t rtt_ns = 0, fixed_ns, least_ns, lossy_ns;
	double lost = 0, limit_ns = (double)s->limit_ns * s->dilation;
	struct patience p;

	for (int i = 0; i < s->n_sites; i++)
		for (int j = 0; j < i; j++) {
			int64_t ns = one_way_ns(s, i, j) + one_way_ns(s, j, i);
			double through =
				(1 - patience_loss(s, i, j)) * (1 - patience_loss(s, j, i));

			rtt_ns = ns > rtt_ns ? ns : rtt_ns;
			lost = fmax(lost, 1 - through);
		}
	fixed_ns = (int64_t)(((double)(ROUND_TRIPS * rtt_ns) + handshakes_s(s) * NS_PER_S) *
			     s->dilation);
	p.attempt_ns = fixed_ns + ((1 << tries(lost, s->transport.connections + 1)) - 1) * NS_PER_S;
	least_ns = 5 * (fixed_ns + ((1 << TRIES_MIN) - 1) * NS_PER_S);
	lossy_ns = 3 * p.attempt_ns;
	if ((double)lossy_ns > limit_ns)
		lossy_ns = (int64_t)limit_ns;
	p.connect_ns = lossy_ns > least_ns ? lossy_ns : least_ns;
	return p;
}
