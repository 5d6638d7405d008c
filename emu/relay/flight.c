/* Bandwidth times delay, at its largest; see flight.h. */
#include "emu/relay/flight.h"

#include <math.h>

#include "base/clock.h"
#include "emu/relay/packet.h"

#define LATE_NS 1e8   /* what a relay that is late has in hand beside */
#define FRAME_MIN 40. /* bytes of an IPv4 packet with a TCP header: where headers weigh most */

/* Of what a direction ever is. */
struct largest {
	double rate_bps, delay_ns, jitter_ns, queue_bytes, queue_ns;
};

static void see(struct largest *l, const struct link_state *s)
{
	l->rate_bps = fmax(l->rate_bps, (double)s->rate_bps);
	l->delay_ns = fmax(l->delay_ns, (double)s->delay_ns);
	l->jitter_ns = fmax(l->jitter_ns, (double)s->jitter_ns);
	l->queue_bytes = fmax(l->queue_bytes, (double)s->queue_bytes);
}

/* What a step does not set may hold anything. */
static void see_step(struct largest *l, const struct link_step *step)
{
	struct link_state s = {0};

	if (step->set & LINK_RATE)
		s.rate_bps = step->to.rate_bps;
	if (step->set & LINK_DELAY)
		s.delay_ns = step->to.delay_ns;
	if (step->set & LINK_JITTER)
		s.jitter_ns = step->to.jitter_ns;
	if (step->set & LINK_QUEUE && step->queue_ns > 0)
		l->queue_ns = fmax(l->queue_ns, (double)step->queue_ns);
	else if (step->set & LINK_QUEUE)
		s.queue_bytes = step->to.queue_bytes;
	see(l, &s);
}

static void see_trace(struct largest *l, const struct link_trace_side *side)
{
	for (size_t i = 0; i < side->n_delays; i++)
		l->delay_ns = fmax(l->delay_ns, (double)side->delays[i].delay_ns);
}

/* further_ns: of the way that packets have before the next link. */
static double direction_bytes(
	const struct link_direction *d, enum direction which, double further_ns)
{
	struct largest l = {.queue_ns = (double)d->queue_ns};
	double held;

	see(&l, &d->base);
	for (size_t i = 0; i < d->n_steps; i++)
		see_step(&l, &d->steps[i]);
	if (d->trace)
		see_trace(&l, &d->trace->side[which]);
	held = l.rate_bps / 8 / NS_PER_S *
		       (l.delay_ns + l.jitter_ns + further_ns + l.queue_ns + LATE_NS) +
	       l.queue_bytes + PACKET_FRAME_MAX;
	return held *
	       fmax(1, (FRAME_MIN + LINK_OVERHEAD_ETHERNET) / (FRAME_MIN + d->overhead_bytes));
}

uint64_t flight_bytes(const struct link_plan *plan, int n_sites)
{
	double sum = 0;

	for (int i = 0; i < n_sites; i++) {
		double core_ns = 0;

		for (int j = 0; j < n_sites; j++)
			core_ns = fmax(core_ns, (double)plan->core_delay_ns[i][j]);
		sum += direction_bytes(&plan->links[i][UP], UP, core_ns);
		sum += direction_bytes(&plan->links[i][DOWN], DOWN, 0);
	}
	return sum < 0x1p63 ? (uint64_t)sum : UINT64_MAX;
}
