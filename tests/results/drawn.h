/* Charts on their way through a test: drawn, and looked at as files. */
#pragma once

#include "results/record.h"

int run_quietly(const char *dir, const char *const *argv); /* exit status, 127: not installed */
void need_gnuplot(void);				   /* skips the test without */
/* Well-formed by xmllint where it is installed; by its two ends anywhere. */
void check_svg(const char *charts, const char *file);
/* All charts of a run folder. */
void drawn(const char *dir, const struct record *r);
/* probes.csv of what is measured before a run: every second of a hundred probes is lost on its way
 * back. */
void write_probes(const char *dir);
