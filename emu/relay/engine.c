/*
 * Lanes and what happens between them; see engine.h. A lane holds packets in the order of
 * time: one per serialiser, one per pair of sites for the propagation between them, one per
 * site for what is on its last way. The earliest packet of each lane that is not empty stands
 * in a heap: `due` for the last way, `inside` for all others.
 */
#include "emu/relay/engine.h"

#include "base/clock.h"
#include "base/heap.h"
#include "base/memory.h"
#include "emu/relay/direction.h"

/* Serialising a longer run than this makes several packets of it: see admit(). */
#define RUN_MAX_NS (300 * NS_PER_US)

/* What happens inside may be done late as long as nothing is delivered late, to save wake-ups. */
#define SLACK_MAX_NS (500 * NS_PER_US)

enum place { SERIALISING, PROPAGATING, ARRIVING };

struct lane {
	struct heap_node node;
	struct packet *head, *tail;
	enum place place;
	enum direction direction; /* SERIALISING */
	int site;		  /* SERIALISING: whose link; else where it goes */
	int64_t last_ns;	  /* nothing that comes later overtakes what came last */
};

struct site {
	struct direction_line lines[DIRECTIONS];
	struct lane serialising[DIRECTIONS], arriving;
};

struct engine {
	const struct link_plan *plan;
	int n_sites;
	struct pool *pool;
	struct link_stats (*stats)[DIRECTIONS];
	engine_deliver *deliver;
	void *context;
	struct heap inside, due;
	int64_t run_max_ns;
	int64_t slack_ns; /* no packet is due earlier than this after it is on the last link */
	struct site sites[SITES_MAX];
	struct lane propagating[SITES_MAX][SITES_MAX]; /* [from][to] */
};

/* The least delay that a direction will ever have. */
static int64_t least_delay(const struct link_direction *d)
{
	const struct link_trace_side *trace = d->trace ? &d->trace->side[DOWN] : NULL;
	int64_t least = d->base.delay_ns, jitter = d->base.jitter_ns;

	for (size_t i = 0; i < d->n_steps; i++) {
		if (d->steps[i].set & LINK_DELAY && d->steps[i].to.delay_ns < least)
			least = d->steps[i].to.delay_ns;
		if (d->steps[i].set & LINK_JITTER && d->steps[i].to.jitter_ns > jitter)
			jitter = d->steps[i].to.jitter_ns;
	}
	for (size_t i = 0; trace && i < trace->n_delays; i++)
		if (trace->delays[i].delay_ns < least)
			least = trace->delays[i].delay_ns;
	return least > jitter ? least - jitter : 0;
}

struct engine *engine_new(const struct link_plan *plan, int n_sites, struct pool *pool,
	struct link_stats (*stats)[DIRECTIONS], engine_deliver *deliver, void *context,
	int64_t now_ns)
{
	struct engine *e = memory_zero(1, sizeof *e);

	e->plan = plan;
	e->n_sites = n_sites;
	e->pool = pool;
	e->stats = stats;
	e->deliver = deliver;
	e->context = context;
	e->run_max_ns = (int64_t)(RUN_MAX_NS * plan->dilation);
	e->slack_ns = SLACK_MAX_NS;
	for (int i = 0; i < n_sites; i++) {
		struct site *s = &e->sites[i];
		int64_t least_ns = least_delay(&plan->links[i][DOWN]);

		if (least_ns < e->slack_ns)
			e->slack_ns = least_ns;
		for (enum direction d = UP; d < DIRECTIONS; d++) {
			direction_init(&s->lines[d], &plan->links[i][d], d, plan->seed,
				(uint32_t)i * DIRECTIONS + d, now_ns);
			s->serialising[d] =
				(struct lane){.place = SERIALISING, .direction = d, .site = i};
		}
		s->arriving = (struct lane){.place = ARRIVING, .site = i};
		for (int j = 0; j < n_sites; j++)
			e->propagating[j][i] = (struct lane){.place = PROPAGATING, .site = i};
	}
	return e;
}

static struct heap *heap_of(struct engine *e, const struct lane *lane)
{
	return lane->place == ARRIVING ? &e->due : &e->inside;
}

static int64_t wire_bytes(const struct engine *e, int site, enum direction d,
	const struct packet *p, int first, int count)
{
	return packet_wire_bytes(&p->shape, first, count, e->plan->links[site][d].overhead_bytes);
}

static void lane_push(struct engine *e, struct lane *lane, struct packet *p, int64_t at_ns)
{
	p->at_ns = at_ns > lane->last_ns ? at_ns : lane->last_ns;
	p->next = NULL;
	lane->last_ns = p->at_ns;
	if (lane->head)
		lane->tail->next = p;
	else
		lane->head = p;
	lane->tail = p;
	if (lane->head == p)
		heap_push(heap_of(e, lane), &lane->node, p->at_ns);
}

static struct packet *lane_pop(struct engine *e, struct lane *lane)
{
	struct packet *p = lane->head;

	heap_remove(heap_of(e, lane), &lane->node);
	lane->head = p->next;
	if (lane->head)
		heap_push(heap_of(e, lane), &lane->node, lane->head->at_ns);
	return p;
}

struct engine *engine_free(struct engine *e)
{
	struct heap *heaps[] = {e ? &e->inside : NULL, e ? &e->due : NULL};
	struct heap_node *node;

	for (int i = 0; e && i < 2; i++) {
		while ((node = heap_peek(heaps[i])))
			pool_release(e->pool, lane_pop(e, container_of(node, struct lane, node)));
		heap_release(heaps[i]);
	}
	cleanup_free(&e);
	return NULL;
}

void engine_start(struct engine *e, int64_t epoch_ns, int64_t now_ns)
{
	for (int i = 0; i < e->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			direction_start(&e->sites[i].lines[d], epoch_ns, now_ns);
}

static void count_drop(struct link_stats *s, enum drop_cause cause, int segments, int64_t bytes)
{
	s->drop_segments[cause] += (uint64_t)segments;
	s->drop_bytes[cause] += (uint64_t)bytes;
}

/* Drops the whole packet at a direction. */
static void drop(
	struct engine *e, int site, enum direction d, struct packet *p, enum drop_cause cause)
{
	count_drop(
		&e->stats[site][d], cause, p->count, wire_bytes(e, site, d, p, p->first, p->count));
	pool_release(e->pool, p);
}

/*
 * Runs of segments that go on together. The packet itself becomes the first run; each other is
 * a packet on the same bytes.
 */
struct runs {
	struct engine *e;
	struct packet *packet;
	bool used; /* the packet has become a run */
};

/* The run of segments [first, first + count); NULL when there is no record for it. */
static struct packet *runs_add(struct runs *r, int first, int count)
{
	struct packet *p = r->used ? pool_share(r->e->pool, r->packet) : r->packet;

	r->used = true;
	if (p) {
		p->first = (uint16_t)first;
		p->count = (uint16_t)count;
	}
	return p;
}

static void runs_end(struct runs *r)
{
	if (!r->used)
		pool_release(r->e->pool, r->packet);
}

/* The run that admit() is making. */
struct admitted {
	int first, count;
	int64_t bytes, begin_ns, end_ns; /* begin: the end of its first segment */
};

static void admit_run(struct runs *runs, int site, enum direction d, struct admitted *run)
{
	struct engine *e = runs->e;
	struct packet *p;

	if (run->count == 0)
		return;
	p = runs_add(runs, run->first, run->count);
	if (p) {
		p->span_ns = run->end_ns - run->begin_ns;
		lane_push(e, &e->sites[site].serialising[d], p, run->end_ns);
	} else {
		count_drop(&e->stats[site][d], DROP_QUEUE, run->count, run->bytes);
	}
	*run = (struct admitted){0};
}

/* The time between the first and the last of n segments at which segment i is there. */
static int64_t between(int64_t first_ns, int64_t last_ns, int i, int n)
{
	return n == 1 ? last_ns : first_ns + (last_ns - first_ns) * i / (n - 1);
}

/* Takes a packet whole, if that is all there is to it. */
static bool admit_whole(struct engine *e, int site, enum direction d, struct packet *p,
	int64_t first_ns, int64_t last_ns)
{
	const struct direction_run run = {
		.first_ns = first_ns,
		.last_ns = last_ns,
		.bytes = wire_bytes(e, site, d, p, p->first, p->count),
		.first_bytes = wire_bytes(e, site, d, p, p->first, 1),
		.last_bytes = wire_bytes(e, site, d, p, p->first + p->count - 1, 1),
		.most_ns = e->run_max_ns,
	};
	struct link_stats *stats = &e->stats[site][d];
	int64_t begin_ns, end_ns, queued;

	if (!direction_take_run(&e->sites[site].lines[d], &run, &begin_ns, &end_ns, &queued))
		return false;
	if ((uint64_t)queued > stats->queue_high_bytes)
		stats->queue_high_bytes = (uint64_t)queued;
	p->span_ns = end_ns - begin_ns;
	lane_push(e, &e->sites[site].serialising[d], p, end_ns);
	return true;
}

/*
 * Takes a packet segment by segment. Where its segments arrived over a time, the serialiser may
 * have begun with the first before the last was there: that is why arrivals may lie before now. A
 * run is no longer than RUN_MAX_NS of the scenario's time, so that on a link slower than the one
 * the super-packet was made for bursts look like that link's, and nothing waits for the rest.
 */
static void admit_segments(struct engine *e, int site, enum direction d, struct packet *p,
	int64_t first_ns, int64_t last_ns)
{
	struct direction_line *line = &e->sites[site].lines[d];
	struct link_stats *stats = &e->stats[site][d];
	struct runs runs = {.e = e, .packet = p};
	struct admitted run = {0};
	int first = p->first, count = p->count;

	for (int i = 0; i < count; i++) {
		int64_t bytes = wire_bytes(e, site, d, p, first + i, 1);
		int64_t at_ns = between(first_ns, last_ns, i, count), end_ns, queued;

		if (!direction_take(line, at_ns, bytes, &end_ns, &queued)) {
			count_drop(stats, DROP_QUEUE, 1, bytes);
			admit_run(&runs, site, d, &run);
			continue;
		}
		if ((uint64_t)queued > stats->queue_high_bytes)
			stats->queue_high_bytes = (uint64_t)queued;
		if (run.count > 0 &&
			clock_serialise_ns(run.bytes + bytes, direction_rate(line)) > e->run_max_ns)
			admit_run(&runs, site, d, &run);
		if (run.count++ == 0) {
			run.first = first + i;
			run.begin_ns = end_ns;
		}
		run.bytes += bytes;
		run.end_ns = end_ns;
	}
	admit_run(&runs, site, d, &run);
	runs_end(&runs);
}

/* A packet, whose first and last segments come at the given times, enters a direction's queue. */
static void admit(struct engine *e, int site, enum direction d, struct packet *p, int64_t first_ns,
	int64_t last_ns)
{
	if (!admit_whole(e, site, d, p, first_ns, last_ns))
		admit_segments(e, site, d, p, first_ns, last_ns);
}

static void enter(struct engine *e, int site, enum direction d, struct packet *p)
{
	struct link_stats *stats = &e->stats[site][d];

	stats->packets++;
	stats->segments += p->count;
	stats->bytes += (uint64_t)wire_bytes(e, site, d, p, p->first, p->count);
}

void engine_input(struct engine *e, int site, struct packet *p, int64_t now_ns)
{
	p->from = (uint8_t)site;
	p->first = 0;
	p->count = p->shape.n_segments;
	if (p->shape.site < 0 || p->shape.site >= e->n_sites || p->shape.site == site) {
		pool_release(e->pool, p);
		return;
	}
	p->to = (uint8_t)p->shape.site;
	enter(e, site, UP, p);
	if (pool_exhausted(e->pool))
		drop(e, site, UP, p, DROP_MEMORY);
	else
		admit(e, site, UP, p, now_ns, now_ns);
}

/* A run has left the serialiser and was not lost. */
static void propagate(
	struct engine *e, int site, enum direction d, struct packet *p, int64_t end_ns)
{
	struct site *s = &e->sites[site];
	int64_t at_ns = end_ns + direction_delay(&s->lines[d], end_ns);

	if (d == UP)
		lane_push(e, &e->propagating[site][p->to], p,
			at_ns + e->plan->core_delay_ns[site][p->to]);
	else
		lane_push(e, &s->arriving, p, at_ns);
}

/* Where segments were lost: the runs between them go on. */
static void leave_cut(struct engine *e, int site, enum direction d, struct packet *p)
{
	struct direction_line *line = &e->sites[site].lines[d];
	struct link_stats *stats = &e->stats[site][d];
	struct runs runs = {.e = e, .packet = p};
	int first = p->first, count = p->count, run = 0;
	int64_t last_ns = p->at_ns, first_ns = last_ns - p->span_ns;

	for (int i = 0; i <= count; i++) {
		enum drop_cause cause = DROP_QUEUE; /* past the end */
		struct packet *q;
		int64_t end_ns;

		if (i < count) {
			cause = direction_leave(line, between(first_ns, last_ns, i, count));
			if (cause == DROP_CAUSES) {
				run++;
				continue;
			}
			count_drop(stats, cause, 1, wire_bytes(e, site, d, p, first + i, 1));
		}
		if (run == 0)
			continue;
		end_ns = between(first_ns, last_ns, i - 1, count);
		q = runs_add(&runs, first + i - run, run);
		if (q) {
			q->span_ns = end_ns - between(first_ns, last_ns, i - run, count);
			propagate(e, site, d, q, end_ns);
		} else {
			for (int k = i - run; k < i; k++)
				count_drop(stats, DROP_MEMORY, 1,
					wire_bytes(e, site, d, p, first + k, 1));
		}
		run = 0;
	}
	runs_end(&runs);
}

static void leave(struct engine *e, struct lane *lane)
{
	struct packet *p = lane_pop(e, lane);
	struct direction_line *line = &e->sites[lane->site].lines[lane->direction];
	struct link_stats *stats = &e->stats[lane->site][lane->direction];

	stats->sent_segments += p->count;
	stats->sent_bytes +=
		(uint64_t)wire_bytes(e, lane->site, lane->direction, p, p->first, p->count);
	if (direction_lossless(line, p->at_ns - p->span_ns, p->at_ns, p->count))
		propagate(e, lane->site, lane->direction, p, p->at_ns);
	else
		leave_cut(e, lane->site, lane->direction, p);
}

static void count_delivered(struct engine *e, int site, enum direction d, const struct packet *p)
{
	e->stats[site][d].delivered_segments += p->count;
	e->stats[site][d].delivered_bytes +=
		(uint64_t)wire_bytes(e, site, d, p, p->first, p->count);
}

static void cross(struct engine *e, struct lane *lane)
{
	struct packet *p = lane_pop(e, lane);

	count_delivered(e, p->from, UP, p);
	enter(e, p->to, DOWN, p);
	admit(e, p->to, DOWN, p, p->at_ns - p->span_ns, p->at_ns);
}

void engine_delivered(struct engine *e, struct packet *p, int64_t at_ns)
{
	if (at_ns < 0) {
		drop(e, p->to, DOWN, p, DROP_QUEUE);
		return;
	}
	count_delivered(e, p->to, DOWN, p);
	histogram_add(&e->stats[p->to][DOWN].lateness, at_ns - p->at_ns);
	pool_release(e->pool, p);
}

static void arrive(struct engine *e, struct lane *lane)
{
	struct packet *p = lane_pop(e, lane);
	int64_t at_ns = e->deliver(e->context, p->to, p);

	if (at_ns != ENGINE_LATER)
		engine_delivered(e, p, at_ns);
}

static void run_inside(struct engine *e, int64_t now_ns)
{
	struct heap_node *node;

	while ((node = heap_peek(&e->inside)) && node->at_ns <= now_ns) {
		struct lane *lane = container_of(node, struct lane, node);

		if (lane->place == SERIALISING)
			leave(e, lane);
		else
			cross(e, lane);
	}
}

void engine_run(struct engine *e, int64_t now_ns, int budget)
{
	struct heap_node *node;

	run_inside(e, now_ns);
	while (budget-- > 0 && (node = heap_peek(&e->due)) && node->at_ns <= now_ns)
		arrive(e, container_of(node, struct lane, node));
}

/* Of the run in a serialiser, the segments that are through at at_ns. */
static int sent_of_run(const struct packet *p, int64_t at_ns)
{
	int64_t first_ns = p->at_ns - p->span_ns;

	if (at_ns < first_ns)
		return 0;
	return p->span_ns ? 1 + (int)((at_ns - first_ns) * (p->count - 1) / p->span_ns) : p->count;
}

static void tally_direction(
	const struct engine *e, int site, enum direction d, int64_t at_ns, struct tally_page *out)
{
	const struct packet *p = e->sites[site].serialising[d].head;
	const struct link_stats *stats = &e->stats[site][d];
	struct tally_count *count = &out->counts[site][d];
	int sent = p ? sent_of_run(p, at_ns) : 0;

	*count = (struct tally_count){stats->sent_bytes, stats->delivered_bytes};
	if (sent)
		count->sent_bytes += (uint64_t)wire_bytes(e, site, d, p, p->first, sent);
	if (p && p->at_ns - p->span_ns < out->until_ns)
		out->until_ns = p->at_ns - p->span_ns;
}

void engine_tally(const struct engine *e, int64_t at_ns, struct tally_page *out)
{
	const struct heap_node *inside = heap_peek(&e->inside), *due = heap_peek(&e->due);

	out->at_ns = at_ns;
	out->until_ns = inside ? inside->at_ns : TIME_NEVER;
	if (due && due->at_ns < out->until_ns)
		out->until_ns = due->at_ns;
	for (int i = 0; i < e->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			tally_direction(e, i, d, at_ns, out);
}

int64_t engine_next_ns(const struct engine *e)
{
	const struct heap_node *inside = heap_peek(&e->inside), *due = heap_peek(&e->due);
	int64_t inside_ns = inside ? inside->at_ns + e->slack_ns : TIME_NEVER;

	return due && due->at_ns < inside_ns ? due->at_ns : inside_ns;
}
