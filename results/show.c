/* See show.h. */
#include "results/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DASH "\xe2\x80\x93"

struct shown show(enum quantity kind, double value)
{
	double scale = kind == QUANTITY_TIME ? 1e9 : kind == QUANTITY_RATIO ? 1e9 : 1;
	struct shown s = {DASH};

	if (!isfinite(value))
		return s;
	if (kind == QUANTITY_COUNT && fabs(value) < 1e6 && value == floor(value))
		snprintf(s.text, sizeof s.text, "%.0f", value);
	else if (fabs(value * scale) >= 9e18)
		snprintf(s.text, sizeof s.text, "%.3g", value);
	else
		quantity_format(s.text, sizeof s.text, kind, llround(value * scale), false);
	return s;
}

struct shown show_percent(double ratio)
{
	struct shown s = {DASH};

	if (isfinite(100 * ratio))
		snprintf(s.text, sizeof s.text, fabs(ratio) < 1e6 ? "%.1f %%" : "%.3g %%",
			100 * ratio);
	return s;
}

struct shown show_metric(const char *metric, double value)
{
	if (!strcmp(metric, "wire_rate"))
		return show(QUANTITY_RATE, value);
	if (!strncmp(metric, "exchange_", strlen("exchange_")))
		return show(QUANTITY_TIME, value);
	return show_percent(value);
}
