/* The ring all-reduce; see collective.h. */
#include "bench/collective.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"

static int stages(const struct rings *r)
{
	return 2 * (r->rt->job->n_learners - 1);
}

void rings_init(struct rings *r, struct rt *rt, int places)
{
	*r = (struct rings){
		.rt = rt,
		.places = places,
		.ring = memory_zero((size_t)places, sizeof *r->ring),
	};
	rings_clear(r);
}

void rings_release(struct rings *r)
{
	free(r->ring);
	*r = (struct rings){0};
}

void rings_clear(struct rings *r)
{
	for (int i = 0; i < r->places; i++)
		r->ring[i] = (struct ring){.sequence = -1};
}

static struct ring *place(const struct rings *r, int64_t sequence)
{
	return &r->ring[sequence % r->places];
}

static struct ring *ring_for(struct rings *r, int64_t sequence)
{
	struct ring *ring = place(r, sequence);

	assert(ring->sequence < 0 || ring->sequence == sequence);
	ring->sequence = sequence;
	return ring;
}

const struct ring *rings_find(const struct rings *r, int64_t sequence)
{
	const struct ring *ring = place(r, sequence);

	return ring->sequence == sequence ? ring : NULL;
}

bool ring_complete(const struct rings *r, const struct ring *ring)
{
	return ring->started && ring->arrived == stages(r);
}

void rings_retire(struct rings *r, int64_t sequence)
{
	*place(r, sequence) = (struct ring){.sequence = -1};
}

static void send_stage(struct rings *r, const struct ring *ring, int stage)
{
	int n = r->rt->job->n_learners, self = r->rt->self;
	struct rt_message message = ring->label;

	message.kind = MESSAGE_RING;
	message.stage = (uint32_t)stage;
	message.bytes = share_of(ring->bytes, (self - stage + 2 * n) % n, n);
	rt_send(r->rt, (self + 1) % n, &message);
}

static bool has(const struct ring *ring, int stage)
{
	return ring->stages[stage / 64] >> stage % 64 & 1;
}

bool rings_start(struct rings *r, int64_t sequence, const struct rt_message *label, int64_t bytes,
	int64_t at_ns)
{
	struct ring *ring = ring_for(r, sequence);

	ring->started = true;
	ring->bytes = bytes;
	ring->started_ns = at_ns;
	ring->label = *label;
	for (int stage = 0; stage < stages(r); stage++)
		if (stage == 0 || has(ring, stage - 1))
			send_stage(r, ring, stage);
	return ring_complete(r, ring);
}

bool rings_arrived(struct rings *r, int64_t sequence, const struct rt_message *message)
{
	struct ring *ring = ring_for(r, sequence);
	int stage = (int)message->stage;

	assert(stage < stages(r) && !has(ring, stage));
	ring->stages[stage / 64] |= UINT64_C(1) << stage % 64;
	ring->arrived++;
	if (ring->started && stage + 1 < stages(r))
		send_stage(r, ring, stage + 1);
	return ring_complete(r, ring);
}

int64_t ring_bytes_sent(int64_t bytes, int learner, int n)
{
	return 2 * bytes - share_of(bytes, (learner + 1) % n, n) -
	       share_of(bytes, (learner + 2) % n, n);
}

double ring_factor(int n)
{
	return 2. * (n - 1) / n;
}

double ring_job_factor(const struct job *job)
{
	return ring_factor(job->n_learners);
}

int64_t ring_bound_ns(int64_t bytes, int n, int64_t alpha_ns, double goodput_bps)
{
	double serialise_s = ring_factor(n) * 8 * (double)bytes / goodput_bps;

	return 2 * (n - 1) * alpha_ns + llround(serialise_s * NS_PER_S);
}
