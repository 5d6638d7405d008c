/*
 * Faults and outages on a time axis, the same in every chart that has one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "results/charts.h"

bool fault_is_on(const struct record_case *c, const struct record_fault *f, const char *site)
{
	if (!strcmp(f->target, site))
		return true;
	for (size_t i = 0; i < c->n_participants; i++) {
		const struct record_participant *p = &c->participants[i];

		if (!strcmp(p->name, f->target) && p->site && !strcmp(p->site, site))
			return true;
	}
	return false;
}

static bool fault_span(
	const struct chart_source *from, const struct record_fault *f, struct span *out)
{
	if (!(f->at_s >= 0) || f->at_s >= from->until_s)
		return false;
	out->from_s = f->at_s;
	out->until_s = fmin(from->until_s, f->at_s + (f->for_s >= 0 ? f->for_s : 0));
	return true;
}

static bool is_kind(const struct record_fault *f, const char *kind)
{
	return f->happened && (!kind || !strcmp(f->kind, kind));
}

void marks_legend(struct legend *l, const struct record_case *c, const char *kind)
{
	static const char *const kinds[] = {"crash", "blackout"};

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t i = 0; i < c->n_faults; i++)
			if (is_kind(&c->faults[i], kind) && !strcmp(c->faults[i].kind, kinds[k])) {
				legend_paint(l, paint_fault(kinds[k]), NULL);
				break;
			}
}

static void fault_text(char *out, size_t size, const struct record_fault *f)
{
	char length[32] = "";

	if (f->for_s >= 0)
		quantity_format(
			length, sizeof length, QUANTITY_TIME, llround(f->for_s * 1e9), false);
	snprintf(out, size, "%.20s%s%s", f->kind, *length ? " " : "", length);
}

void marks_draw(struct chart *chart, const struct chart_source *from, const char *kind,
	const char *site, double left_px, double free_px, double label_y)
{
	double px_per_s = (CHART_WIDTH - CHART_RIGHT - left_px) / from->until_s;

	for (size_t i = 0; i < from->c->n_faults; i++) {
		const struct record_fault *f = &from->c->faults[i];
		struct span span;
		char text[64];
		double x;

		if (!is_kind(f, kind) || (site && !fault_is_on(from->c, f, site)) ||
			!fault_span(from, f, &span))
			continue;
		chart_shade(chart, &span, paint_fault(f->kind));
		fault_text(text, sizeof text, f);
		x = left_px + span.from_s * px_per_s;
		if (x < free_px || x + chart_text_width(text) > CHART_WIDTH)
			continue;
		chart_label(chart, x, label_y, "left", 11, text);
		free_px = x + chart_text_width(text) + 8;
	}
}

static bool in_blackout(const struct chart_source *from, const char *site, const struct span *s)
{
	const double slack_s = .5; /* sampled now and then, and a trace's losses come later */

	for (size_t i = 0; i < from->c->n_faults; i++) {
		const struct record_fault *f = &from->c->faults[i];

		if (f->happened && !strcmp(f->kind, "blackout") && fault_is_on(from->c, f, site) &&
			s->from_s >= f->at_s - slack_s &&
			s->until_s <= f->at_s + f->for_s + slack_s)
			return true;
	}
	return false;
}

size_t marks_outages(
	const struct chart_source *from, const struct series_line *line, struct span **out)
{
	double pixel_s = from->until_s / CHART_WIDTH;
	struct span *spans = memory_zero(line->n_outages, sizeof *spans);
	size_t n = 0;

	for (size_t i = 0; i < line->n_outages; i++) {
		const struct span *s = &line->outages[i];

		if (in_blackout(from, line->site, s))
			continue;
		if (n && s->from_s - spans[n - 1].until_s < pixel_s)
			spans[n - 1].until_s = s->until_s;
		else
			spans[n++] = *s;
	}
	*out = spans;
	return n;
}
