/*
 * Samples into bins; see series.h. A sample tells of the time since its direction's sample before
 * it and is laid over the bins by how much of that time is theirs, so that a late tick neither
 * leaves a hole nor makes a peak. The table is read twice: once for how long the case lasted.
 */
#include "results/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/csv.h"

struct columns {
	int case_index, t, site, direction, rate, limit, delay, down;
};

struct cursor { /* per line, while reading */
	double last_s;
	bool down;
	double *rate_weight, *limit_weight;
};

static struct columns find_columns(const struct csv *csv)
{
	return (struct columns){
		.case_index = csv_column(csv, "case"),
		.t = csv_column(csv, "t_s"),
		.site = csv_column(csv, "site"),
		.direction = csv_column(csv, "direction"),
		.rate = csv_column(csv, "wire_bps"),
		.limit = csv_column(csv, "limit_bps"),
		.delay = csv_column(csv, "delay_s"),
		.down = csv_column(csv, "down"),
	};
}

/* Rows come round by round, so the line after the last one found is looked at first. */
static struct series_line *line_of(struct series *s, const char *site, bool up, bool add)
{
	struct series_line *line;

	for (size_t k = 0; k < s->n_lines; k++) {
		size_t i = (s->expected + k) % s->n_lines;

		if (s->lines[i].up == up && !strcmp(s->lines[i].site, site)) {
			s->expected = i + 1;
			return &s->lines[i];
		}
	}
	if (!add)
		return NULL;
	s->lines = memory_resize(s->lines, s->n_lines + 1, sizeof *s->lines);
	line = &s->lines[s->n_lines++];
	*line = (struct series_line){.site = memory_string(site), .up = up};
	return line;
}

static bool is_row_of(struct csv *csv, const struct columns *c, int case_index, double latest_s)
{
	double t = csv_number(csv, c->t);

	return csv_number(csv, c->case_index) == case_index && t >= 0 && t <= latest_s;
}

/* First reading: which directions, until when, how many rows of one. Returns where they begin. */
static off_t survey(struct csv *csv, const struct columns *c, int case_index, double latest_s,
	struct series *s, size_t *rows)
{
	off_t first = -1;
	size_t all = 0;

	while (csv_next(csv)) {
		if (!is_row_of(csv, c, case_index, latest_s))
			continue;
		if (first < 0)
			first = csv_row_offset(csv);
		line_of(s, csv_text(csv, c->site), !strcmp(csv_text(csv, c->direction), "up"),
			true);
		s->until_s = fmax(s->until_s, csv_number(csv, c->t));
		all++;
	}
	*rows = s->n_lines ? all / s->n_lines : 0;
	return first;
}

static double *unknown(int n)
{
	double *d = memory_zero((size_t)n, sizeof *d);

	for (int i = 0; i < n; i++)
		d[i] = NAN;
	return d;
}

static void prepare(struct series *s, struct cursor *cursors)
{
	for (size_t i = 0; i < s->n_lines; i++) {
		struct series_line *line = &s->lines[i];

		line->rate_bps = memory_zero((size_t)s->bins, sizeof(double));
		line->limit_bps = memory_zero((size_t)s->bins, sizeof(double));
		line->delay_low_s = unknown(s->bins);
		line->delay_high_s = unknown(s->bins);
		cursors[i].rate_weight = memory_zero((size_t)s->bins, sizeof(double));
		cursors[i].limit_weight = memory_zero((size_t)s->bins, sizeof(double));
	}
}

static void weigh(double *sum, double *weight, double value, double share)
{
	if (isnan(value))
		return;
	*sum += value * share;
	*weight += share;
}

static void lay(const struct series *s, struct series_line *line, struct cursor *cursor,
	double until_s, double rate, double limit, double delay)
{
	double bin_s = s->until_s / s->bins;
	int bin = (int)(cursor->last_s / bin_s);

	for (; bin < s->bins && bin * bin_s < until_s; bin++) {
		double from = fmax(cursor->last_s, bin * bin_s);
		double share = fmin(until_s, (bin + 1) * bin_s) - from;

		if (share <= 0)
			continue;
		weigh(&line->rate_bps[bin], &cursor->rate_weight[bin], rate, share);
		weigh(&line->limit_bps[bin], &cursor->limit_weight[bin], limit, share);
		line->delay_low_s[bin] = fmin(line->delay_low_s[bin], delay);
		line->delay_high_s[bin] = fmax(line->delay_high_s[bin], delay);
	}
}

/* An outage begins at its first sample that says so and ends at the next that does not. */
static void note_outage(struct series_line *line, struct cursor *cursor, double t_s, bool down)
{
	if (down && !cursor->down) {
		line->outages =
			memory_resize(line->outages, line->n_outages + 1, sizeof *line->outages);
		line->outages[line->n_outages++] = (struct span){t_s, t_s};
	}
	if (cursor->down)
		line->outages[line->n_outages - 1].until_s = t_s;
	cursor->down = down;
}

static void fill(struct csv *csv, const struct columns *c, int case_index, struct series *s,
	struct cursor *cursors)
{
	while (csv_next(csv)) {
		bool up = !strcmp(csv_text(csv, c->direction), "up");
		double t = csv_number(csv, c->t);
		struct series_line *line;
		struct cursor *cursor;

		if (!is_row_of(csv, c, case_index, s->until_s))
			continue;
		line = line_of(s, csv_text(csv, c->site), up, false);
		if (!line)
			continue; /* the table grew between the readings */
		cursor = &cursors[line - s->lines];
		lay(s, line, cursor, t, csv_number(csv, c->rate), csv_number(csv, c->limit),
			csv_number(csv, c->delay));
		note_outage(line, cursor, t, csv_number(csv, c->down) == 1);
		cursor->last_s = fmax(cursor->last_s, t);
	}
}

/* Sums to means. */
static void finish(struct series *s, struct cursor *cursors)
{
	for (size_t i = 0; i < s->n_lines; i++) {
		for (int bin = 0; bin < s->bins; bin++) {
			s->lines[i].rate_bps[bin] /= cursors[i].rate_weight[bin];
			s->lines[i].limit_bps[bin] /= cursors[i].limit_weight[bin];
		}
		free(cursors[i].rate_weight);
		free(cursors[i].limit_weight);
	}
}

struct series *series_load(const char *folder, int case_index, int bins_max, double latest_s)
{
	struct csv *csv = csv_open(folder, "samples.csv");
	struct series *s = memory_zero(1, sizeof *s);
	_free_ struct cursor *cursors = NULL;
	struct columns c;
	off_t first = -1;
	size_t rows = 0;

	if (csv) {
		c = find_columns(csv);
		first = survey(csv, &c, case_index, latest_s, s, &rows);
	}
	if (first < 0 || s->until_s <= 0) {
		csv_close(csv);
		return series_free(s);
	}
	s->bins = rows < (size_t)bins_max ? (int)(rows ? rows : 1) : bins_max;
	cursors = memory_zero(s->n_lines, sizeof *cursors);
	prepare(s, cursors);
	csv_seek(csv, first);
	fill(csv, &c, case_index, s, cursors);
	finish(s, cursors);
	csv_close(csv);
	return s;
}

struct series *series_free(struct series *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_lines; i++) {
		free(s->lines[i].site);
		free(s->lines[i].rate_bps);
		free(s->lines[i].limit_bps);
		free(s->lines[i].delay_low_s);
		free(s->lines[i].delay_high_s);
		free(s->lines[i].outages);
	}
	free(s->lines);
	free(s);
	return NULL;
}
