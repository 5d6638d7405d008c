/*
 * A job of one message: learner 0 sends so many bytes to learner 1, which is done with their
 * arrival. What a transfer takes, without a strategy in between.
 */
#pragma once

#include "base/clock.h"
#include "bench/links.h"
#include "bench/model/model.h"
#include "tests/scenario/helper.h"

struct burst {
	struct scenario_file *file;
	struct scenario *s;
	struct fault *faults;
	size_t n_faults;
};

extern const struct strategy burst_strategy;

/* Loads a scenario of two sites; its strategy becomes a burst of `parameters` bytes. */
struct burst burst_load(const char *text);
void burst_free(struct burst *b);
/* Seconds until the last byte has arrived. out may be NULL. */
double burst_run(const struct burst *b, struct outcome *out);
