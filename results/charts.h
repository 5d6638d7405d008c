/* The kinds of chart, for those who draw them and for the report that shows them. */
#pragma once

#include "results/chart_file.h"
#include "results/lanes.h"
#include "results/record.h"
#include "results/series.h"

/* What a chart of one case is drawn from; of all cases: c, series and lanes are NULL. */
struct chart_source {
	const char *dir; /* charts/ of the run folder */
	const struct record *record;
	const struct record_case *c;
	const struct series *series; /* NULL: nothing was sampled */
	const struct lanes *lanes;   /* NULL: no state was entered */
	double until_s;		     /* the end of the time axis, > 0 */
};

/* What a chart is of. */
enum chart_of { CHART_SITES, CHART_FLEET };

struct chart_kind {
	const char *stem; /* of its files; chart_stem() adds the case */
	const char *title;
	const char *reads; /* one sentence: how to read it */
	const char *empty; /* one sentence: why it is not there when it has no data */
	bool every_case;   /* one for each case, or one for the run */
	enum chart_of of;
	/* Draws it, or does nothing where it has no data. */
	int (*draw)(const struct chart_source *from, const char *stem, const char *title,
		struct error *err);
};

/* NULL past the end. */
const struct chart_kind *chart_kind_at(size_t i);

/* Is the chart one of such a run? */
bool chart_concerns(const struct chart_kind *kind, const struct record *record);

/* "wire", or "wire-2" for the second of several cases; the caller's to free. */
char *chart_stem(const struct chart_kind *kind, const struct record *record, size_t case_index);

int chart_wire(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_ledger(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_timeline(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_exchange(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_useful(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_goodput(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_shares(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_spread(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_link(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);
int chart_delay(
	const struct chart_source *from, const char *stem, const char *title, struct error *err);

/* Is this participant in the charts: a learner, or a syncer that was ever other than idle. */
bool chart_shows(const struct record_participant *p);

/* Does the fault concern this site: named by itself, or by a participant that is there. */
bool fault_is_on(const struct record_case *c, const struct record_fault *f, const char *site);

/*
 * Faults that happened, of this kind (NULL: any) and on this site (NULL: any): their looks into
 * the legend, their times behind the current plot, and a word above each where there is room for
 * it right of free_px, in the row at label_y. left_px: where the plot begins.
 */
void marks_legend(struct legend *l, const struct record_case *c, const char *kind);
void marks_draw(struct chart *chart, const struct chart_source *from, const char *kind,
	const char *site, double left_px, double free_px, double label_y);

/* The link's own outages, those within a blackout apart: merged where closer than a pixel. */
size_t marks_outages(
	const struct chart_source *from, const struct series_line *line, struct span **out);
