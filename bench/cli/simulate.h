/* The engine of commands that compute without running: a fleet's model, or a job's. */
#pragma once

#include "bench/seek/seek.h"

int simulate_case(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err);
