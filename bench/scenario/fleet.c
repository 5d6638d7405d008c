/*
 * fleet: many chips as learners that are interrupted and come back, for the renewal model. It
 * stands instead of sites, links and a workload. What only an elastic learner has a use for is
 * accepted for others too, so that a matrix can compare them, and is left out of the print.
 */
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "bench/scenario/limits.h"
#include "bench/scenario/sections.h"

/* What is simulated in half an hour; more is a slip of a unit. */
#define EVENTS_MAX 1e10

static const struct key elastic_key = {
	.name = "elastic", .kind = KEY_SWITCH, AT(struct scenario, fleet.elastic)};

static int parse_elastic(struct loader *l, const struct node *value, void *base)
{
	int r = keys_value(l, &elastic_key, value, base);

	if (!r && l->s->fleet.elastic)
		l->uses |= USE_ELASTIC;
	return r;
}

static void print_elastic(struct printer *p, const struct key *key, const void *base)
{
	const struct scenario *s = base;

	print_word(p, key->name, s->fleet.elastic ? "true" : "false");
}

static const struct key checkpoint_keys[] = {
	{.name = "every",
		.kind = KEY_TIME,
		AT(struct scenario, fleet.checkpoint_every_ns),
		.low = 0,
		.high = TIME_HIGH,
		.fallback = "0 s",
		.example = "10 min",
		.help = "computing time between two checkpoints, or merges; what came after the "
			"last is lost with a learner; 0 s: nothing ever is"},
	{.name = "cost",
		.kind = KEY_TIME,
		AT(struct scenario, fleet.checkpoint_cost_ns),
		.low = 0,
		.high = TIME_HIGH,
		.fallback = "0 s",
		.example = "5 s",
		.help = "time in which the learner does not compute"},
	{0},
};

const struct key fleet_keys[] = {
	{.name = "chips",
		.kind = KEY_COUNT,
		AT(struct scenario, fleet.chips),
		.low = 1,
		.high = 1e8,
		.required = true,
		.example = "1.2 M",
		.help = "n: of all learners together"},
	{.name = "mtbf",
		.kind = KEY_TIME,
		AT(struct scenario, fleet.mtbf_ns),
		.low = 1e9,
		.high = TIME_HIGH,
		.required = true,
		.example = "365 d",
		.help = "mean time between interruptions of one chip; exponential"},
	{.name = "learners",
		.kind = KEY_INTEGER,
		AT(struct scenario, fleet.learners),
		.low = 1,
		.high = FLEET_LEARNERS_MAX,
		.fallback = "1",
		.example = "8",
		.help = "M: independent of each other, n/M chips each; 1: data-parallel over all"},
	{.name = "quorum",
		.kind = KEY_INTEGER,
		AT(struct scenario, fleet.quorum),
		.low = 1,
		.high = FLEET_LEARNERS_MAX,
		.fallback = "1",
		.example = "4",
		.help = "K: while fewer learners are up, nobody computes; at most `learners`"},
	{.name = "elastic",
		.kind = KEY_CUSTOM,
		.parse = parse_elastic,
		.print = print_elastic,
		.fallback = "false",
		.example = "true",
		.help = "a learner goes on without the chips that are being repaired; false: it "
			"stops as a whole"},
	{.name = "repair",
		.kind = KEY_TIME,
		AT(struct scenario, fleet.repair_ns),
		.low = 0,
		.high = TIME_HIGH,
		.required = true,
		.example = "75 s",
		.help = "elastic: from an interruption until the chips are back; otherwise until "
			"the learner computes again, restart included"},
	{.name = "replica",
		.kind = KEY_COUNT,
		AT(struct scenario, fleet.replica),
		.low = 1,
		.high = 1e8,
		.use = USE_ELASTIC,
		.fallback = "1",
		.example = "256",
		.help = "elastic: chips that leave together when one is interrupted; at most "
			"`chips`/`learners`"},
	{.name = "scale_down",
		.kind = KEY_TIME,
		AT(struct scenario, fleet.scale_down_ns),
		.low = 0,
		.high = TIME_HIGH,
		.use = USE_ELASTIC,
		.fallback = "0 s",
		.example = "10 s",
		.help = "elastic: the learner's stop when chips leave it"},
	{.name = "scale_up",
		.kind = KEY_TIME,
		AT(struct scenario, fleet.scale_up_ns),
		.low = 0,
		.high = TIME_HIGH,
		.use = USE_ELASTIC,
		.fallback = "0 s",
		.example = "11 s",
		.help = "elastic: its stop when repaired chips join it"},
	{.name = "checkpoint",
		.kind = KEY_SECTION,
		.table = checkpoint_keys,
		.help = "what a learner goes back to"},
	{.name = "repeat",
		.kind = KEY_SWITCH,
		AT(struct scenario, fleet.repeat),
		.fallback = "false",
		.example = "true",
		.help = "an interruption of a stopped learner begins its stop anew; false: a "
			"stopped learner is not interrupted"},
	{.name = "duration",
		.kind = KEY_TIME,
		AT(struct scenario, fleet.duration_ns),
		.low = 1e9,
		.high = TIME_HIGH,
		.fallback = "30 d",
		.example = "7 d",
		.help = "simulated time of each run"},
	{.name = "seeds",
		.kind = KEY_INTEGER,
		AT(struct scenario, fleet.seeds),
		.low = 1,
		.high = 10000,
		.fallback = "100",
		.example = "30",
		.help = "runs, with the seeds `seed`, `seed` + 1, ..."},
	{0},
};

bool scenario_is_fleet(const struct scenario *s)
{
	return s->fleet.chips > 0;
}

unsigned fleet_uses(const struct scenario *s)
{
	return USE_FLEET | (s->fleet.elastic ? USE_ELASTIC : 0);
}

/* The key as it is written: where an error points. */
static const struct node *written(const struct node *map, const char *name)
{
	for (size_t i = 0; i < map->n; i++)
		if (!strcmp(map->keys[i]->text, name))
			return map->keys[i];
	return NULL;
}

int fleet_or_sites(struct loader *l)
{
	bool fleet = node_get(l->root, "fleet");

	l->uses = fleet ? USE_FLEET : USE_SITES;
	if (!fleet && !node_get(l->root, "sites") && !node_get(l->root, "workload") &&
		node_get(l->root, "narrowlink"))
		return loader_error(l, l->root,
			"nothing to run here; write \"sites\" and \"workload\", or \"fleet\"");
	for (const struct key *k = root_keys; fleet && k->name; k++) {
		const struct node *at = written(l->root, k->name);

		if (at && k->use == USE_SITES)
			return loader_error(l, at,
				"\"%s\" is of no use to a fleet, which has neither sites nor "
				"links; leave it out, or leave out \"fleet\"",
				k->name);
	}
	return 0;
}

static const struct node *place(struct loader *l, const char *first, const char *second)
{
	const struct node *n = node_find(l->root, first);

	if (!n)
		n = node_find(l->root, second);
	return n ? n : l->root;
}

static int check_shares(struct loader *l)
{
	const struct fleet *f = &l->s->fleet;
	long long each = (long long)(f->chips / f->learners);

	if (f->learners > f->chips)
		return loader_error(l, place(l, "fleet.learners", "fleet.chips"),
			"%d learners of %lld chips would be empty ones; at most \"learners: %lld\"",
			f->learners, (long long)f->chips, (long long)f->chips);
	if (f->quorum > f->learners)
		return loader_error(l, place(l, "fleet.quorum", "fleet.learners"),
			"a quorum of %d can never be reached by %d learners; at most \"quorum: "
			"%d\"",
			f->quorum, f->learners, f->learners);
	if (f->elastic && f->replica > each)
		return loader_error(l, place(l, "fleet.replica", "fleet.chips"),
			"a replica of %lld chips does not fit in a learner of %lld; at most "
			"\"replica: %lld\"",
			(long long)f->replica, each, each);
	return 0;
}

static int check_checkpoint(struct loader *l)
{
	const struct fleet *f = &l->s->fleet;

	if (f->checkpoint_cost_ns && !f->checkpoint_every_ns)
		return loader_error(l, place(l, "fleet.checkpoint.cost", "fleet"),
			"a checkpoint that costs time needs an interval; write e.g. "
			"\"checkpoint: {every: 10 min, cost: 5 s}\"");
	return 0;
}

/* Interruptions and checkpoints of all runs together, were no learner ever stopped. */
static int check_effort(struct loader *l)
{
	const struct fleet *f = &l->s->fleet;
	double runs = (double)f->duration_ns * f->seeds;
	double events = runs * (double)f->chips / (double)f->mtbf_ns;

	if (f->checkpoint_every_ns)
		events += runs * f->learners / (double)f->checkpoint_every_ns;
	if (events > EVENTS_MAX)
		return loader_error(l, place(l, "fleet.mtbf", "fleet"),
			"%.1e interruptions and checkpoints would take more than half an hour to "
			"simulate; at most "
			"%.0e: a longer \"mtbf\", a shorter \"duration\" or fewer \"seeds\"",
			events, EVENTS_MAX);
	return 0;
}

int fleet_resolve(struct loader *l)
{
	int r = check_shares(l);

	l->s->dilation = 1;
	if (!r)
		r = check_checkpoint(l);
	return r ? r : check_effort(l);
}
