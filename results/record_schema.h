/* The tables behind run.json: which member of which struct stands under which key. */
#pragma once

#include "results/schema.h"

extern const struct field record_schema[]; /* struct record */
extern const struct field record_case_schema[];
extern const struct field record_participant_schema[];
extern const struct field record_wire_schema[];
extern const struct field record_fault_schema[];
extern const struct field record_check_schema[];
extern const struct field record_capture_schema[];
extern const struct field record_expect_schema[];
extern const struct field record_fleet_schema[];
