/*
 * Distribution tables for netem's jitter: what the kernel draws from, 4096 quantiles of a
 * distribution in units of sigma / 8192.
 *
 * Ours have mean 0 and standard deviation 1, as the kernel's arithmetic supposes, within what 16
 * bits can hold (-4 to 4 sigma). iproute2's, loaded from its files, are not so strict: its pareto
 * is cut and has a standard deviation of 0.82.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TABLE_SIZE 4096

/*
 * uniform: on [-1, 1] sigma, not scaled: what netem does without a table.
 * normal: the Gaussian.
 * pareto: shape 3, from its minimum up.
 * paretonormal: 3/4 of pareto's quantile and 1/4 of normal's, scaled again.
 */
enum table_kind { TABLE_UNIFORM, TABLE_NORMAL, TABLE_PARETO, TABLE_PARETONORMAL, TABLE_KINDS };
const char *table_name(enum table_kind kind);

void table_make(int16_t values[static TABLE_SIZE], enum table_kind kind);

/*
 * A table of iproute2 by its name ("normal") or the path of its file (with a slash): whole
 * numbers, # begins a comment. Looked for in $TC_LIB_DIR, then where distributions have it,
 * Debian's multiarch folder too. values holds at most NETEM_DIST_MAX; *count is set.
 * STATUS_INPUT, naming file and line, or where it was looked for.
 */
int table_load(int16_t *values, size_t *count, const char *name, struct error *err);
