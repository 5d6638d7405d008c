/*
 * Charts and the report, made from what a run folder holds and from nothing else: `report RUN`
 * makes them again, years later.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "results/record.h"

/* charts/NAME.gp, .dat and .svg in the folder. Needs gnuplot: STATUS_MACHINE names the package. */
int chart_all(const char *folder, const struct record *record, struct error *err);

/* report.html: one self-contained file with the charts inlined. */
int report_write(const char *folder, const struct record *record, struct error *err);

/* The table of cases as text, for a terminal (colour) or a pipe. */
void report_table(const struct record *record, FILE *out, bool colour);
