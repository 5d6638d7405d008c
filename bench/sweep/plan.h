/* What a sweep has to compute: its cases, and of equal ones the first. */
#pragma once

#include "bench/sweep/store.h"
#include "bench/sweep/sweep.h"

struct sweep_plan {
	struct scenario_file *file;
	char (*ids)[STORE_ID]; /* per case */
	size_t n;	       /* distinct cases, */
	size_t *first;	       /* and the index of the first of each in the file */
};

/* Loads the scenario; STATUS_INPUT. */
int sweep_plan_make(struct sweep_plan *out, const char *path, const struct sweep_options *options,
	struct error *err);
void sweep_plan_release(struct sweep_plan *plan);

/* Case i, computed: the caller's to free. */
int sweep_compute(struct sweep_case **out, const struct sweep_plan *plan,
	const struct sweep_options *options, size_t i, struct error *err);

/* All cases from the folder as one record; -ENOENT without an error while one is missing. */
int sweep_merge(struct sweep_record **out, const struct sweep_plan *plan, const char *dir,
	struct error *err);
