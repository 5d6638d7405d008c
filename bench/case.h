/*
 * One case of a run, from its plan to its record.
 */
#pragma once

#include "bench/progress.h"
#include "bench/scenario/scenario.h"
#include "emu/backend.h"
#include "results/folder.h"
#include "results/record.h"

struct case_context {
	const struct backend *backend;
	struct folder *folder;
	struct progress *progress;
	int signal_fd;         /* readable: the user wants the run to end */
	size_t index, n_cases;
};

/*
 * Runs the case and fills c. Returns 0 when the case ran to its end; otherwise c holds what was
 * measured up to then, marked partial, and err says why (STATUS_INVALID when interrupted).
 * Everything it set up is gone on return.
 */
int case_run(struct record_case *c, const struct scenario *s, const struct case_context *context,
	struct error *err);

/*
 * The same in simulated time, at any dilation as at 1: needs nothing of the machine, keeps no
 * state, and fills c with the same numbers wherever it runs. folder NULL: only c is written.
 */
int case_model(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err);
