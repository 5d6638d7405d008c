/* Axes of charts over a quantity: logarithmic or not, with tics that can be read, and bands. */
#pragma once

#include <stdbool.h>

#include "results/chart_file.h"

struct chart_axis {
	char letter;	  /* 'x' or 'y' */
	const char *name; /* with its unit */
	bool log;
	double low, high; /* of the data, in shown units, positive where log */
	double zero;	  /* where 0 stands on a logarithmic axis; 0: nowhere */
};

/* Makes room around low..high; a logarithmic axis that was asked for but cannot be is linear. */
void chart_axis_fit(struct chart_axis *a, bool has_zero);
/* Range, scale, tics and name. */
void chart_axis_set(struct chart *c, const struct chart_axis *a);

/* The frame in pixels, and a value's place in it. */
struct chart_place {
	int left, right, top, bottom; /* margins */
};
double chart_axis_pixel(
	const struct chart *c, const struct chart_axis *a, const struct chart_place *p, double v);

/*
 * On an axis of rates in Gbit/s: satellites' 1 to 10 Gbit/s and a fibre's wavelengths shaded and
 * named, and 0.84 Gbit/s marked, each where it is within the axis: above the plot for x, in a
 * margin of CHART_BANDS_RIGHT right of it for y.
 */
#define CHART_BANDS_RIGHT 124
void chart_bands(struct chart *c, const struct chart_axis *a, const struct chart_place *p);
