/* All-reduce in buckets, overlapped with the backward pass; see backward.h. */
#include "bench/strategy/backward.h"

void backward_init(struct backward *b, struct rt *rt)
{
	*b = (struct backward){.rt = rt, .round = -1, .open = true};
	/* A neighbour may have begun the next exchange while this one's last message comes. */
	rings_init(&b->rings, rt, 2 * rt->job->buckets);
}

void backward_release(struct backward *b)
{
	rings_release(&b->rings);
}

int64_t bucket_ready_ns(int64_t step_ns, int bucket, int buckets)
{
	int64_t forward_ns = step_ns / 3;
	__int128 backward_ns = step_ns - forward_ns;

	return forward_ns + (int64_t)(backward_ns * (bucket + 1) / buckets);
}

static int64_t ready_ns(const struct backward *b, int bucket)
{
	return b->started_ns + bucket_ready_ns(b->step_ns, bucket, b->rt->job->buckets);
}

static void start_bucket(struct backward *b, int64_t at_ns)
{
	const struct job *job = b->rt->job;
	const struct rt_message label = {
		.fragment = (uint16_t)b->ready,
		.round = (uint64_t)b->round,
		.epoch = b->epoch,
	};
	int64_t bytes = share_of(job_payload_bytes(job), b->ready, job->buckets);

	if (b->ready == 0)
		b->first_ns = at_ns;
	b->finished +=
		rings_start(&b->rings, b->round * job->buckets + b->ready, &label, bytes, at_ns);
	b->ready++;
}

void backward_begin(struct backward *b, int64_t round, int64_t at_ns, int64_t step_ns)
{
	b->round = round;
	b->started_ns = at_ns;
	b->step_ns = step_ns;
	b->ready = 0;
	b->finished = 0;
	rt_timer(b->rt, TIMER_BUCKET, ready_ns(b, 0) - at_ns);
}

void backward_ready(struct backward *b, int64_t at_ns)
{
	int buckets = b->rt->job->buckets;

	if (!b->open || b->round < 0)
		return;
	while (b->ready < buckets && ready_ns(b, b->ready) <= at_ns)
		start_bucket(b, at_ns);
	if (b->ready < buckets)
		rt_timer(b->rt, TIMER_BUCKET, ready_ns(b, b->ready) - at_ns);
}

void backward_open(struct backward *b, uint64_t epoch, int64_t at_ns)
{
	b->open = true;
	b->epoch = epoch;
	backward_ready(b, at_ns);
}

void backward_break(struct backward *b)
{
	rings_clear(&b->rings);
	b->open = false;
	b->ready = 0;
	b->finished = 0;
	rt_timer(b->rt, TIMER_BUCKET, -1);
}

void backward_end(struct backward *b)
{
	for (int k = 0; k < b->ready; k++)
		rings_retire(&b->rings, b->round * b->rt->job->buckets + k);
	b->round = -1;
	b->ready = 0;
	b->finished = 0;
	rt_timer(b->rt, TIMER_BUCKET, -1);
}

void backward_message(struct backward *b, const struct rt_message *message)
{
	int64_t sequence = (int64_t)message->round * b->rt->job->buckets + message->fragment;

	b->finished += rings_arrived(&b->rings, sequence, message);
}

bool backward_finished(const struct backward *b)
{
	return b->round >= 0 && b->finished == b->rt->job->buckets;
}

int64_t backward_bytes_sent(const struct job *job, int learner, int64_t round)
{
	int64_t total = job_payload_bytes(job), sent = 0;

	for (int k = 0; k < job->buckets; k++)
		sent += ring_bytes_sent(share_of(total, k, job->buckets), learner, job->n_learners);
	return sent;
}

int64_t backward_bound_ns(const struct job *job, int64_t alpha_ns, double goodput_bps)
{
	return ring_bound_ns(job_payload_bytes(job), job->n_learners, alpha_ns, goodput_bps);
}
