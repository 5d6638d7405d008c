/* See chart_axis.h. */
#include "results/chart_axis.h"

#include <math.h>

#include "base/memory.h"

#define FEW_DECADES 2.6 /* up to here every 1, 2 and 5 has its tic */

/*
 * Satellite: what one terminal of today's and announced constellations and GEO relays gets.
 * Fibre: a wavelength by IEEE 802.3ct (100 Gbit/s) to OIF 800ZR.
 */
static const struct {
	const char *name, *range, *whole;
	double low, high;
	struct paint paint;
} bands[] = {
	{"satellite", "1–10 Gbit/s", "satellite, 1–10 Gbit/s", 1, 10,
		{"", "#D9C27A", "solid 0.35", NULL, 1}},
	{"fibre", "100–800 Gbit/s", "fibre, a wavelength, 100–800 Gbit/s", 100, 800,
		{"", "#9FB8C8", "solid 0.35", NULL, 1}},
};
#define MARK_GBPS 0.84

void chart_axis_fit(struct chart_axis *a, bool has_zero)
{
	double room;

	a->log = a->log && a->low > 0;
	if (!a->log) {
		room = (a->high - a->low) * .03;
		if (!(room > 0))
			room = fabs(a->high) > 0 ? fabs(a->high) * .1 : 1;
		a->low -= room;
		a->high += room;
		return;
	}
	if (has_zero) {
		a->zero = a->low / pow(10, fmax(.5, log10(a->high / a->low) / 8));
		a->low = a->zero;
	}
	room = fmax(1.12, pow(a->high / a->low, .03));
	a->low /= room;
	a->high *= room;
}

static void add_tic(struct chart *c, const struct chart_axis *a, double at, const char **between)
{
	chart_add(c, "%s'%g' %.9g", *between, at == a->zero ? 0 : at, at);
	*between = ", ";
}

static void log_tics(struct chart *c, const struct chart_axis *a)
{
	static const int parts[] = {1, 2, 5};
	bool few = log10(a->high / a->low) <= FEW_DECADES;
	const char *between = "";

	chart_add(c, "set %ctics (", a->letter);
	if (a->zero > 0)
		add_tic(c, a, a->zero, &between);
	for (int k = (int)floor(log10(a->low)); k <= (int)ceil(log10(a->high)); k++)
		for (int i = 0; i < (few ? 3 : 1); i++) {
			double at = parts[i] * pow(10, k);

			if (at >= a->low && at <= a->high && !(a->zero > 0 && at < a->zero * 1.3))
				add_tic(c, a, at, &between);
		}
	chart_add(c, ")\n");
}

void chart_axis_set(struct chart *c, const struct chart_axis *a)
{
	chart_add(c, "set %crange [%.9g:%.9g]\n", a->letter, a->low, a->high);
	if (a->log) {
		chart_add(c, "set logscale %c 10\n", a->letter);
		log_tics(c, a);
	} else {
		chart_add(c, "set format %c '%%g'\n", a->letter);
	}
	chart_add(c, "set %clabel ", a->letter);
	chart_quote(c, a->name);
	chart_add(c, " offset 0,0.3\n");
}

double chart_axis_pixel(
	const struct chart *c, const struct chart_axis *a, const struct chart_place *p, double v)
{
	double share = a->log ? log(v / a->low) / log(a->high / a->low)
			      : (v - a->low) / (a->high - a->low);

	if (a->letter == 'x')
		return p->left + share * (CHART_WIDTH - p->left - p->right);
	return c->height - p->bottom - share * (c->height - p->top - p->bottom);
}

static void shade(struct chart *c, const struct chart_axis *a, double low, double high,
	const struct paint *paint)
{
	const struct span span = {.from_s = low, .until_s = high};

	if (a->letter == 'x') {
		chart_shade(c, &span, paint);
		return;
	}
	chart_add(c, "set object %d rectangle from graph 0, first %.9g to graph 1, first %.9g ",
		++c->tag, low, high);
	chart_fill(c, paint);
	chart_add(c, " behind\n");
}

/* Right of the plot, where no line runs. */
static void beside(struct chart *c, const struct chart_place *p, double y, const char *text)
{
	chart_label(c, CHART_WIDTH - p->right + 8, y, "left", 11, text);
}

static void mark(struct chart *c, const struct chart_axis *a, const struct chart_place *p)
{
	const struct stroke stroke = {"", "#555555", 1, "(2,3)"};
	double at = chart_axis_pixel(c, a, p, MARK_GBPS);
	bool across = a->letter == 'x';

	if (MARK_GBPS <= a->low || MARK_GBPS >= a->high)
		return;
	chart_add(c,
		across ? "set arrow %d from first %g, graph 0 to first %g, graph 1 nohead back "
		       : "set arrow %d from graph 0, first %g to graph 1, first %g nohead back ",
		++c->tag, MARK_GBPS, MARK_GBPS);
	chart_line(c, &stroke);
	chart_add(c, "\n");
	if (across)
		chart_label(c, at, p->top - 8, "right", 11, "0.84");
	else
		beside(c, p, at, "0.84 Gbit/s");
}

/* The longest name that fits above the band; at the picture's edge it moves inwards. */
static void name_above(
	struct chart *c, const struct chart_place *p, size_t band, double from, double to)
{
	const char *text = bands[band].whole;
	double half;

	if (chart_text_width(text) > to - from)
		text = bands[band].name;
	half = chart_text_width(text) / 2;
	chart_label(c, fmin((from + to) / 2, CHART_WIDTH - p->right - half), p->top - 8, "center",
		11, text);
}

void chart_bands(struct chart *c, const struct chart_axis *a, const struct chart_place *p)
{
	for (size_t i = 0; i < sizeof bands / sizeof *bands; i++) {
		double low = fmax(a->low, bands[i].low), high = fmin(a->high, bands[i].high);
		double from, to;

		if (low >= high)
			continue;
		shade(c, a, low, high, &bands[i].paint);
		from = chart_axis_pixel(c, a, p, low);
		to = chart_axis_pixel(c, a, p, high);
		if (a->letter == 'x') {
			name_above(c, p, i, from, to);
		} else {
			beside(c, p, (from + to) / 2 - 7, bands[i].name);
			beside(c, p, (from + to) / 2 + 7, bands[i].range);
		}
	}
	mark(c, a, p);
}
