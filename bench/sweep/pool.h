/*
 * Tasks in parallel processes. A worker that crashes takes its task with it and no other, and is
 * replaced. What tasks leave behind is files; their errors come back over a socket.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

struct pool_work {
	void *user;
	/* In a worker: task number i; its error ends up in done(). */
	int (*run)(void *user, size_t i, struct error *err);
	/* In the parent, once per task: err->status is STATUS_HOLDS where it went well. */
	void (*done)(void *user, size_t i, const struct error *err);
};

/*
 * Runs tasks 0 to n - 1, at most jobs at a time. An error of a task ends nothing. Workers end
 * when this process does, by SIGKILL too. STATUS_MACHINE: no process can be started.
 */
int pool_run(const struct pool_work *work, size_t n, int jobs, struct error *err);

/* Processors this process may use. */
int pool_processors(void);
