/*
 * The renewal model's events; see renewal.h.
 *
 * A learner is in one phase and has one next event, which waits in the heap; between two of its
 * events nothing about it changes, so settling what passed is one multiplication per bucket. The
 * learners meet in one thing only: whether a quorum of them is up.
 *
 * When a chip is interrupted next is drawn as an exposure: so many chip-nanoseconds of service
 * from now. It is used up at the rate of the chips in service, so that a learner that shrinks,
 * grows or stops needs no new draw, and the n-th draw belongs to the n-th interruption.
 */
#include "bench/model/renewal.h"

#include <stdlib.h>

#include "base/heap.h"
#include "base/memory.h"
#include "base/random.h"

enum phase {
	PHASE_RUN, /* computes, or waits for the quorum */
	PHASE_CHECKPOINT,
	PHASE_SCALE, /* stopped to scale down or up */
	PHASE_DOWN,  /* stopped as a whole: restarting, or without any chip */
};

/* Replicas in repair, in the order in which they will be done: all take the same time. */
struct repairs {
	struct repair {
		int64_t done_ns, chips;
	} * items;
	size_t first, count, room;
};

struct learner {
	struct heap_node node;
	uint32_t index;
	enum phase phase;
	int64_t chips, in_service; /* in_service: neither in repair nor waiting to join */
	int64_t ready, joining;	   /* repaired: waiting to join; joining in this PHASE_SCALE */
	int64_t since_ns;	   /* settled up to here */
	int64_t until_ns;	   /* the phase ends by itself; INT64_MAX: it does not */
	int64_t progress_ns;	   /* computed since the last checkpoint */
	chip_ns provisional;	   /* the same in chip time */
	uint64_t exposure, draws;
	struct repairs repairs;
};

struct sim {
	const struct fleet *fleet;
	uint64_t seed;
	struct renewal *out;
	struct heap heap;
	struct learner *learners;
	int up;
	int64_t now_ns, up_since_ns;
};

const char *fleet_bucket_name(enum fleet_bucket bucket)
{
	static const char *const names[FLEET_BUCKETS] = {
		"useful", "lost", "waiting", "checkpoint", "reconfigure", "repair"};

	return names[bucket];
}

static bool is_up(const struct learner *l)
{
	return l->phase == PHASE_RUN || l->phase == PHASE_CHECKPOINT;
}

static bool has_quorum(const struct sim *s)
{
	return s->up >= s->fleet->quorum;
}

static bool is_exposed(const struct sim *s, const struct learner *l)
{
	return l->in_service && (is_up(l) || s->fleet->repeat);
}

static void draw(struct sim *s, struct learner *l)
{
	double chips_ns = random_exponential(s->seed, l->index, RANDOM_FAULT, l->draws++) *
			  (double)s->fleet->mtbf_ns;

	l->exposure = (uint64_t)chips_ns + 1;
}

/* Accounts for the time since the learner was last looked at, all of it in one phase. */
static void settle(struct sim *s, struct learner *l)
{
	int64_t passed = s->now_ns - l->since_ns;
	chip_ns service = (chip_ns)l->in_service * (chip_ns)passed;
	chip_ns *in = s->out->in;

	if (!passed)
		return;
	l->since_ns = s->now_ns;
	if (is_exposed(s, l)) /* rounding up to whole ns may take the last chips over it */
		l->exposure -= service < l->exposure ? (uint64_t)service : l->exposure;
	if (l->phase == PHASE_RUN && has_quorum(s)) {
		l->provisional += service;
		l->progress_ns += passed;
	} else if (l->phase == PHASE_RUN) {
		in[FLEET_WAITING] += service;
	} else if (l->phase == PHASE_CHECKPOINT) {
		in[FLEET_CHECKPOINT] += service;
	} else {
		in[l->phase == PHASE_SCALE ? FLEET_RECONFIGURE : FLEET_REPAIR] += service;
	}
	in[FLEET_REPAIR] += (chip_ns)(l->chips - l->in_service) * (chip_ns)passed;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t interruption_ns(const struct sim *s, const struct learner *l)
{
	uint64_t chips = (uint64_t)l->in_service, after;

	if (!is_exposed(s, l))
		return INT64_MAX;
	after = l->exposure / chips + (l->exposure % chips != 0);
	return after < (uint64_t)(INT64_MAX - l->since_ns) ? l->since_ns + (int64_t)after
							   : INT64_MAX;
}

static int64_t checkpoint_ns(const struct sim *s, const struct learner *l)
{
	if (!s->fleet->checkpoint_every_ns || l->phase != PHASE_RUN || !has_quorum(s))
		return INT64_MAX;
	return l->since_ns + s->fleet->checkpoint_every_ns - l->progress_ns;
}

static int64_t repaired_ns(const struct learner *l)
{
	return l->repairs.count ? l->repairs.items[l->repairs.first].done_ns : INT64_MAX;
}

/* Puts the learner's next event in the heap; it must be settled. */
static void schedule(struct sim *s, struct learner *l)
{
	int64_t at = sooner(l->until_ns, repaired_ns(l));

	at = sooner(at, sooner(checkpoint_ns(s, l), interruption_ns(s, l)));
	if (l->node.index)
		heap_remove(&s->heap, &l->node);
	if (at < s->fleet->duration_ns)
		heap_push(&s->heap, &l->node, at);
}

/* The quorum comes or goes: those that compute begin or end waiting. */
static void quorum_changes(struct sim *s, int up)
{
	struct learner *end = s->learners + s->fleet->learners;

	if ((up >= s->fleet->quorum) == has_quorum(s)) {
		s->up = up;
		return;
	}
	for (struct learner *l = s->learners; l < end; l++)
		settle(s, l);
	if (has_quorum(s))
		s->out->up_ns += s->now_ns - s->up_since_ns;
	s->up_since_ns = s->now_ns;
	s->up = up;
	for (struct learner *l = s->learners; l < end; l++) {
		if (l->phase == PHASE_RUN)
			schedule(s, l);
	}
}

static void enter(struct sim *s, struct learner *l, enum phase phase, int64_t until_ns)
{
	bool before = is_up(l);

	l->phase = phase;
	l->until_ns = until_ns;
	if (is_up(l) != before)
		quorum_changes(s, s->up + (before ? -1 : 1));
}

static void keep(struct sim *s, struct learner *l)
{
	s->out->in[FLEET_USEFUL] += l->provisional;
	l->provisional = 0;
	l->progress_ns = 0;
}

static void lose(struct sim *s, struct learner *l)
{
	if (!s->fleet->checkpoint_every_ns) {
		keep(s, l);
		return;
	}
	s->out->losses += l->provisional != 0;
	s->out->in[FLEET_LOST] += l->provisional;
	l->provisional = 0;
	l->progress_ns = 0;
}

static void repair(struct learner *l, int64_t chips, int64_t done_ns)
{
	struct repairs *q = &l->repairs;

	if (q->first + q->count == q->room && q->first >= q->room / 2 && q->first) {
		for (size_t i = 0; i < q->count; i++)
			q->items[i] = q->items[q->first + i];
		q->first = 0;
	} else if (q->first + q->count == q->room) {
		q->room = q->room ? 2 * q->room : 64;
		q->items = memory_resize(q->items, q->room, sizeof *q->items);
	}
	q->items[q->first + q->count++] = (struct repair){.done_ns = done_ns, .chips = chips};
}

/* Stops to take in what is repaired, or goes on where it was. */
static void go_on(struct sim *s, struct learner *l)
{
	if (l->ready) {
		l->joining = l->ready;
		l->ready = 0;
		enter(s, l, PHASE_SCALE, s->now_ns + s->fleet->scale_up_ns);
		return;
	}
	enter(s, l, PHASE_RUN, INT64_MAX);
}

static void interrupt_elastic(struct sim *s, struct learner *l)
{
	const struct fleet *f = s->fleet;
	int64_t leaving = sooner(f->replica, l->in_service);

	l->in_service -= leaving;
	l->ready += l->joining;
	l->joining = 0;
	repair(l, leaving, s->now_ns + f->repair_ns);
	if (l->in_service) {
		enter(s, l, PHASE_SCALE, s->now_ns + f->scale_down_ns);
		return;
	}
	lose(s, l); /* no replica is left that holds the state */
	enter(s, l, PHASE_DOWN, l->ready ? s->now_ns : INT64_MAX);
}

static void interrupt(struct sim *s, struct learner *l)
{
	s->out->interruptions++;
	draw(s, l);
	if (s->fleet->elastic) {
		interrupt_elastic(s, l);
		return;
	}
	lose(s, l);
	enter(s, l, PHASE_DOWN, s->now_ns + s->fleet->repair_ns);
}

static void take_repaired(struct sim *s, struct learner *l)
{
	l->ready += l->repairs.items[l->repairs.first].chips;
	l->repairs.first++;
	if (!--l->repairs.count)
		l->repairs.first = 0;
	if (l->phase == PHASE_RUN || (l->phase == PHASE_DOWN && !l->in_service))
		go_on(s, l);
}

static void end_phase(struct sim *s, struct learner *l)
{
	if (l->phase == PHASE_CHECKPOINT)
		keep(s, l);
	l->in_service += l->joining;
	l->joining = 0;
	go_on(s, l);
}

/* What happens to the learner now, one thing at a time; what ends by itself comes first. */
static void happen(struct sim *s, struct learner *l)
{
	s->out->events++;
	if (l->until_ns <= s->now_ns)
		end_phase(s, l);
	else if (repaired_ns(l) <= s->now_ns)
		take_repaired(s, l);
	else if (checkpoint_ns(s, l) <= s->now_ns)
		enter(s, l, PHASE_CHECKPOINT, s->now_ns + s->fleet->checkpoint_cost_ns);
	else
		interrupt(s, l);
}

static void begin(struct sim *s)
{
	const struct fleet *f = s->fleet;

	s->learners = memory_zero((size_t)f->learners, sizeof *s->learners);
	s->up = f->learners;
	for (int i = 0; i < f->learners; i++) {
		struct learner *l = &s->learners[i];

		l->index = (uint32_t)i;
		l->chips = f->chips / f->learners + (i < f->chips % f->learners);
		l->in_service = l->chips;
		l->until_ns = INT64_MAX;
		draw(s, l);
		schedule(s, l);
	}
}

/* What is still to be checkpointed when the run ends was not lost. */
static void end(struct sim *s)
{
	s->now_ns = s->fleet->duration_ns;
	for (int i = 0; i < s->fleet->learners; i++) {
		settle(s, &s->learners[i]);
		keep(s, &s->learners[i]);
		free(s->learners[i].repairs.items);
	}
	if (has_quorum(s))
		s->out->up_ns += s->now_ns - s->up_since_ns;
	heap_release(&s->heap);
	free(s->learners);
}

void renewal_run(struct renewal *out, const struct fleet *fleet, uint64_t seed)
{
	struct sim s = {.fleet = fleet, .seed = seed, .out = out};
	struct heap_node *node;

	*out = (struct renewal){0};
	begin(&s);
	while ((node = heap_pop(&s.heap))) {
		struct learner *l = container_of(node, struct learner, node);

		s.now_ns = node->at_ns;
		settle(&s, l);
		happen(&s, l);
		schedule(&s, l);
	}
	end(&s);
}

static double share(chip_ns part, const struct fleet *fleet)
{
	return (double)part / ((double)fleet->chips * (double)fleet->duration_ns);
}

double renewal_goodput(const struct renewal *r, const struct fleet *fleet)
{
	return share(r->in[FLEET_USEFUL], fleet);
}

double renewal_uptime(const struct renewal *r, const struct fleet *fleet)
{
	return (double)r->up_ns / (double)fleet->duration_ns;
}
