/* What is captured in a case, and what is written of it; see case_capture.h. */
#include "bench/case_capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"

#define DELAYS_MAX 20000
#define SETTLE_NS (200 * NS_PER_MS) /* for what is under way when the agents are gone */

static char *capture_dir(const struct observation *o)
{
	const char *folder = folder_path(o->folder);

	return o->case_index ? memory_format("%s/capture-%d", folder, o->case_index + 1)
			     : memory_format("%s/capture", folder);
}

static void fill_spec(struct capture_spec *spec, const struct scenario *s, const char *dir)
{
	*spec = (struct capture_spec){.dir = dir,
		.snaplen = (int)s->capture.snaplen_bytes,
		.limit_bytes = s->capture.limit_bytes,
		.dilation = s->dilation};
	memcpy(spec->sites, s->capture.sites, sizeof spec->sites);
	for (int i = 0; i < s->n_sites; i++)
		for (int d = 0; d < DIRECTIONS; d++)
			spec->overhead[i][d] =
				s->links[s->sites[i].link].direction[d].overhead_bytes;
}

void case_capture_begin(struct capture **out, struct record_case *c, const struct observation *o,
	const struct topology *t)
{
	struct capture_spec spec;
	struct error err = {0};
	_free_ char *dir = NULL;

	*out = NULL;
	if (!o->scenario->capture.limit_bytes || !o->folder)
		return;
	dir = capture_dir(o);
	fill_spec(&spec, o->scenario, dir);
	if (mkdir(dir, 0777) < 0)
		error_sys(&err, -errno, "cannot create %s", dir);
	else
		capture_start(out, t, &spec, &err);
	if (!*out)
		record_note(c, "no packets were captured: %s", err.text);
}

/* What the other end of the device counted: all that came up, all that was delivered down. */
static double counted(const struct observation *o, int site, enum direction d)
{
	struct link_stats stats;

	o->stats(o->links, site, d, &stats);
	return (double)(d == UP ? stats.bytes : stats.delivered_bytes);
}

static void record_direction(struct record_case *c, const struct observation *o,
	const struct capture_counts *counts, int site, enum direction d)
{
	struct record_capture *k =
		record_add_capture(c, o->scenario->sites[site].name, direction_name(d));

	k->bytes = (double)atomic_load(&counts->wire_bytes);
	k->relay_bytes = counted(o, site, d);
	k->packets = (double)atomic_load(&counts->packets);
	k->kept_packets = (double)counts->kept_packets;
	k->kernel_drops = (double)counts->kernel_drops;
	k->complete = counts->ended && !counts->kernel_drops && !counts->full;
}

static void write_rates(FILE *f, const struct capture_counts *counts, const char *site,
	enum direction d, double until_s)
{
	const double bin_s = (double)CAPTURE_BIN_NS / NS_PER_S;

	for (int i = 0; i < CAPTURE_BINS && (i + 1) * bin_s <= until_s; i++)
		fprintf(f, "%.1f,%s,%s,%.0f\n", (i + 1) * bin_s, site, direction_name(d),
			(double)counts->bin_bytes[i] * 8 / bin_s);
}

static void write_delays(FILE *f, const struct scenario *s, const struct capture *capture)
{
	_free_ struct capture_delay *delays = memory_zero(DELAYS_MAX, sizeof *delays);

	for (int i = 0; i < s->n_sites; i++)
		for (int j = 0; j < s->n_sites; j++) {
			size_t n = capture_delays(capture, i, j, delays, DELAYS_MAX);

			for (size_t k = 0; k < n; k++)
				fprintf(f, "%.6f,%s,%s,%.9f\n", delays[k].at_s, s->sites[i].name,
					s->sites[j].name, delays[k].delay_s);
		}
}

static FILE *create(const char *dir, const char *name, const char *head)
{
	_free_ char *path = memory_format("%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	if (f)
		fputs(head, f);
	return f;
}

static void write_tables(const struct observation *o, const struct capture *capture, double until_s)
{
	_free_ char *dir = capture_dir(o);
	_fclose_ FILE *rates = create(dir, "rates.csv", "t_s,site,direction,wire_bps\n");
	_fclose_ FILE *delays = create(dir, "delays.csv", "t_s,from,to,delay_s\n");
	const struct scenario *s = o->scenario;

	for (int i = 0; rates && i < s->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			if (capture_counts(capture, i, d))
				write_rates(rates, capture_counts(capture, i, d), s->sites[i].name,
					d, until_s);
	if (delays)
		write_delays(delays, s, capture);
}

void case_capture_end(struct record_case *c, const struct observation *o, struct capture *capture)
{
	struct error err = {0};

	if (!capture)
		return;
	nanosleep(&(struct timespec){0, SETTLE_NS}, NULL);
	if (capture_finish(capture, &err) < 0) {
		record_note(c, "the capture failed: %s", err.text);
		return;
	}
	for (int i = 0; i < o->scenario->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			if (capture_counts(capture, i, d))
				record_direction(c, o, capture_counts(capture, i, d), i, d);
	for (size_t i = 0; i < c->n_captures; i++)
		if (!c->captures[i].complete)
			record_note(c, "the capture of %s %s is incomplete: %s",
				c->captures[i].site, c->captures[i].direction,
				c->captures[i].kernel_drops > 0 ? "the kernel dropped packets"
								: "its limit was reached");
	write_tables(o, capture, (double)o->last_tick_ns / NS_PER_S);
}
