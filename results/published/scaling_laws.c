/* Table 6 of the DiLoCo scaling laws. H = 1 is data-parallel. */
#include "results/published/tables.h"

static const struct published_row rows[] = {
	{"Chinchilla 10B", "data-parallel",
		.job = {"data-parallel", 1e10, 16, 0.8, 0.05, 2, 1, 1, 0, 48, PUBLISHED_EVEN},
		.value = {104.8 * GBPS, 184.2 * GBPS, 222.3 * GBPS, 222.3 * GBPS, 390.7 * GBPS}},
	{"Chinchilla 10B", "diloco, H = 10",
		.job = {"diloco", 1e10, 16, 0.8, 0.05, 2, 10, 1, 0, 48, PUBLISHED_EVEN},
		.value = {16 * GBPS, 49.4 * GBPS, 86.8 * GBPS, 152.6 * GBPS, 222.3 * GBPS}},
	{"Chinchilla 10B", "diloco, H = 50",
		.job = {"diloco", 1e10, 16, 0.8, 0.05, 2, 50, 1, 0, 48, PUBLISHED_EVEN},
		.value = {3 * GBPS, 11 * GBPS, 23.3 * GBPS, 41 * GBPS, 126.5 * GBPS}},
	{"Chinchilla 10B", "diloco, H = 100",
		.job = {"diloco", 1e10, 16, 0.8, 0.05, 2, 100, 1, 0, 48, PUBLISHED_EVEN},
		.value = {1.4 * GBPS, 6.2 * GBPS, 13.3 * GBPS, 23.3 * GBPS, 86.8 * GBPS}},
	{"Chinchilla 10B", "diloco, H = 300",
		.job = {"diloco", 1e10, 16, 0.8, 0.05, 2, 300, 1, 0, 48, PUBLISHED_EVEN},
		.value = {0.5 * GBPS, 2 * GBPS, 4.3 * GBPS, 9.1 * GBPS, 41 * GBPS}},
	{"Llama-3 405B", "data-parallel",
		.job = {"data-parallel", 4.05e11, 16, 26, 0.5, 2, 1, 1, 0, 126, PUBLISHED_EVEN},
		.value = {126.5 * GBPS, 222.3 * GBPS, 268.3 * GBPS, 323.8 * GBPS, 323.8 * GBPS}},
	{"Llama-3 405B", "diloco, H = 10",
		.job = {"diloco", 4.05e11, 16, 26, 0.5, 2, 10, 1, 0, 126, PUBLISHED_EVEN},
		.value = {19.3 * GBPS, 72 * GBPS, 126.5 * GBPS, 184.2 * GBPS, 268.3 * GBPS}},
	{"Llama-3 405B", "diloco, H = 50",
		.job = {"diloco", 4.05e11, 16, 26, 0.5, 2, 50, 1, 0, 126, PUBLISHED_EVEN},
		.value = {3.6 * GBPS, 13.3 * GBPS, 28.1 * GBPS, 59.6 * GBPS, 184.2 * GBPS}},
	{"Llama-3 405B", "diloco, H = 100",
		.job = {"diloco", 4.05e11, 16, 26, 0.5, 2, 100, 1, 0, 126, PUBLISHED_EVEN},
		.value = {2 * GBPS, 7.5 * GBPS, 16 * GBPS, 33.9 * GBPS, 126.5 * GBPS}},
	{"Llama-3 405B", "diloco, H = 300",
		.job = {"diloco", 4.05e11, 16, 26, 0.5, 2, 300, 1, 0, 126, PUBLISHED_EVEN},
		.value = {0.7 * GBPS, 3 * GBPS, 6.2 * GBPS, 13.3 * GBPS, 59.6 * GBPS}},
};

const struct published_table published_scaling_laws = {
	.name = "scaling-laws",
	.title = "DiLoCo scaling laws, Table 6: rate for a compute utilisation",
	.source = "Communication-Efficient Language Model Training Scales Reliably and Robustly, "
		  "arXiv 2503.09799, Table 6",
	.kind = PUBLISHED_SIMULATION,
	.quantity = PUBLISHED_RATE,
	.on_grid = 1,
	.column = "compute utilisation",
	.n_columns = 5,
	.columns = {.50, .80, .90, .95, .99},
	PUBLISHED_ROWS(rows),
};
