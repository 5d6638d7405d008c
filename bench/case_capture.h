/*
 * A case's capture: which packets the scenario wants kept, and what came of it.
 */
#pragma once

#include "bench/observe.h"
#include "emu/measure/capture.h"
#include "results/record.h"

/*
 * Starts what the scenario's `capture` asks for, in the run folder's capture/ (capture-2/ for the
 * second case). Where it fails the run goes on without, and a note in c says why; *out is NULL
 * then, as where nothing is asked.
 */
void case_capture_begin(struct capture **out, struct record_case *c, const struct observation *o,
	const struct topology *t);

/*
 * Ends it and holds it against the links' counters: totals into the record, rates of every
 * 100 ms and the delays of sampled packets into the folder. capture may be NULL.
 */
void case_capture_end(struct record_case *c, const struct observation *o, struct capture *capture);
