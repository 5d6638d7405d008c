/*
 * ft-diloco: two replicas, 205 MB through Gloo, kernel netem with a round trip of 20 ms. With
 * H = 1: a step of 0.812 s and one exchange.
 */
#include "results/published/tables.h"

static const struct published_row rows[] = {
	{"H = 1", "from exchange to exchange", .scenario = "ft-diloco", .value = {6.19, 20.87}},
};

const struct published_table published_ft_diloco = {
	.name = "ft-diloco",
	.title = "ft-diloco: seconds between exchanges of two replicas",
	.source = "public repository ft-diloco (two copies), experiments",
	.kind = PUBLISHED_MEASUREMENT,
	.quantity = PUBLISHED_INTERVAL,
	.column = "rate",
	.n_columns = 2,
	.columns = {1 * GBPS, 0.1 * GBPS},
	PUBLISHED_ROWS(rows),
};
