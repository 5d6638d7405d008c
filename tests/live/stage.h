/*
 * A stage: a scenario's text on the relay's links, ready for a live run. What the program's run
 * does around a case, in the few lines that tests need.
 */
#pragma once

#include "bench/scenario/scenario.h"
#include "emu/backend.h"
#include "tests/live/world.h"

struct stage {
	struct scenario_file *file;
	const struct scenario *s;
	struct topology *t;
	struct link_plan plan;
	struct backend_run *links;
	struct fault *faults;
	size_t n_faults;
	struct watch watch;
	uint64_t exchanges[PARTICIPANTS_MAX];
	double exchange_s[PARTICIPANTS_MAX]; /* of the last one */
	struct outcome result;
	struct error err;
};

/* Skips the test where sites or links cannot be made; any error fails it. */
void stage_up(struct stage *st, const char *text);
void stage_down(struct stage *st);
/* live_run; the ledgers are finished at the end. */
void stage_run(struct stage *st);
