/*
 * A run: a scenario file's cases, one after another - plan, set up, run, take down, record.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "bench/scenario/scenario.h"
#include "emu/backend.h"
#include "results/record.h"

struct run_options {
	const char *out;    /* run folder, or NULL to choose one */
	const char *engine; /* "auto", "model" or a backend's name */
	bool quiet;	    /* no progress */
	int argc;	    /* recorded, so that the run can be repeated */
	char **argv;
};

/*
 * Runs all cases. On return the run folder is complete but for charts and report, as far as the
 * run came; *folder (caller frees) is its path. *out (caller frees) is the record, also
 * when an error is returned after the folder was made; otherwise NULL. Isolates the calling
 * process for good: call it once. In simulated time it isolates nothing, and the record names
 * neither host nor time nor folder: the same scenario and seed make the same run.json anywhere.
 */
int run_scenario(struct record **out, char **folder, const struct scenario_file *file,
	const struct run_options *options, struct error *err);

/*
 * Draws a run's charts and writes its report, of what the folder holds. Without gnuplot the
 * report says so, and the log.
 */
int run_draw(const char *folder, const struct record *record, bool quiet, struct error *err);

/*
 * The backend of that name, or for "auto" the first that works here and can do the file's links;
 * *passed_over then says why it is not the one before. NULL for the model, which "auto" takes
 * where a case's TCP is ideal. STATUS_INPUT or _MACHINE.
 */
int run_backend(const struct backend **out, const char *engine, const struct scenario_file *file,
	struct error *passed_over, struct error *err);
