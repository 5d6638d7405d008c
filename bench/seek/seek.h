/*
 * A seek: the smallest or largest value of a scenario's key for which a condition holds, by the
 * search of search.h over an engine that computes a case, and the sentence that says so.
 */
#pragma once

#include "bench/scenario/numeric.h"
#include "bench/scenario/scenario.h"
#include "results/folder.h"
#include "results/record.h"
#include "results/sweep_record.h"

/* Computes a case's record; bench/case.h's case_model is one. folder NULL: nothing is written. */
typedef int (*case_engine)(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err);

/* A scenario file in memory, and the overrides that make one case of it. */
struct seek_source {
	const char *path, *text;
	size_t length;
	const char *const *set; /* "key=value" */
	size_t n_set;
};

struct seek_options {
	const char *find; /* a numeric key */
	struct expectation want;
	const char *min, *max; /* as written; NULL: the kind's default, within the key's range */
	double tolerance;      /* relative; > 0 */
	bool largest;
	case_engine engine;
};

/*
 * STATUS_INPUT: no such key, a bound that is none or that the scenario does not accept, a file of
 * several cases; otherwise what the engine said. *out is the caller's to free.
 */
int seek_run(struct seek_record **out, const struct seek_source *source,
	const struct seek_options *options, struct error *err);

/*
 * The case of the source with key=value on top, alone in its file; the caller frees the file.
 * n NULL: as it is.
 */
int seek_load(struct scenario_file **out, const struct seek_source *source, const struct numeric *n,
	double value, struct error *err);

/* Bounds of a seek that names none, in base units, within the key's range. */
void seek_default_bounds(const struct numeric *n, double *low, double *high);
