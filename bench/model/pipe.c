/* Link directions of the model; see pipe.h. */
#include "bench/model/pipe.h"

#include <math.h>

#include "bench/model/tcp.h"

#define HEADERS 52 /* IPv4, TCP and its timestamps */

static double wire_per_payload(const struct pipe *p)
{
	if (p->ideal)
		return 1;
	return (double)(TCP_PAYLOAD + HEADERS + p->profile->overhead_bytes) / TCP_PAYLOAD;
}

void pipe_init(struct pipe *p, const struct link_direction *profile, enum direction which,
	uint64_t seed, uint32_t entity, bool ideal, struct link_stats *stats)
{
	*p = (struct pipe){.profile = profile, .which = which, .ideal = ideal, .stats = stats};
	loss_init(&p->losses, seed, entity);
}

int64_t pipe_load(struct pipe *p, int64_t at_ns)
{
	int64_t until_ns;

	link_at(p->profile, p->which, at_ns, &p->state, &until_ns);
	p->capacity = (double)p->state.rate_bps / (8. * NS_PER_S) / wire_per_payload(p);
	return until_ns;
}

double pipe_queue_limit(const struct pipe *p)
{
	return (double)p->state.queue_bytes / wire_per_payload(p);
}

int64_t pipe_queue_ns(const struct pipe *p)
{
	return (int64_t)(p->queued_bytes / p->capacity);
}

int64_t pipe_delay_ns(const struct pipe *p)
{
	return p->state.delay_ns + p->state.jitter_ns;
}

bool pipe_is_down_at(const struct pipe *p, int64_t at_ns)
{
	return pipe_up_at(p, at_ns) > at_ns;
}

int64_t pipe_up_at(const struct pipe *p, int64_t at_ns)
{
	struct link_state state;
	int64_t until_ns;

	for (; at_ns < TIME_NEVER; at_ns = until_ns) {
		link_at(p->profile, p->which, at_ns, &state, &until_ns);
		if (!state.down)
			break;
	}
	return at_ns;
}

void pipe_carry(struct pipe *p, double payload_bytes)
{
	p->wire_bytes += payload_bytes * wire_per_payload(p);
	p->segments += payload_bytes / TCP_PAYLOAD;
}

static void count_drops(struct pipe *p, enum drop_cause cause, uint64_t n)
{
	p->stats->drop_segments[cause] += n;
	p->stats->drop_bytes[cause] +=
		n * (uint64_t)(TCP_PAYLOAD + HEADERS + p->profile->overhead_bytes);
}

void pipe_overflow(struct pipe *p, double segments)
{
	count_drops(p, DROP_QUEUE, (uint64_t)segments);
}

int64_t pipe_lose(struct pipe *p, int64_t n)
{
	int64_t lost = 0;

	if (p->ideal || !loss_possible(&p->state)) {
		p->losses.segment += (uint64_t)n;
		return 0;
	}
	for (; n > 0; n--) {
		enum drop_cause cause = loss_next(&p->losses, &p->state);

		if (cause == DROP_CAUSES)
			continue;
		count_drops(p, cause, 1);
		lost++;
	}
	return lost;
}

void pipe_count(struct pipe *p)
{
	struct link_stats *s = p->stats;
	uint64_t drops = 0;

	for (int cause = 0; cause < DROP_CAUSES; cause++)
		drops += cause == DROP_QUEUE ? 0 : s->drop_bytes[cause];
	s->sent_bytes = (uint64_t)llround(p->wire_bytes + p->ahead_bytes * wire_per_payload(p));
	s->sent_segments = (uint64_t)llround(p->segments + p->ahead_bytes / TCP_PAYLOAD);
	s->delivered_bytes = s->sent_bytes > drops ? s->sent_bytes - drops : 0;
	s->bytes = s->sent_bytes + s->drop_bytes[DROP_QUEUE];
	s->segments = s->sent_segments + s->drop_segments[DROP_QUEUE];
	s->queue_high_bytes = (uint64_t)llround(p->high_bytes * wire_per_payload(p));
}
