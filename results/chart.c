/*
 * All charts of a run folder; see report.h. A chart that fails does not keep the others from
 * being drawn.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "results/charts.h"
#include "results/report.h"

#define BINS_MAX 600	/* not much wider than a pixel */
#define SPANS_MAX 24000 /* in all lanes of a timeline together */

static const struct chart_kind kinds[] = {
	{"useful", "Useful work",
		"The share of all accelerator time that went into steps that were merged, or "
		"were still to be merged at the end and not lost.",
		"No case got far enough to have done any work.", false, CHART_SITES, chart_useful},
	{"ledger", "Where the time went",
		"One bar per participant; its parts are its states, and sum to "
		"its whole time. What was computed and not yet merged when the run ended is apart.",
		"No participant's time was recorded.", true, CHART_SITES, chart_ledger},
	{"timeline", "What each participant did when",
		"One lane per participant; a tall bar is work, a "
		"low one waiting, a thin line nothing to do. Bars under a lane are faults. The "
		"warm-up is shown as well; no number counts it.",
		"No participant entered a state.", true, CHART_SITES, chart_timeline},
	{"wire", "Rate on the wire per site",
		"What each site's link carried in both directions, Ethernet "
		"frames included, against what it can.",
		"The links were not sampled.", true, CHART_SITES, chart_wire},
	{"exchange", "How long exchanges took",
		"The share of exchanges that were done within a time. "
		"\"Predicted\" is the formula's time for an idle link without loss.",
		"No exchange finished, so there are no times to show.", true, CHART_SITES,
		chart_exchange},
	{"delay", "The link's delay over time",
		"What the link's profile or its recording did: one-way "
		"delay, and the times at which nothing passed.",
		NULL, true, CHART_SITES, chart_delay},
	{"link", "The idle link, as probes found it before the run",
		"One-way delays between the first two sites over time, and the share of them "
		"within "
		"a delay, against what was asked.",
		NULL, true, CHART_SITES, chart_link},
	{"goodput", "Goodput against the number of chips",
		"Mean over the seeds; the bars reach from the 5th to the 95th percentile of the "
		"seeds, and are often too small to see.",
		NULL, false, CHART_FLEET, chart_goodput},
	{"shares", "Where the chips' time went",
		"One bar per case, the time of all its chips; mean over the seeds.",
		"No case got as far as the end of its first run.", false, CHART_FLEET,
		chart_shares},
	{"spread", "How much the seeds differ",
		"The share of seeds up to a goodput. The seeds are runs of the same fleet; the "
		"shaded interval is where their mean is known to be.",
		"There is one seed only, or none.", true, CHART_FLEET, chart_spread},
};

bool chart_concerns(const struct chart_kind *kind, const struct record *record)
{
	return kind->of == (record_is_fleet(record) ? CHART_FLEET : CHART_SITES);
}

const struct chart_kind *chart_kind_at(size_t i)
{
	return i < sizeof kinds / sizeof *kinds ? &kinds[i] : NULL;
}

char *chart_stem(const struct chart_kind *kind, const struct record *record, size_t case_index)
{
	if (!kind->every_case || record->n_cases == 1)
		return memory_string(kind->stem);
	return memory_format("%s-%zu", kind->stem, case_index + 1);
}

/* What an earlier drawing left: a chart for which there are no data any more is gone. */
static void remove_old(const char *dir, const char *stem)
{
	static const char *const ends[] = {"svg", "gp", "dat"};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		_free_ char *path = memory_format("%s/%s.%s", dir, stem, ends[i]);

		unlink(path);
	}
}

static void draw(const struct chart_kind *kind, const struct chart_source *from, size_t index,
	struct error *err)
{
	bool named = kind->every_case && *from->c->name;
	_free_ char *stem = chart_stem(kind, from->record, index);
	_free_ char *title = named ? memory_format("%s: %s", kind->title, from->c->name)
				   : memory_string(kind->title);

	remove_old(from->dir, stem);
	kind->draw(from, stem, title, err);
}

/* The last time that a case's tables can speak of: a tick may come late, a cell may be damaged. */
static double latest_s(const struct record_case *c)
{
	return c->wall_s >= 0 ? 1.1 * c->wall_s + 1 : INFINITY;
}

static void draw_case(const char *folder, const char *dir, const struct record *record,
	size_t index, struct error *err)
{
	struct series *series =
		series_load(folder, (int)index, BINS_MAX, latest_s(record->cases[index]));
	struct lanes *lanes = lanes_load(folder, (int)index, latest_s(record->cases[index]));
	struct chart_source from = {.dir = dir,
		.record = record,
		.c = record->cases[index],
		.series = series,
		.lanes = lanes};

	from.until_s = fmax(series ? series->until_s : 0, lanes ? lanes->until_s : 0);
	if (lanes) {
		lanes_end(lanes, from.until_s);
		lanes_merge(lanes, SPANS_MAX / (int)lanes->n_lanes + 1);
	}
	if (!(from.until_s > 0))
		from.until_s = 1;
	for (size_t i = 0; chart_kind_at(i); i++)
		if (chart_kind_at(i)->every_case && chart_concerns(chart_kind_at(i), record))
			draw(chart_kind_at(i), &from, index, err);
	series_free(series);
	lanes_free(lanes);
}

int chart_all(const char *folder, const struct record *record, struct error *err)
{
	_free_ char *dir = memory_format("%s/charts", folder);
	struct chart_source all = {.dir = dir, .record = record};
	struct error first = {0};

	if (mkdir(dir, 0777) && errno != EEXIST)
		return error_sys(err, -errno, "cannot create %s", dir);
	for (size_t i = 0; chart_kind_at(i); i++)
		if (!chart_kind_at(i)->every_case && chart_concerns(chart_kind_at(i), record))
			draw(chart_kind_at(i), &all, 0, &first);
	for (size_t i = 0; i < record->n_cases; i++)
		draw_case(folder, dir, record, i, &first);
	if (first.status == STATUS_HOLDS)
		return 0;
	return error_set(err, -EIO, first.status, "%s", first.text);
}
