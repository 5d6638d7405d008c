/* The published tables, one file for each source; see published.h. */
#pragma once

#include "results/published/published.h"

extern const struct published_table published_web_simulator, published_streaming_diloco,
	published_scaling_laws, published_decoupled_goodput, published_diloco_measured,
	published_diloco_measured_sync, published_ft_diloco, published_intellect_1,
	published_intellect_1_utilisation;

#define PUBLISHED_ROWS(rows) sizeof rows / sizeof *rows, rows
#define GBPS 1e9
