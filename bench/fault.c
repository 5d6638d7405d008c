/*
 * The schedule of what breaks when; see fault.h. Times between failures are exponential draws
 * keyed by rule and site, so that a rule added to a scenario leaves the others' times alone.
 */
#include "bench/fault.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"

struct schedule {
	struct fault *faults;
	size_t n, room;
	int64_t horizon_ns;
};

const char *fault_kind_name(enum fault_kind kind)
{
	return kind == FAULT_CRASH ? "crash" : "blackout";
}

static void add(
	struct schedule *s, const struct fault_rule *rule, int site, int64_t at_ns, int64_t for_ns)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->faults = memory_resize(s->faults, s->room, sizeof *s->faults);
	}
	s->faults[s->n++] = (struct fault){rule->kind, site, at_ns, for_ns};
}

static void add_seeded(
	struct schedule *s, const struct fault_rule *rule, uint32_t entity, uint64_t seed, int site)
{
	int64_t at_ns = 0;

	for (uint64_t k = 0;; k++) {
		double draw = random_exponential(seed, entity, RANDOM_FAULT, k);
		double gap_ns = draw * (double)rule->mtbf_ns;

		if (gap_ns >= (double)(s->horizon_ns - at_ns))
			return;
		at_ns += (int64_t)gap_ns;
		add(s, rule, site, at_ns, rule->repair_ns);
		if (rule->repair_ns >= s->horizon_ns - at_ns)
			return;
		at_ns += rule->repair_ns > 0 ? rule->repair_ns : 1;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int by_time(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	return x->at_ns != y->at_ns ? (x->at_ns < y->at_ns ? -1 : 1) : by_place(a, b);
}

static bool begins_during(const struct fault *f, const struct fault *other)
{
	return f->kind == other->kind && f->site == other->site &&
	       f->at_ns - other->at_ns < other->for_ns;
}

size_t fault_schedule(const struct fault_rule *rules, size_t n_rules, uint64_t seed, int n_sites,
	int64_t horizon_ns, struct fault **out)
{
	struct schedule s = {.horizon_ns = horizon_ns};
	size_t kept = 0;

	for (size_t r = 0; r < n_rules; r++) {
		int target = rules[r].target;
		int first = target < 0 ? 0 : target, last = target < 0 ? n_sites - 1 : target;

		for (int site = first; site <= last; site++) {
			if (rules[r].at_ns >= 0)
				add(&s, &rules[r], site, rules[r].at_ns, rules[r].for_ns);
			else
				add_seeded(&s, &rules[r], (uint32_t)(r << 8 | (unsigned)site), seed,
					site);
		}
	}
	if (s.n)
		qsort(s.faults, s.n, sizeof *s.faults, by_place);
	for (size_t i = 0; i < s.n; i++)
		if (!kept || !begins_during(&s.faults[i], &s.faults[kept - 1]))
			s.faults[kept++] = s.faults[i];
	if (kept)
		qsort(s.faults, kept, sizeof *s.faults, by_time);
	*out = s.faults;
	return kept;
}
