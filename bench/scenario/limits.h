/* Ranges of the scenario language that more than one file needs; in base units. */
#pragma once

#include "base/clock.h"

#define RATE_LOW 1e3
#define RATE_HIGH 1e13
#define DELAY_HIGH 3600e9
#define TIME_HIGH (3650 * 86400e9) /* ten years: sums of a few stay far below 2^63 ns */
#define QUEUE_DEFAULT "50 ms"
#define QUEUE_DEFAULT_NS (50 * NS_PER_MS)
#define EVENT_NS                                                                                   \
	NS_PER_MS /* a link changes by itself no more often: what makes it has to keep up */
