/*
 * decoupled-diloco: learners that never wait for each other, and a syncer that merges their
 * fragments as they come. contributor.c is the learner, syncer.c the syncer.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/collective.h"
#include "bench/strategy/contributor.h"
#include "bench/strategy/fragments.h"
#include "bench/strategy/syncer.h"

struct decoupled {
	struct contributor *learner; /* one of the two */
	struct syncer_state *syncer;
};

static void *create(struct rt *rt)
{
	struct decoupled *d = memory_zero(1, sizeof *d);

	if (job_role(rt->job, rt->self) == ROLE_LEARNER)
		d->learner = contributor_new(rt);
	else
		d->syncer = syncer_new(rt);
	return d;
}

static void destroy(void *self)
{
	struct decoupled *d = self;

	if (!d)
		return;
	contributor_free(d->learner);
	syncer_free(d->syncer);
	free(d);
}

static void event(void *self, struct rt *rt, const struct rt_event *event)
{
	struct decoupled *d = self;

	if (d->learner)
		contributor_event(d->learner, event);
	else
		syncer_event(d->syncer, event);
}

/* What stays on a site is not sent over its link: each shard's share for its own learner. */
static int64_t bytes_sent(const struct job *job, int participant, int64_t round)
{
	int64_t bytes = exchange_bytes(job, round + 1);
	int m = job->n_learners;
	bool star = job->syncer == SYNCER_STAR;

	if (job_role(job, participant) == ROLE_LEARNER)
		return star ? bytes : bytes - syncer_share(job, bytes, participant);
	return star ? m * bytes : (m - 1) * syncer_share(job, bytes, participant - m);
}

/* A sharded syncer's answers leave by the same link as the learner's fragments. */
static double factor(const struct job *job)
{
	return job->syncer == SYNCER_STAR ? 1 : ring_factor(job->n_learners);
}

static int64_t bound_ns(const struct job *job, int64_t alpha_ns, double goodput_bps)
{
	double copies = job->syncer == SYNCER_STAR ? 2 : ring_factor(job->n_learners);
	double serialise_s = copies * 8 * (double)fragment_bytes_max(job) / goodput_bps;

	return 2 * alpha_ns + llround(serialise_s * NS_PER_S);
}

const struct strategy strategy_decoupled_diloco = {
	.name = "decoupled-diloco",
	.summary = "learners send fragments to a syncer that merges at a quorum; nobody waits",
	.create = create,
	.event = event,
	.destroy = destroy,
	.bytes_sent = bytes_sent,
	.factor = factor,
	.period = outer_period,
	.settles = outer_settles,
	.exchange_bound_ns = bound_ns,
};
