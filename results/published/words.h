/* A published table's numbers as people read them. */
#pragma once

#include "results/published/published.h"

struct published_text {
	char text[32];
};

/* "Gbit/s": what published_number() is in; and what the numbers of the table are in. */
const char *published_unit(const struct published_table *t);
const char *published_base_unit(const struct published_table *t);
/* A number of the table, without its unit: "0.84"; a dash when it is NaN. */
struct published_text published_number(const struct published_table *t, double value);
/* A column's heading: "90 %", "150k", "H = 8", "1 Gbit/s". */
struct published_text published_column(const struct published_table *t, size_t column);
