/*
 * What breaks when: a schedule made before the run from the scenario and its seed, so that a
 * run's failures do not depend on the run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum fault_kind { FAULT_CRASH, FAULT_BLACKOUT };
const char *fault_kind_name(enum fault_kind kind);

/* A line of the scenario's `faults`. Either at_ns/for_ns, or mtbf_ns/repair_ns with at_ns < 0. */
struct fault_rule {
	enum fault_kind kind;
	int target;	   /* site (0-based), or -1: each of them, with its own times */
	int64_t at_ns;	   /* scheduled: when; -1 when seeded */
	int64_t for_ns;	   /* scheduled: how long */
	int64_t mtbf_ns;   /* seeded: mean of the exponential time from one repair
			    * to the next failure */
	int64_t repair_ns; /* seeded: how long each lasts */
};

struct fault {
	enum fault_kind kind;
	int site; /* a crash hits the site's learner, a blackout both directions of its link */
	int64_t at_ns, for_ns;
};

/*
 * All scheduled faults, and the seeded ones that begin before horizon_ns, sorted by time. A rule
 * without a target is for the first n_sites sites, the learners' own; a target may be any site.
 * Those of one kind on one site do not overlap: one that would begin during another begins nothing;
 * where one begins as another ends, the end comes first. Rules with target -1 mean sites 0 ..
 * n_sites - 1. Returns their number; *out is the caller's to free (NULL when there are none).
 */
size_t fault_schedule(const struct fault_rule *rules, size_t n_rules, uint64_t seed, int n_sites,
	int64_t horizon_ns, struct fault **out);
