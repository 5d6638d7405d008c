/*
 * One case of a run, from its plan to its record.
 */
#pragma once

#include <poll.h>

#include "bench/progress.h"
#include "bench/scenario/scenario.h"
#include "emu/backend.h"
#include "results/folder.h"
#include "results/record.h"

struct case_context {
	const struct backend *backend;
	struct folder *folder;
	struct progress *progress;
	int signal_fd; /* readable: the user wants the run to end; -1: nobody can say so */
	size_t index, n_cases;
};

static inline bool case_interrupted(const struct case_context *context)
{
	struct pollfd p = {.fd = context->signal_fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/*
 * Runs the case and fills c. Returns 0 when the case ran to its end; otherwise c holds what was
 * measured up to then, marked partial, and err says why (STATUS_INVALID when interrupted).
 * Everything it set up is gone on return.
 */
int case_run(struct record_case *c, const struct scenario *s, const struct case_context *context,
	struct error *err);

/*
 * The same in simulated time, at any dilation as at 1: needs nothing of the machine, keeps no
 * state, and fills c with the same numbers wherever it runs. Of the context it takes the folder
 * (NULL: only c is written), the progress (may be NULL), the index and the signals.
 */
int case_model(struct record_case *c, const struct scenario *s, const struct case_context *context,
	struct error *err);
