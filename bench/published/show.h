/* A comparison for people, and for programs. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "bench/published/compare.h"

void comparison_print(const struct comparison *c, FILE *out);
/* Base units; keys as in docs/published.md. The caller's reference. */
json_t *comparison_json(const struct comparison *c);
