/* A link's state as qdiscs; see stage.h. */
#include "emu/netem/stage.h"

#include "base/clock.h"

#define DEVICE_OVERHEAD LINK_OVERHEAD_ETHERNET /* what a qdisc on veth counts by itself */
#define BUCKET_NS (10 * NS_PER_MS) /* a tick of the slowest kernels, and of a busy machine */
#define HOLD_NS (4 * NS_PER_MS)	   /* of a delay that moves: a call of the kernel each */
#define LIMIT INT32_MAX /* netem's, in packets: what may be in flight is limited by the rate */

static uint32_t fits(int64_t bytes)
{
	return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static void make_tbf(struct stage *s, const struct link_state *state, int overhead_bytes)
{
	int64_t frame = LINK_MTU + overhead_bytes, queue = state->queue_bytes;
	int64_t bucket = clock_bytes_in(BUCKET_NS, state->rate_bps);

	if (queue < 2 * frame)
		queue = 2 * frame;
	if (bucket > queue / 2)
		bucket = queue / 2;
	if (bucket < frame)
		bucket = frame;
	s->tbf = (struct tbf){
		.rate = state->rate_bps < 8 ? 1 : (uint64_t)state->rate_bps / 8,
		.burst = fits(bucket),
		.limit = fits(queue - bucket),
	};
	s->frame_overhead = overhead_bytes - DEVICE_OVERHEAD;
}

void stage_make(
	struct stage *s, const struct link_state *state, int overhead_bytes, int64_t core_ns)
{
	*s = (struct stage){
		.netem =
			{
				.latency_ns = state->delay_ns + core_ns,
				.jitter_ns = state->jitter_ns,
				.limit = LIMIT,
				.packet_overhead = overhead_bytes - DEVICE_OVERHEAD,
			},
	};
	make_tbf(s, state, overhead_bytes);
	s->netem.rate = s->tbf.rate;
	if (state->down)
		s->netem.loss = NETEM_ALWAYS;
	else if (state->burst_loss > 0)
		netem_gilbert(&s->netem, state->burst_loss, state->burst_length, state->loss);
	else
		s->netem.loss = netem_probability(state->loss);
}

void stage_hold(struct link_state *state, int64_t t_ns, int64_t *until_ns)
{
	if (state->delay_slope == 0)
		return;
	if (*until_ns > t_ns + HOLD_NS)
		*until_ns = t_ns + HOLD_NS;
	state->delay_ns = link_delay_after(state, (*until_ns - t_ns) / 2);
	state->delay_slope = 0;
}

enum drop_cause stage_cause(const struct link_state *state)
{
	return state->down ? DROP_OUTAGE : state->burst_loss > 0 ? DROP_BURST : DROP_RANDOM;
}
