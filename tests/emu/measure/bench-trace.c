/*
 * A recorded ping trace, played by the relay and measured by probes: are the round trips, the
 * outages and the loss the recording's? NARROWLINK_TRACE names it (columns `relative` in seconds,
 * `rtt` in ms); without it there is nothing to do.
 *
 * Two pings run at once. One is sent when the recording's probes were, lost ones included, so that
 * its round trips are the recording's own sample: pair by pair, and in their quantiles. A quantile
 * may lie on a cliff, where two probes more or less on either side make it another: it is the same
 * of the same probes only. One that was sent late has its pair in what the recording was then. The
 * other is sent evenly: it meets each round trip as often as it lasted, whereas the file has the
 * more rows of it the closer the recording's probes were, and so it is held against quantiles
 * weighted by time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"
#include "tests/emu/measure/recording.h"

#define LOST_FROM_SPACINGS 1.75
#define OUTAGE_LEAST 8 /* probes lost in a row */
#define ON_TIME_S 1e-3
#define Z99 2.576

static int fails;

static void row(const char *what, double got, double low, double high, const char *unit)
{
	bool ok = got >= low && got <= high;

	printf("%-52s %10.5g  %.5g to %.5g %s%s\n", what, got, low, high, unit,
		ok ? "" : "   NOT REACHED");
	fails += !ok;
}

static void stop(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static void evenly(double until_s, double gap_s, struct pings *out)
{
	for (; out->n < ROWS_MAX && out->n * gap_s < until_s; out->n++)
		out->ping[out->n] = (struct ping){out->n * gap_s, NAN};
}

static int by_rtt(const void *a, const void *b)
{
	double x = ((const struct ping *)a)->rtt_s, y = ((const struct ping *)b)->rtt_s;

	return (x > y) - (x < y);
}

/* The same, each heard one with the time until the next as its weight, outages left out. */
static double quantile_in_time(const struct pings *p, double gap_s, double q)
{
	struct ping *w = memory_zero((size_t)p->n, sizeof *w); /* at_s: the weight */
	double all = 0, sum = 0, value = NAN;

	for (int i = 0; i + 1 < p->n; i++) {
		double gap = p->ping[i + 1].at_s - p->ping[i].at_s;

		w[i] = (struct ping){
			gap < LOST_FROM_SPACINGS * gap_s ? gap : gap_s, p->ping[i].rtt_s};
		all += w[i].at_s;
	}
	qsort(w, (size_t)p->n - 1, sizeof *w, by_rtt);
	for (int i = 0; i + 1 < p->n && sum <= q * all; i++) {
		sum += w[i].at_s;
		value = w[i].rtt_s;
	}
	free(w);
	return value;
}

struct outage {
	double from_s, until_s;
};

/* At least `least` probes lost in a row; from half a spacing after the one heard before. */
static int outages(const struct pings *p, double gap_s, int least, struct outage *out, int room)
{
	int found = 0, lost = 0;

	for (int i = 0; i < p->n; i++) {
		const struct ping *here = &p->ping[i];

		if (isnan(here->rtt_s)) {
			lost++;
			continue;
		}
		if (lost >= least && lost < i && found < room)
			out[found++] = (struct outage){
				here[-lost - 1].at_s + gap_s / 2, here->at_s - gap_s / 2};
		lost = 0;
	}
	return found;
}

static void compare_outages(
	const char *ping, const struct pings *recorded, const struct pings *measured, double gap_s)
{
	struct outage asked[256], got[256];
	int k = outages(recorded, gap_s, OUTAGE_LEAST, asked, 256), other = 0, missed = 0;
	int found = outages(measured, gap_s, OUTAGE_LEAST / 2, got, 256);
	double worst = 0;
	char what[80];

	for (int i = 0; i < k; i++) {
		double nearest = INFINITY;

		for (int j = 0; j < found; j++)
			nearest = fmin(nearest, fmax(fabs(got[j].from_s - asked[i].from_s),
							fabs(got[j].until_s - asked[i].until_s)));
		missed += nearest > .1;
		worst = fmax(worst, nearest);
	}
	other = found - (k - missed);
	snprintf(what, sizeof what, "%s: outages of the recording found, of %d", ping, k);
	row(what, k - missed, k, k, "");
	snprintf(what, sizeof what, "%s: others", ping);
	row(what, other, 0, 0, "");
	snprintf(what, sizeof what, "%s: their beginnings and ends, worst", ping);
	row(what, 1e3 * worst, 0, 20, "ms");
}

static void compare_loss(
	const char *ping, const struct pings *recorded, const struct pings *measured)
{
	double low, high;
	char what[80];

	stats_wilson((uint64_t)pings_lost(recorded), (uint64_t)recorded->n, Z99, &low, &high);
	snprintf(what, sizeof what, "%s: lost, in the recording's 99 %% interval", ping);
	row(what, 100. * pings_lost(measured) / measured->n, 100 * low, 100 * high, "%");
}

static const double quantiles[] = {.5, .95, .99};

static void compare_quantiles(
	const char *ping, const struct pings *measured, const double want_s[3])
{
	char what[80];

	for (int i = 0; i < 3; i++) {
		snprintf(what, sizeof what, "%s: round trip, quantile %g", ping, quantiles[i]);
		row(what, 1e3 * pings_quantile(measured, quantiles[i]), 1e3 * want_s[i] - 2,
			1e3 * want_s[i] + 2, "ms");
	}
}

/*
 * Pair by pair: each probe, and the recording at the moment at which it was sent. Quantiles: of
 * those sent on time, against the same rows; and of all, against all rows.
 */
static void compare_probes(
	const struct pings *heard, const struct pings *recorded, const struct pings *measured)
{
	struct pings *was = memory_zero(1, sizeof *was), *is = memory_zero(1, sizeof *is);
	struct pings *off = memory_zero(1, sizeof *off);
	int on_time = 0, otherwise = 0;
	double want_s[3], own_s[3];

	for (int i = 0; i < recorded->n; i++) {
		const struct ping *r = &recorded->ping[i], *m = &measured->ping[i];
		bool late = fabs(m->at_s - r->at_s) > ON_TIME_S;
		double then_s = recording_rtt(heard, m->at_s);

		on_time += !late;
		otherwise += !late && isnan(r->rtt_s) != isnan(m->rtt_s);
		if (isnan(m->rtt_s) || isnan(r->rtt_s))
			continue;
		off->ping[off->n++].rtt_s = fabs(then_s - m->rtt_s);
		if (late)
			continue;
		was->ping[was->n++] = *r;
		is->ping[is->n++] = *m;
	}
	row("as recorded: sent within 1 ms of their time", 100. * on_time / recorded->n, 90, 100,
		"%");
	row("as recorded: of these heard or lost against it", otherwise, 0, 0, "");
	for (int i = 0; i < 3; i++) {
		want_s[i] = pings_quantile(was, quantiles[i]);
		own_s[i] = pings_quantile(recorded, quantiles[i]);
	}
	compare_quantiles("as recorded, on time", is, want_s);
	compare_quantiles("as recorded, all rows", measured, own_s);
	row("as recorded: each one's difference, quantile 0.99", 1e3 * pings_quantile(off, .99), 0,
		2, "ms");
	free(was);
	free(is);
	free(off);
}

int main(void)
{
	static struct pings heard, sent[2], measured[2];
	const char *path = getenv("NARROWLINK_TRACE");
	struct player player;
	double gap_s, in_time[3];

	if (!path)
		return 77;
	if (recording_read(path, &heard) < 0)
		stop("NARROWLINK_TRACE: less than 100 rows");
	gap_s = pings_spacing(&heard);
	recording_fill(&heard, gap_s, &sent[0]);
	evenly(heard.ping[heard.n - 1].at_s, gap_s, &sent[1]);
	player_up(&player, path, 1);
	for (int i = 0; i < 2; i++)
		player_ping(&player, &sent[i]);
	for (int i = 0; i < 2; i++)
		player_result(&player, i, &measured[i]);
	player_down(&player);
	for (int i = 0; i < 3; i++)
		in_time[i] = quantile_in_time(&heard, gap_s, quantiles[i]);
	compare_probes(&heard, &sent[0], &measured[0]);
	compare_outages("as recorded", &sent[0], &measured[0], gap_s);
	compare_loss("as recorded", &sent[0], &measured[0]);
	compare_quantiles("evenly", &measured[1], in_time);
	compare_outages("evenly", &sent[0], &measured[1], gap_s);
	compare_loss("evenly", &sent[0], &measured[1]);
	return fails > 0;
}
