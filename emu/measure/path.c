/* Two links and the core as one way; see path.h. */
#include "emu/measure/path.h"

#include <math.h>

#include "base/clock.h"
#include "emu/measure/probes.h"

#define SEGMENT 1448

static struct link_state state_of(const struct link_plan *plan, int site, enum direction d)
{
	struct link_state s;
	int64_t until_ns;

	link_at(&plan->links[site][d], d, -1, &s, &until_ns);
	return s;
}

/* Segments lost by either cause of one direction, and how many events those are. */
static double mean_loss(const struct link_state *s)
{
	return 1 - (1 - s->loss) * (1 - s->burst_loss);
}

static double events(const struct link_state *s)
{
	return s->loss + (s->burst_loss > 0 ? s->burst_loss / s->burst_length : 0);
}

/* Where one cause alone loses segments, how long its runs are and how they hang together. */
static void set_runs(struct path *p, const struct link_state *up, const struct link_state *down)
{
	int causes =
		(up->loss > 0) + (up->burst_loss > 0) + (down->loss > 0) + (down->burst_loss > 0);
	const struct link_state *bursty = up->burst_loss > 0 ? up : down;

	p->burst = causes <= 1 ? 1 / (1 - p->loss) : NAN;
	if (bursty->burst_loss <= 0)
		return;
	p->correlation = 1 - 1 / bursty->burst_length / (1 - bursty->burst_loss);
	if (causes == 1)
		p->burst = bursty->burst_length;
}

void path_make(struct path *p, const struct link_plan *plan, int from, int to)
{
	struct link_state up = state_of(plan, from, UP), down = state_of(plan, to, DOWN);
	bool first = up.rate_bps <= down.rate_bps;
	const struct link_state *narrow = first ? &up : &down;
	int overhead[] = {
		plan->links[from][UP].overhead_bytes, plan->links[to][DOWN].overhead_bytes};

	*p = (struct path){
		.from = from,
		.to = to,
		.delay_ns = up.delay_ns + plan->core_delay_ns[from][to] + down.delay_ns,
		.jitter_ns = up.jitter_ns + down.jitter_ns,
		.rate_bps = narrow->rate_bps,
		.queue_bytes = narrow->queue_bytes,
		.overhead_bytes = overhead[!first],
		.loss = 1 - (1 - mean_loss(&up)) * (1 - mean_loss(&down)),
		.loss_events = events(&up) + events(&down),
	};
	p->probe_ns = p->delay_ns + clock_serialise_ns(PROBE_IP_BYTES + overhead[0], up.rate_bps) +
		      clock_serialise_ns(PROBE_IP_BYTES + overhead[1], down.rate_bps);
	set_runs(p, &up, &down);
}

double path_queue_s(const struct path *p)
{
	return (double)p->queue_bytes * 8 / (double)p->rate_bps;
}

double path_mathis_bps(const struct path *p, double rtt_s)
{
	return p->loss_events > 0 ? SEGMENT * 8 / rtt_s * sqrt(1.5 / p->loss_events) : INFINITY;
}
