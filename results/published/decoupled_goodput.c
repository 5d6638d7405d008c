/*
 * Table 1 of Decoupled DiLoCo: goodput of a fleet of which every chip is interrupted once a year.
 * As given by several summaries that agree; the paper's body was not at hand.
 */
#include "results/published/tables.h"

#define YEAR_S (365.25 * 86400)

static const struct published_row rows[] = {
	{"data-parallel", "not elastic", .fleet = {YEAR_S, 1, 0},
		.value = {.72, .57, .38, .27, .18}},
	{"data-parallel", "elastic", .fleet = {YEAR_S, 1, 1}, .value = {.88, .80, .69, .58, .40}},
	{"decoupled", "2 learners", .fleet = {YEAR_S, 2, 1}, .value = {.94, .88, .80, .70, .54}},
	{"decoupled", "8 learners", .fleet = {YEAR_S, 8, 1}, .value = {.98, .96, .94, .88, .80}},
};

const struct published_table published_decoupled_goodput = {
	.name = "decoupled-goodput",
	.title = "Decoupled DiLoCo, Table 1: goodput of a fleet",
	.source = "Decoupled DiLoCo, arXiv 2604.21428, Table 1, as given by several summaries "
		  "that agree",
	.kind = PUBLISHED_SIMULATION,
	.quantity = PUBLISHED_GOODPUT,
	.column = "chips",
	.n_columns = 5,
	.columns = {150e3, 300e3, 600e3, 1200e3, 2400e3},
	PUBLISHED_ROWS(rows),
};
