/* The parts of report.html; report.c puts them together. */
#pragma once

#include <stdio.h>

#include "results/record.h"

extern const char report_style[];

/* "holds" -> "✔ Holds" */
const char *report_verdict(const char *verdict);

/* A verdict's box: what it is, why, what makes a run invalid, and what else must be known. */
void report_box(FILE *out, const struct record_case *c);
/* The few numbers that matter. */
void report_figures(FILE *out, const struct record_case *c);
/* What was expected; what was assumed; which rate would be needed. */
void report_expectations(FILE *out, const struct record_case *c, bool simulated);
void report_assumptions(FILE *out, const struct record_case *c);
void report_needed(FILE *out, const struct record_case *c);
/* What was measured or simulated: participants, exchanges, wire, payload. */
void report_participants(FILE *out, const struct record_case *c);
void report_wire(FILE *out, const struct record_case *c);
void report_payload(FILE *out, const struct record_case *c);
/* Whether the link was the link: of measurements only. */
void report_fidelity(FILE *out, const struct record_case *c);
void report_checks(FILE *out, const struct record_case *c);
void report_captures(FILE *out, const struct record_case *c);
void report_faults(FILE *out, const struct record_case *c);
/* Of a fleet: figures over the seeds and where the time went; all cases in a table. */
void report_fleet(FILE *out, const struct record_case *c);
void report_fleet_overview(FILE *out, const struct record *r);

/* The largest mean rate of any direction, and that direction's limit; NaN when there is none. */
double busiest_mean_bps(const struct record_case *c, double *limit_bps);
