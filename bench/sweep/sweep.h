/*
 * A sweep: the cases of a scenario's matrix, computed in parallel processes and, under a
 * cluster's launcher, on several machines that share the folder; and their merge.
 */
#pragma once

#include "bench/seek/seek.h"
#include "bench/sweep/share.h"
#include "results/sweep_record.h"

struct sweep_options {
	const char *out;		 /* NULL: results/sweeps/<scenario>[-<key sought>] */
	int jobs;			 /* processes at a time, > 0 */
	const struct seek_options *seek; /* each case is a seek; NULL: none is */
	case_engine engine;
	struct share share;
	const char *const *set; /* overrides, "key=value" */
	size_t n_set;
	bool quiet;
};

struct sweep_counts {
	size_t cases, distinct;	     /* distinct: equal ones are computed once */
	size_t before, done, failed; /* of this process' part; before: finished earlier */
	size_t missing;		     /* of all parts, at the end */
};

/*
 * Computes what is not finished of this process' part. *out: the merged record when nothing is
 * missing, with table, CSV and charts in the folder; else NULL. *folder: its path. Both are the
 * caller's to free. STATUS_INPUT, STATUS_MACHINE, or what a case that failed said: the others are
 * finished then, and the same again computes what is missing.
 */
int sweep_run(struct sweep_record **out, char **folder, struct sweep_counts *counts,
	const char *path, const struct sweep_options *options, struct error *err);
