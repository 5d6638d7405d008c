/*
 * workload: the strategy and its job. Which keys matter depends on the strategy; those that do
 * not are accepted, so that a matrix can compare strategies, and are left out of the print.
 */
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "bench/scenario/limits.h"
#include "bench/scenario/nearest.h"
#include "bench/scenario/sections.h"

/* Defaults: the papers' settings, see docs/formulas.md. */
static const struct traits strategies[] = {
	{&strategy_data_parallel, USE_BITS | USE_BUCKETS, 16, 1, 1, 0, 128},
	{&strategy_diloco, USE_OUTER | USE_BUCKETS, 16, 500, 1, 0, 128},
	{&strategy_streaming_diloco, USE_OUTER | USE_FRAGMENTS | USE_BUCKETS, 16, 100, 16, 1, 1},
	{&strategy_decoupled_diloco, USE_OUTER | USE_FRAGMENTS | USE_SYNCER, 4, 24, 24, 2, 0},
};

const struct traits *traits_of(const struct strategy *strategy)
{
	for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
		if (strategies[i].strategy == strategy)
			return &strategies[i];
	return NULL;
}

static int parse_strategy(struct loader *l, const struct node *value)
{
	struct nearest nearest = {0};
	const char *name;
	int r = loader_text(l, value, &name, "the name of a strategy");

	if (r)
		return r;
	l->s->strategy = strategy_find(name);
	l->traits = traits_of(l->s->strategy);
	if (l->traits) {
		l->uses = USE_SITES | l->traits->uses;
		return 0;
	}
	nearest.written = name;
	for (size_t i = 0; strategy_at(i); i++)
		nearest_offer(&nearest, strategy_at(i)->name);
	return loader_error(l, value, "there is no strategy \"%.64s\"; %s%s%s", name,
		nearest.best ? "did you mean \"" : "write data-parallel, diloco, ",
		nearest.best ? nearest.best : "streaming-diloco or decoupled-diloco",
		nearest.best ? "\"?" : "");
}

static void print_strategy(struct printer *p, const struct key *key, const void *base)
{
	print_word(p, key->name, p->s->strategy->name);
}

static const struct key step_time = {
	.name = "step", .kind = KEY_TIME, .low = 1e3, .high = 86400e9, .example = "3.75 s"};

static int parse_step(struct loader *l, const struct node *value, void *base)
{
	struct job *job = &((struct scenario *)base)->job;
	struct error err = {0};
	const char *text;
	int r = loader_text(l, value, &text, "a time, e.g. \"3.75 s\" or \"3.75 s ± 5 %\"");

	if (r)
		return r;
	if (quantity_parse_spread(text, QUANTITY_TIME, &job->step_ns, &job->step_spread, &err))
		return loader_error(l, value, "%s", err.text);
	if ((double)job->step_ns < step_time.low || (double)job->step_ns > step_time.high)
		return loader_error(
			l, value, "\"%.64s\": a step is from \"1 us\" to \"1 d\"", text);
	return 0;
}

static void print_step(struct printer *p, const struct key *key, const void *base)
{
	const struct job *job = &((const struct scenario *)base)->job;
	char step[64], spread[64], both[160];

	quantity_format(step, sizeof step, QUANTITY_TIME, job->step_ns, true);
	quantity_format(spread, sizeof spread, QUANTITY_RATIO, job->step_spread, true);
	snprintf(both, sizeof both, "%s%s%s", step, job->step_spread ? " ± " : "",
		job->step_spread ? spread : "");
	print_word(p, key->name, both);
}

static const struct key every = {.name = "every",
	.kind = KEY_INTEGER,
	.size = sizeof(int64_t),
	.low = 0,
	.high = 1e6,
	.example = "100 steps"};

/* "100 steps", or the number alone. */
static int parse_every(struct loader *l, const struct node *value, void *base)
{
	const char *text, *unit;
	char number[32];
	struct node plain = *value;
	int r = loader_text(l, value, &text, "a number of steps, e.g. \"100 steps\"");

	if (r)
		return r;
	unit = strstr(text, " step");
	if (!unit || (strcmp(unit, " step") && strcmp(unit, " steps")) ||
		(size_t)(unit - text) >= sizeof number)
		return keys_value(
			l, &every, value, &((struct scenario *)base)->job.checkpoint_steps);
	snprintf(number, sizeof number, "%.*s", (int)(unit - text), text);
	plain.text = number;
	return keys_value(l, &every, &plain, &((struct scenario *)base)->job.checkpoint_steps);
}

static void print_every(struct printer *p, const struct key *key, const void *base)
{
	print_name(p, key->name);
	fprintf(p->out, " %lld steps\n",
		(long long)((const struct scenario *)base)->job.checkpoint_steps);
}

static const struct key state_bytes = {.name = "state", .kind = KEY_BYTES, .example = "144 GB"};

/* Bytes, or bits per parameter. */
static int parse_state(struct loader *l, const struct node *value, void *base)
{
	struct job *job = &((struct scenario *)base)->job;
	const char *text;
	int64_t bits;
	int r = loader_text(l, value, &text, "bytes, e.g. \"24 GB\", or bits per parameter");

	if (r)
		return r;
	if (!strstr(text, "bit"))
		return loader_quantity(l, value, QUANTITY_BYTES, &job->state_bytes);
	r = loader_quantity(l, value, QUANTITY_BITS, &bits);
	if (!r)
		job->state_bytes = (job->parameters * bits + 7) / 8;
	return r;
}

static void print_state(struct printer *p, const struct key *key, const void *base)
{
	print_quantity(
		p, key->name, QUANTITY_BYTES, ((const struct scenario *)base)->job.state_bytes);
}

static void print_syncer_link(struct printer *p, const struct key *key, const void *base)
{
	const struct scenario *s = base;

	if (s->job.syncer == SYNCER_STAR)
		print_word(p, key->name, s->links[s->sites[s->n_sites - 1].link].name);
}

static int parse_syncer(struct loader *l, const struct node *value, void *base)
{
	static const char *const words[] = {"sharded", "star", NULL};
	static const struct key syncer = {.name = "syncer", .kind = KEY_WORD, .words = words};
	int word, r = keys_value(l, &syncer, value, &word);

	if (!r)
		((struct scenario *)base)->job.syncer = word ? SYNCER_STAR : SYNCER_SHARDED;
	return r;
}

static void print_syncer(struct printer *p, const struct key *key, const void *base)
{
	print_word(p, key->name,
		((const struct scenario *)base)->job.syncer == SYNCER_STAR ? "star" : "sharded");
}

static const char *const late_words[] = {"stall", "skip", NULL};

static const struct key checkpoint_keys[] = {
	{.name = "every",
		.kind = KEY_CUSTOM,
		.number = &every,
		.parse = parse_every,
		.print = print_every,
		.fallback = "100 steps",
		.example = "50 steps",
		.help = "0 steps: never"},
	{.name = "cost",
		.kind = KEY_TIME,
		AT(struct scenario, job.checkpoint_ns),
		.low = 0,
		.high = 86400e9,
		.fallback = "30 s",
		.example = "10 s",
		.help = "time in which nothing is computed"},
	{0},
};

static const struct key outer_keys[] = {
	{.name = "period",
		.kind = KEY_INTEGER,
		AT(struct scenario, job.period),
		.low = 1,
		.high = 1e6,
		.use = USE_OUTER,
		.otherwise = "decoupled-diloco 24, streaming-diloco 100, diloco 500",
		.example = "24",
		.help = "H: steps between two exchanges of the same parameter"},
	{.name = "fragments",
		.kind = KEY_INTEGER,
		AT(struct scenario, job.fragments),
		.low = 1,
		.high = 4096,
		.use = USE_FRAGMENTS,
		.otherwise = "decoupled-diloco 24, streaming-diloco 16; at most `period`",
		.example = "24",
		.help = "P: parts that are exchanged in turn; at most `period`"},
	{.name = "overlap",
		.kind = KEY_INTEGER,
		AT(struct scenario, job.overlap),
		.low = 0,
		.high = 1e6,
		.use = USE_FRAGMENTS,
		.otherwise = "decoupled-diloco 2, streaming-diloco 1",
		.example = "2",
		.help = "tau: steps between the sending of a fragment and its merge "
			"(decoupled-diloco: "
			"fragments in flight)"},
	{.name = "bits",
		.kind = KEY_BITS,
		AT(struct scenario, job.bits),
		.low = 1,
		.high = 64,
		.use = USE_OUTER,
		.otherwise = "decoupled-diloco 4 bit, others 16 bit",
		.example = "4 bit",
		.help = "b: per exchanged parameter"},
	{.name = "syncer",
		.kind = KEY_CUSTOM,
		.use = USE_SYNCER,
		.parse = parse_syncer,
		.print = print_syncer,
		.fallback = "sharded",
		.example = "star",
		.help = "sharded: a share at each site; star: a site of its own"},
	{.name = "syncer_link",
		.kind = KEY_CUSTOM,
		.use = USE_SYNCER,
		.parse = keys_elsewhere,
		.print = print_syncer_link,
		.otherwise = "the sites' link",
		.example = "wan",
		.help = "the star syncer's link"},
	{.name = "quorum",
		.kind = KEY_INTEGER,
		AT(struct scenario, job.quorum),
		.low = 1,
		.high = LEARNERS_MAX,
		.use = USE_SYNCER,
		.fallback = "1",
		.example = "8",
		.help = "K: contributions that a merge waits for; at most the number of sites"},
	{.name = "grace",
		.kind = KEY_NUMBER,
		AT(struct scenario, job.grace),
		.low = 0,
		.high = 1,
		.below = true,
		.use = USE_SYNCER,
		.fallback = "0.5",
		.example = "0",
		.help = "gamma: share of the slack for which a merge waits for more than its "
			"quorum"},
	{.name = "late",
		.kind = KEY_WORD,
		AT(struct scenario, job.when_late),
		.words = late_words,
		.use = USE_SYNCER,
		.fallback = "stall",
		.example = "skip",
		.help = "with `overlap` fragments in flight and none answered: stall, or skip a "
			"send"},
	{0},
};

const struct key workload_keys[] = {
	{.name = "strategy",
		.kind = KEY_CUSTOM,
		.parse = keys_elsewhere,
		.print = print_strategy,
		.required = true,
		.example = "decoupled-diloco",
		.help = "data-parallel, diloco, streaming-diloco or decoupled-diloco"},
	{.name = "parameters",
		.kind = KEY_COUNT,
		AT(struct scenario, job.parameters),
		.low = 1,
		.high = 1e15,
		.required = true,
		.example = "12 B",
		.help = "N: of the model"},
	{.name = "step",
		.kind = KEY_CUSTOM,
		.number = &step_time,
		.parse = parse_step,
		.print = print_step,
		.required = true,
		.example = "3.75 s ± 5 %",
		.help = "T: one training step at speed 1, and the half-width of its even spread "
			"(\"+-\" "
			"does too)"},
	{.name = "tokens",
		.kind = KEY_COUNT,
		AT(struct scenario, job.tokens),
		.low = 1,
		.high = 1e15,
		.fallback = "1 M",
		.example = "4 M",
		.help = "per site and step; weighs the merges"},
	{.name = "bits",
		.kind = KEY_BITS,
		AT(struct scenario, job.bits),
		.low = 1,
		.high = 64,
		.use = USE_BITS,
		.otherwise = "16 bit",
		.example = "16 bit",
		.help = "b: per gradient, data-parallel only (the others: `outer.bits`)"},
	{.name = "buckets",
		.kind = KEY_INTEGER,
		AT(struct scenario, job.buckets),
		.low = 1,
		.high = 4096,
		.use = USE_BUCKETS,
		.otherwise = "data-parallel, diloco 128, streaming-diloco 1",
		.example = "32",
		.help = "parts of an exchange that become ready and are sent one after another "
			"during the backward pass (streaming-diloco: of a fragment; 1: when the "
			"step ends)"},
	{.name = "checkpoint",
		.kind = KEY_SECTION,
		.table = checkpoint_keys,
		.use = USE_BITS,
		.help = "data-parallel: what it goes back to after a failure"},
	{.name = "state",
		.kind = KEY_CUSTOM,
		.number = &state_bytes,
		.parse = parse_state,
		.print = print_state,
		.fallback = "16 bit",
		.example = "144 GB",
		.help = "what a site that comes back fetches from another: bytes, or bits per "
			"parameter"},
	{.name = "outer",
		.kind = KEY_SECTION,
		.table = outer_keys,
		.help = "the exchange of diloco, streaming-diloco and decoupled-diloco"},
	{0},
};

/* Defaults that depend on the strategy. */
static void default_outer(struct loader *l)
{
	const struct node *outer = node_find(l->root, "workload.outer");
	const struct traits *t = l->traits;
	struct job *job = &l->s->job;
	const struct node *bits =
		t->uses & USE_BITS ? node_find(l->root, "workload.bits") : node_get(outer, "bits");

	if (!bits)
		job->bits = t->bits;
	if (!(t->uses & USE_OUTER) || !node_get(outer, "period"))
		job->period = t->period;
	if (!(t->uses & USE_BUCKETS) || !node_find(l->root, "workload.buckets"))
		job->buckets = t->buckets;
	if (!(t->uses & USE_FRAGMENTS) || !node_get(outer, "fragments"))
		job->fragments = t->fragments < job->period ? t->fragments : (int)job->period;
	if (!(t->uses & USE_FRAGMENTS) || !node_get(outer, "overlap"))
		job->overlap = t->overlap < job->fragments ? t->overlap : job->fragments;
}

int workload_parse(struct loader *l, const struct node *value, void *scenario)
{
	struct scenario *s = scenario;
	struct job *job = &s->job;
	const struct node *strategy = node_get(value, "strategy");
	int r = 0;

	job->n_learners = s->n_sites;
	if (strategy)
		r = parse_strategy(l, strategy);
	if (!r)
		r = keys_section(l, workload_keys, value, "workload", s);
	if (r)
		return r;
	default_outer(l);
	job->seed = s->seed;
	for (int i = 0; i < job->n_learners; i++)
		job->speed[i] = s->sites[i].speed;
	if (!(l->uses & USE_SYNCER))
		job->quorum = job->n_learners;
	return job->syncer == SYNCER_STAR ? sites_add_syncer(l) : 0;
}

void workload_print(struct printer *p, const struct key *key, const void *scenario)
{
	print_open(p, key->name);
	keys_print(p, workload_keys, scenario);
	print_close(p);
}

void workload_describe(FILE *out)
{
	keys_describe(out, "workload.", workload_keys);
}
