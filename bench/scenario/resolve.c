/* What no single key says: rules between keys, and values that follow from others. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/scenario/limits.h"
#include "bench/scenario/mark.h"
#include "bench/scenario/sections.h"

#define BUFFER_MIN (256 << 10)
#define BUFFER_MAX (1 << 30) /* where TCP's window scaling ends */

/* The first of these keys that was written, to point to; else the root. */
static const struct node *place(struct loader *l, const char *first, const char *second)
{
	const struct node *n = node_find(l->root, first);

	if (!n && second)
		n = node_find(l->root, second);
	return n ? n : l->root;
}

static int64_t top_rate(const struct link_direction *d)
{
	int64_t rate = d->base.rate_bps;

	for (size_t i = 0; i < d->n_steps; i++)
		if ((d->steps[i].set & LINK_RATE) && d->steps[i].to.rate_bps > rate)
			rate = d->steps[i].to.rate_bps;
	return rate;
}

static int64_t top_delay(const struct link_direction *d)
{
	int64_t delay = d->base.delay_ns, jitter = d->base.jitter_ns;

	for (size_t i = 0; i < d->n_steps; i++) {
		if ((d->steps[i].set & LINK_DELAY) && d->steps[i].to.delay_ns > delay)
			delay = d->steps[i].to.delay_ns;
		if ((d->steps[i].set & LINK_JITTER) && d->steps[i].to.jitter_ns > jitter)
			jitter = d->steps[i].to.jitter_ns;
	}
	if (d->trace) {
		const struct link_trace_side *side = &d->trace->side[UP];

		for (size_t i = 0; i < side->n_delays; i++)
			if (side->delays[i].delay_ns > delay)
				delay = side->delays[i].delay_ns;
	}
	return delay + jitter;
}

static const struct link_direction *direction_of(
	const struct scenario *s, int site, enum direction which)
{
	return &s->links[s->sites[site].link].direction[which];
}

int64_t path_rate_bps(const struct scenario *s, int from, int to)
{
	int64_t up = top_rate(direction_of(s, from, UP));
	int64_t down = top_rate(direction_of(s, to, DOWN));

	return up < down ? up : down;
}

int64_t path_delay_ns(const struct scenario *s, int from, int to)
{
	return top_delay(direction_of(s, from, UP)) + s->core_delay_ns[from][to] +
	       top_delay(direction_of(s, to, DOWN));
}

/* Twice the largest bandwidth-delay product, for one connection alone. */
static int64_t auto_buffer(const struct scenario *s)
{
	double largest = 0;

	for (int i = 0; i < s->n_sites; i++)
		for (int j = 0; j < s->n_sites; j++) {
			double rtt_ns =
				(double)path_delay_ns(s, i, j) + (double)path_delay_ns(s, j, i);
			double bytes = (double)path_rate_bps(s, i, j) * rtt_ns / 8e9;

			if (i != j && bytes > largest)
				largest = bytes;
		}
	largest = ceil(2 * largest);
	return largest < BUFFER_MIN   ? BUFFER_MIN
	       : largest > BUFFER_MAX ? BUFFER_MAX
				      : (int64_t)largest;
}

static int check_exchange(struct loader *l)
{
	const struct job *job = &l->s->job;

	if (!(l->uses & USE_FRAGMENTS))
		return 0;
	if (job->fragments > job->period)
		return loader_error(l,
			place(l, "workload.outer.fragments", "workload.outer.period"),
			"%d fragments do not fit in a period of %lld steps: each is sent once a "
			"period, "
			"at most one a step; at most \"fragments: %lld\"",
			job->fragments, (long long)job->period, (long long)job->period);
	if ((l->uses & USE_SYNCER) && job->overlap > job->fragments)
		return loader_error(l,
			place(l, "workload.outer.overlap", "workload.outer.fragments"),
			"%d fragments in flight are more than there are; at most \"overlap: %d\"",
			job->overlap, job->fragments);
	if ((l->uses & USE_SYNCER) && job->overlap < 1)
		return loader_error(l, place(l, "workload.outer.overlap", NULL),
			"decoupled-diloco needs a fragment in flight; at least \"overlap: 1\"");
	if (job->overlap > job->period)
		return loader_error(l, place(l, "workload.outer.overlap", "workload.outer.period"),
			"a result is due before its fragment is sent again; at most \"overlap: "
			"%lld\"",
			(long long)job->period);
	return 0;
}

static int check_sizes(struct loader *l)
{
	const struct job *job = &l->s->job;
	int64_t bytes = (int64_t)(((__int128)job->parameters * job->bits + 7) / 8);
	char text[64];

	quantity_format(text, sizeof text, QUANTITY_BYTES, bytes, true);
	if ((l->uses & USE_FRAGMENTS) && job->fragments > bytes)
		return loader_error(l, place(l, "workload.outer.fragments", "workload.parameters"),
			"%d fragments of %s would be empty ones; at most \"fragments: %lld\"",
			job->fragments, text, (long long)bytes);
	bytes /= job->fragments;
	quantity_format(text, sizeof text, QUANTITY_BYTES, bytes, true);
	if ((l->uses & USE_BUCKETS) && job->buckets > bytes)
		return loader_error(l, place(l, "workload.buckets", "workload.parameters"),
			"%d buckets of %s would be empty ones; at most \"buckets: %lld\"",
			job->buckets, text, (long long)bytes);
	if ((l->uses & USE_SYNCER) && job->quorum > job->n_learners)
		return loader_error(l, place(l, "workload.outer.quorum", "sites.count"),
			"a quorum of %d can never be reached by %d sites; at most \"quorum: %d\"",
			job->quorum, job->n_learners, job->n_learners);
	return 0;
}

/* Compute time of all steps at the slowest site, in ns. */
static double compute_ns(const struct job *job)
{
	double slowest = job->speed[0];

	for (int i = 1; i < job->n_learners; i++)
		if (job->speed[i] < slowest)
			slowest = job->speed[i];
	return (double)(job->steps + job->warmup) * (double)job->step_ns / slowest;
}

static int check_length(struct loader *l)
{
	double total = compute_ns(&l->s->job);

	if (total * 3 + 60e9 > TIME_HIGH)
		return loader_error(l, place(l, "run.steps", "workload.step"),
			"the steps take %.0f years; a run is at most three years long: fewer or "
			"shorter "
			"steps",
			total / (365 * 86400e9));
	if (!l->s->limit_ns)
		l->s->limit_ns = (int64_t)ceil(total * 3) + 60 * NS_PER_S;
	return 0;
}

static void default_title(struct scenario *s)
{
	const char *slash = strrchr(s->path, '/'), *name = slash ? slash + 1 : s->path;
	const char *dot = strrchr(name, '.');

	if (s->title && *s->title)
		return;
	cleanup_free(&s->title);
	if (mark_bad_text(name, strlen(name), false) < strlen(name))
		s->title = memory_string("scenario");
	else
		s->title = memory_format("%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
}

int scenario_resolve(struct loader *l)
{
	int r = scenario_is_fleet(l->s) ? fleet_resolve(l) : check_exchange(l);

	if (scenario_is_fleet(l->s)) {
		default_title(l->s);
		return r;
	}
	if (!r)
		r = check_sizes(l);
	if (!r)
		r = check_length(l);
	if (r)
		return r;
	if (l->s->transport.buffers_auto)
		l->s->transport.buffer_bytes = auto_buffer(l->s);
	default_title(l->s);
	return 0;
}
