/* faults: what breaks when. Scheduled with at and for, or seeded with mtbf and repair. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "base/clock.h"
#include "bench/scenario/limits.h"
#include "bench/scenario/nearest.h"
#include "bench/scenario/sections.h"

#define FAULTS_MAX 1000
#define EACH "learner"

enum { SCHEDULED = 1 << 0, SEEDED = 1 << 1 };

static int parse_target(struct loader *l, const struct node *value, void *base)
{
	struct fault_rule *rule = base;
	const struct scenario *s = l->s;
	struct nearest nearest = {0};
	const char *name;
	char *end;
	long number;
	int r = loader_text(l, value, &name, "a site's name, \"site 3\", or \"" EACH "\" for each");

	if (r)
		return r;
	if (!strcmp(name, EACH) || !strcmp(name, "all")) {
		rule->target = -1;
		return 0;
	}
	rule->target = sites_find(s, name);
	if (rule->target >= 0)
		return 0;
	number = strncmp(name, "site ", 5) ? 0 : strtol(name + 5, &end, 10);
	if (number >= 1 && number <= s->n_sites && !*end) {
		rule->target = (int)number - 1;
		return 0;
	}
	nearest.written = name;
	for (int i = 0; strncmp(name, "site ", 5) && i < s->n_sites; i++)
		nearest_offer(&nearest, s->sites[i].name);
	return loader_error(l, value,
		"there is no site \"%.64s\"; write %s%s%s\"site 1\" to \"site %d\", or \"" EACH
		"\" for each",
		name, nearest.best ? "\"" : "", nearest.best ? nearest.best : "",
		nearest.best ? "\", " : "", s->n_sites);
}

static void print_target(struct printer *p, const struct key *key, const void *base)
{
	const struct fault_rule *rule = base;

	print_word(p, key->name, rule->target < 0 ? EACH : p->s->sites[rule->target].name);
}

static const char *const kind_words[] = {"crash", "blackout", NULL};

static const struct key fault_keys[] = {
	{.name = "kind",
		.kind = KEY_WORD,
		AT(struct fault_rule, kind),
		.words = kind_words,
		.required = true,
		.example = "crash",
		.help = "crash: the site's learner is killed; blackout: its link carries nothing"},
	{.name = "target",
		.kind = KEY_CUSTOM,
		.parse = parse_target,
		.print = print_target,
		.required = true,
		.example = "site 3",
		.help = "a site's name, site N, or learner (or all): each site on its own"},
	{.name = "at",
		.kind = KEY_TIME,
		AT(struct fault_rule, at_ns),
		.use = SCHEDULED,
		.low = 0,
		.high = TIME_HIGH,
		.otherwise = "with `for`",
		.example = "40 s",
		.help = "scheduled: when it begins, from the start of the run"},
	{.name = "for",
		.kind = KEY_TIME,
		AT(struct fault_rule, for_ns),
		.use = SCHEDULED,
		.low = 1,
		.high = TIME_HIGH,
		.otherwise = "with `at`",
		.example = "5 s",
		.help = "scheduled: how long it lasts"},
	{.name = "mtbf",
		.kind = KEY_TIME,
		AT(struct fault_rule, mtbf_ns),
		.use = SEEDED,
		.low = 100 * NS_PER_MS,
		.high = TIME_HIGH,
		.otherwise = "with `repair`",
		.example = "10 min",
		.help = "seeded: mean of the exponential time from a repair to the next failure"},
	{.name = "repair",
		.kind = KEY_TIME,
		AT(struct fault_rule, repair_ns),
		.use = SEEDED,
		.low = 100 * NS_PER_MS,
		.high = TIME_HIGH,
		.otherwise = "with `mtbf`",
		.example = "45 s",
		.help = "seeded: how long each lasts"},
	{0},
};

/* Either at and for, or mtbf and repair. */
static int check_times(struct loader *l, const struct node *value)
{
	const struct node *at = node_get(value, "at"), *length = node_get(value, "for");
	const struct node *mtbf = node_get(value, "mtbf"), *repair = node_get(value, "repair");

	if ((at || length) && (mtbf || repair))
		return loader_error(l, mtbf ? mtbf : repair,
			"a fault is scheduled (at, for) or seeded (mtbf, repair), not both; write "
			"two "
			"faults");
	if (at && !length)
		return loader_error(
			l, value, "\"at\" needs \"for\": how long it lasts, e.g. \"for: 5 s\"");
	if (length && !at)
		return loader_error(
			l, value, "\"for\" needs \"at\": when it begins, e.g. \"at: 40 s\"");
	if (mtbf && !repair)
		return loader_error(l, value,
			"\"mtbf\" needs \"repair\": how long each lasts, e.g. \"repair: 45 s\"");
	if (!mtbf && !at)
		return loader_error(l, value,
			"when? write \"at: 40 s, for: 5 s\" or \"mtbf: 10 min, repair: 45 s\"");
	return 0;
}

static int parse_fault(struct loader *l, const struct node *value, struct fault_rule *rule)
{
	struct loader all = *l;
	int r;

	all.uses = ~0u;
	rule->at_ns = -1;
	r = keys_section(&all, fault_keys, value, "a fault", rule);
	if (!r)
		r = check_times(l, value);
	if (!r && rule->kind == FAULT_CRASH && rule->target >= l->s->job.n_learners)
		r = loader_error(l, node_get(value, "target"),
			"the syncer's site has no learner to crash; name another site, or \"kind: "
			"blackout\"");
	return r;
}

int faults_parse(struct loader *l, const struct node *value, void *scenario)
{
	struct scenario *s = scenario;
	int r = loader_list(l, value, "faults");

	if (!r && value->n > FAULTS_MAX)
		r = loader_error(l, value, "at most %d faults; use mtbf for many", FAULTS_MAX);
	if (r || !value->n)
		return r;
	s->faults = memory_zero(value->n, sizeof *s->faults);
	for (size_t i = 0; !r && i < value->n; i++, s->n_faults++)
		r = parse_fault(l, value->items[i], &s->faults[i]);
	return r;
}

void faults_print(struct printer *p, const struct key *key, const void *scenario)
{
	const struct scenario *s = scenario;
	struct printer sub;

	if (!s->n_faults)
		return;
	print_open(p, key->name);
	sub = *p;
	sub.indent += 2;
	for (size_t i = 0; i < s->n_faults; i++) {
		sub.item = true;
		sub.uses = s->faults[i].at_ns < 0 ? SEEDED : SCHEDULED;
		keys_print(&sub, fault_keys, &s->faults[i]);
	}
	print_close(p);
}

void faults_describe(FILE *out)
{
	keys_describe(out, "faults[].", fault_keys);
}
