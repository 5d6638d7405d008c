/*
 * The public DiLoCo bandwidth simulator, with its defaults: 10B parameters, a step of 1 s, two
 * participants. It cuts every exchange into 128 buckets.
 */
#include "results/published/tables.h"

static const struct published_row rows[] = {
	{"10B", "data-parallel",
		.job = {"data-parallel", 1e10, 16, 1, 0, 2, 1, 1, 0, 128, PUBLISHED_EVEN},
		.value = {96.3 * GBPS, 160.8 * GBPS, 207.1 * GBPS, 224.1 * GBPS, 238.3 * GBPS}},
	{"10B", "DiLoCo, H = 30",
		.job = {"diloco", 1e10, 16, 1, 0, 2, 30, 1, 0, 128, PUBLISHED_EVEN},
		.value = {5.22 * GBPS, 15 * GBPS, 40.1 * GBPS, 71.4 * GBPS, 165.9 * GBPS}},
	{"10B", "streaming, H = 100, P = 16, tau = 1",
		.job = {"streaming-diloco", 1e10, 16, 1, 0, 2, 100, 16, 1, 128, PUBLISHED_EVEN},
		.value = {1.26 * GBPS, 2.67 * GBPS, 4.24 * GBPS, 5.02 * GBPS, 5.8 * GBPS}},
};

const struct published_table published_web_simulator = {
	.name = "web-simulator",
	.title = "DiLoCo bandwidth simulator: rate for a compute utilisation",
	.source = "https://arthurdouillard.com/diloco/, with its defaults",
	.kind = PUBLISHED_SIMULATION,
	.quantity = PUBLISHED_RATE,
	.column = "compute utilisation",
	.n_columns = 5,
	.columns = {.50, .75, .90, .95, .99},
	PUBLISHED_ROWS(rows),
};
