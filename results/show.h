/* Numbers as people read them: a few digits, their unit, and a dash for what is unknown. */
#pragma once

#include "base/units.h"

struct shown {
	char text[40];
};

/* value in base units: bit/s, s, bytes, a count. NaN: "–". */
struct shown show(enum quantity kind, double value);
/* 0.951 -> "95.1 %" */
struct shown show_percent(double ratio);
/* A value of an expectation, by its metric's name: useful_work, wire_rate, exchange_p50, ... */
struct shown show_metric(const char *metric, double value);
