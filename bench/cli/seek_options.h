/* The options that say what is sought, of `seek` and of a `sweep` that seeks. */
#pragma once

#include <getopt.h>

#include "bench/seek/seek.h"

#define SEEK_OPTIONS_HELP                                                                          \
	"  --find KEY         a key that holds a number, with dots: links.wan.rate\n"              \
	"  --for CONDITION    what must hold: 'useful_work >= 90 %'; any metric of `expect`\n"     \
	"  --min X, --max Y   the range; default: rates 1 Mbit/s to 100 Gbit/s, times 1 ms to\n"   \
	"                     100 s, bytes 1 MB to 1 TB, counts 1 M to 1 T (small ones 1 to "      \
	"1000),\n"                                                                                 \
	"                     bits 1 to 64, shares 0.0001 to 50 %, numbers 0.01 to 100, each as\n" \
	"                     far as the key allows\n"                                             \
	"  --tolerance T      how exact, default 1 %; whole numbers below 10000 are exact\n"       \
	"  --largest          the largest such value instead of the smallest\n"

enum {
	SEEK_FIND = 256,
	SEEK_FOR,
	SEEK_MIN,
	SEEK_MAX,
	SEEK_TOLERANCE,
	SEEK_LARGEST,
};
#define SEEK_OPTIONS                                                                               \
	{"find", required_argument, NULL, SEEK_FIND}, {"for", required_argument, NULL, SEEK_FOR},  \
		{"min", required_argument, NULL, SEEK_MIN},                                        \
		{"max", required_argument, NULL, SEEK_MAX},                                        \
		{"tolerance", required_argument, NULL, SEEK_TOLERANCE},                            \
	{                                                                                          \
		"largest", no_argument, NULL, SEEK_LARGEST                                         \
	}

struct seek_arguments {
	const char *find, *condition, *min, *max, *tolerance;
	bool largest;
};
#define SEEK_ARGUMENTS                                                                             \
	{                                                                                          \
		.tolerance = "1 %"                                                                 \
	}

/* Takes an option if it is one of these. */
bool seek_argument(struct seek_arguments *a, int option, const char *value);
/* STATUS_INPUT, naming the option. The engine is left to the caller. */
int seek_options_make(struct seek_options *out, const struct seek_arguments *a, struct error *err);
