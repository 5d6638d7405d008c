/* The parts of `narrowlink check` that more than one kind of plan needs. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/units.h"
#include "bench/scenario/scenario.h"

/* A line of a plan: what it is, and its value. */
void check_row(const char *label, const char *value);
void check_quantity(const char *label, enum quantity kind, int64_t value);

/* The plan of a fleet: closed formulas, nothing is simulated. */
void check_fleet_print(const struct scenario *s);
json_t *check_fleet_json(const struct scenario *s); /* the caller's to json_decref */
