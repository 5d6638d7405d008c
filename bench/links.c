/*
 * Scenario to links. A blackout is a fault in the schedule but a property of the link in the
 * emulator: here it becomes a window in both directions of the site's access link, so that the
 * link goes dark by itself, on time, without anybody sending it a message.
 */
#include "bench/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

static int by_time(const void *a, const void *b)
{
	const struct link_window *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* The direction's own blackouts and those of the schedule, sorted; overlapping ones merged. */
static void add_blackouts(struct link_direction *d, const struct fault *faults, size_t n, int site)
{
	size_t count = d->n_blackouts, kept = 0;
	struct link_window *w = memory_zero(count + n, sizeof *w);

	if (count)
		memcpy(w, d->blackouts, count * sizeof *w);
	for (size_t i = 0; i < n; i++) {
		if (faults[i].kind == FAULT_BLACKOUT && faults[i].site == site)
			w[count++] = (struct link_window){
				faults[i].at_ns, faults[i].at_ns + faults[i].for_ns};
	}
	qsort(w, count, sizeof *w, by_time);
	for (size_t i = 0; i < count; i++) {
		if (kept && w[i].from_ns <= w[kept - 1].until_ns) {
			if (w[i].until_ns > w[kept - 1].until_ns)
				w[kept - 1].until_ns = w[i].until_ns;
		} else {
			w[kept++] = w[i];
		}
	}
	d->blackouts = w;
	d->n_blackouts = kept;
}

void links_make(struct link_plan *plan, const struct scenario *s, const struct fault *faults,
	size_t n_faults)
{
	memset(plan, 0, sizeof *plan);
	plan->seed = s->seed;
	plan->dilation = s->dilation;
	for (int i = 0; i < s->n_sites; i++) {
		for (int d = 0; d < DIRECTIONS; d++) {
			struct link_direction with = s->links[s->sites[i].link].direction[d];

			add_blackouts(&with, faults, n_faults, i);
			link_direction_dilate(&plan->links[i][d], &with, s->dilation);
			free(with.blackouts);
		}
		for (int j = 0; j < s->n_sites; j++)
			plan->core_delay_ns[i][j] =
				(int64_t)((double)s->core_delay_ns[i][j] * s->dilation);
	}
}

void links_release(struct link_plan *plan, int n_sites)
{
	for (int i = 0; i < n_sites; i++) {
		for (int d = 0; d < DIRECTIONS; d++)
			link_direction_release(&plan->links[i][d]);
	}
}

static int64_t delay_at_zero(const struct scenario *s, int site, enum direction which)
{
	struct link_state state;
	int64_t until_ns;

	link_at(&s->links[s->sites[site].link].direction[which], which, 0, &state, &until_ns);
	return state.delay_ns;
}

int64_t links_one_way_ns(const struct scenario *s, int from, int to)
{
	return delay_at_zero(s, from, UP) + s->core_delay_ns[from][to] + delay_at_zero(s, to, DOWN);
}

static int64_t serialisation_ns(const struct scenario *s, int site, int ip_bytes)
{
	int64_t sum = 0;

	for (int d = 0; d < DIRECTIONS; d++) {
		const struct link_direction *link = &s->links[s->sites[site].link].direction[d];

		sum += clock_serialise_ns(ip_bytes + link->overhead_bytes, link->base.rate_bps);
	}
	return sum;
}

int64_t links_round_trip_ns(const struct scenario *s, int from, int to, int payload_bytes)
{
	int ip_bytes = payload_bytes + 52;

	return links_one_way_ns(s, from, to) + links_one_way_ns(s, to, from) +
	       serialisation_ns(s, from, ip_bytes) + serialisation_ns(s, to, ip_bytes);
}
