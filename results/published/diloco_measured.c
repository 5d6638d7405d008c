/*
 * diloco-measured: four cloud hosts, a ring all-reduce of 123 MB in fp32, the rate set by a token
 * bucket, nothing else. Utilisation by H, and the time of an exchange in two runs each.
 */
#include "results/published/tables.h"

#define SOURCE "public repository Adnan082/diloco-measured, results"

static const struct published_row utilisation[] = {
	{"1 Gbit/s", "utilisation", .scenario = "diloco-measured", .first_case = 0,
		.value = {.0174, .1235, .3601, .7152}},
	{"5 Gbit/s", "utilisation", .scenario = "diloco-measured", .first_case = 4,
		.value = {.0776, .4024, .681, .87}},
};

const struct published_table published_diloco_measured = {
	.name = "diloco-measured",
	.title = "diloco-measured: compute utilisation of four cloud hosts",
	.source = SOURCE,
	.kind = PUBLISHED_MEASUREMENT,
	.quantity = PUBLISHED_UTILISATION,
	.column = "H",
	.n_columns = 4,
	.columns = {1, 8, 32, 128},
	PUBLISHED_ROWS(utilisation),
};

static const struct published_row sync[] = {
	{"one run", "exchange", .scenario = "diloco-measured-sync", .value = {1.505, .317}},
	{"another", "exchange", .scenario = "diloco-measured-sync", .value = {1.516, .324}},
};

const struct published_table published_diloco_measured_sync = {
	.name = "diloco-measured-sync",
	.title = "diloco-measured: time of an exchange among four cloud hosts",
	.source = SOURCE,
	.kind = PUBLISHED_MEASUREMENT,
	.quantity = PUBLISHED_EXCHANGE,
	.column = "rate",
	.n_columns = 2,
	.columns = {1 * GBPS, 5 * GBPS},
	PUBLISHED_ROWS(sync),
};
