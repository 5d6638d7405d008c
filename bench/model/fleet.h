/*
 * A case that is a fleet: its runs with one seed after another, and what they come to.
 */
#pragma once

#include "bench/case.h"

/* As case_run(), without anything to set up: seeds `seed`, `seed` + 1, ... of the renewal model. */
int fleet_case(struct record_case *c, const struct scenario *s, const struct case_context *context,
	struct error *err);
