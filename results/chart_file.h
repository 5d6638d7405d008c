/*
 * A chart on its way: the gnuplot script, its data, and the picture gnuplot makes of them, side
 * by side in the run's charts/ folder.
 *
 * Everything is placed in pixels of the picture, since gnuplot does not know how wide text is in
 * an SVG: margins and the legend are measured here, with the width of a usual sans-serif.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "results/palette.h"
#include "results/series.h"

#define CHART_WIDTH 960
#define CHART_RIGHT 24 /* margin */
#define LEGEND_MAX 16

struct chart {
	FILE *script, *data;
	char *dir, *stem;
	int height;
	int tag; /* of gnuplot objects, labels and arrows: each its own */
};

/* What a legend explains: a paint, a stroke, or points with it; text NULL takes the look's own
 * label. */
struct legend {
	int n;
	struct legend_entry {
		bool line;
		int mark; /* gnuplot's point type on the line, or alone; 0: none */
		struct paint paint;
		struct stroke stroke;
		char text[64];
	} entries[LEGEND_MAX];
};

void legend_paint(struct legend *l, const struct paint *paint, const char *text);
/* The paint as a timeline has it: solid, at its height. */
void legend_lane(struct legend *l, const struct paint *paint);
void legend_stroke(struct legend *l, const struct stroke *stroke, const char *text);
/* A line with points of this type of gnuplot's, or points alone. */
void legend_marked(struct legend *l, const struct stroke *stroke, int mark, const char *text);
void legend_points(struct legend *l, const struct stroke *stroke, int mark, const char *text);

/* Pixels at the top that the title and this legend take. */
int chart_top(const struct legend *l);

/* Creates stem.gp and stem.dat and begins the script: terminal, title, legend. */
int chart_begin(struct chart *c, const char *dir, const char *stem, int height, const char *title,
	const struct legend *l, struct error *err);

/* Closes both files and draws. c is empty afterwards, on errors too. */
int chart_end(struct chart *c, struct error *err);

void chart_add(struct chart *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void chart_data(struct chart *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The y axis of a chart with a row per name: from 0 at the top, the names cut at 32 columns. */
void chart_rows(struct chart *c, const char *const *names, size_t n);
/* Text in the script, in quotes in which nothing of it is evaluated. */
void chart_quote(struct chart *c, const char *text);
/* A number of the data, NaN where there is none, and a tab. */
void chart_number(struct chart *c, double value);

/* The plot's frame: pixels from the left, right, top and bottom edge of the picture. */
void chart_frame(struct chart *c, int left, int right, int top, int bottom);
/* Text at a pixel, in a font of this size; align is gnuplot's: left, center, right. */
void chart_label(
	struct chart *c, double x, double y, const char *align, int size, const char *text);
/* A shaded time in the current plot, over its whole height, behind the data. */
void chart_shade(struct chart *c, const struct span *span, const struct paint *paint);
/* The same over part of the height, in the y axis' units, before the data. */
void chart_bar(
	struct chart *c, const struct span *span, double y0, double y1, const struct paint *paint);

/* "fillcolor rgb '...' fillstyle ..." and "linecolor rgb ... " for a plot element. */
void chart_fill(struct chart *c, const struct paint *paint);
void chart_line(struct chart *c, const struct stroke *stroke);

/* Pixels that text of size 12 takes. */
double chart_text_width(const char *text);
/* A margin wide enough for the longest of these names, as chart_rows cuts them. */
int chart_names_margin(const char *const *names, size_t n);

/* 1, 2 or 5 times a power of ten: a step that cuts `range` into at most `steps` pieces. */
double chart_step(double range, int steps);
/* The unit in which a rate up to max_bps is shown: its name and size. */
const char *chart_rate_unit(double max_bps, double *size);
