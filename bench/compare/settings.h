/* What two runs were told, value by value. */
#pragma once

#include "bench/compare/compare.h"

/*
 * Adds what differs between two resolved scenarios, in A's order, what only B has at the end. A
 * text that is no YAML (a damaged record) is as if empty.
 */
void settings_compare(struct run_comparison *c, const char *a, const char *b);
