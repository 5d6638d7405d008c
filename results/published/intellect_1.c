/*
 * INTELLECT-1: 10B parameters over the real Internet, 8 bits each, an exchange after 100 steps
 * (38 min). What its nodes' links carried at the time is not published.
 */
#include "results/published/tables.h"

#define SOURCE "INTELLECT-1, arXiv 2412.01152, Table 2"

static const struct published_row exchange[] = {
	{"USA", "exchange", .scenario = "intellect-1", .first_case = 0, .value = {103}},
	{"USA, Europe", "exchange", .scenario = "intellect-1", .first_case = 1, .value = {382}},
	{"USA, Europe, Asia", "exchange", .scenario = "intellect-1", .first_case = 2,
		.value = {469}},
};

const struct published_table published_intellect_1 = {
	.name = "intellect-1",
	.title = "INTELLECT-1: time of an exchange over the Internet",
	.source = SOURCE,
	.kind = PUBLISHED_MEASUREMENT,
	.quantity = PUBLISHED_EXCHANGE,
	.column = "H",
	.n_columns = 1,
	.columns = {100},
	PUBLISHED_ROWS(exchange),
};

static const struct published_row utilisation[] = {
	{"USA", "utilisation", .scenario = "intellect-1", .first_case = 0, .value = {.957}},
	{"USA, Europe", "utilisation", .scenario = "intellect-1", .first_case = 1, .value = {.856}},
	{"USA, Europe, Asia", "utilisation", .scenario = "intellect-1", .first_case = 2,
		.value = {.830}},
};

const struct published_table published_intellect_1_utilisation = {
	.name = "intellect-1-utilisation",
	.title = "INTELLECT-1: compute utilisation over the Internet",
	.source = SOURCE,
	.kind = PUBLISHED_MEASUREMENT,
	.quantity = PUBLISHED_UTILISATION,
	.column = "H",
	.n_columns = 1,
	.columns = {100},
	PUBLISHED_ROWS(utilisation),
};
