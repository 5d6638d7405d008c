/*
 * A recorded ping trace, played by the relay and measured by probes: are the round trips, the
 * outages and the loss the recording's? The recording is read here anew, not by the emulator's
 * own reader. NARROWLINK_TRACE names it (columns `relative` in seconds, `rtt` in ms); without it
 * there is nothing to do.
 *
 * Two pings run at once. One is sent when the recording's probes were, so that its round trips are
 * the recording's own sample: probe by probe, and in their quantiles. The other is sent evenly:
 * it meets each round trip as often as it lasted, whereas the file has the more rows of it the
 * closer the recording's probes were, and so it is held against quantiles weighted by time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "emu/measure/probes.h"
#include "tests/emu/relay/rig.h"

#define ROWS_MAX 100000
#define LOST_FROM_SPACINGS 1.75
#define OUTAGE_LEAST 8		   /* probes lost in a row */
#define START_NS (500 * NS_PER_MS) /* for the probes' processes to begin */
#define ON_TIME_S 1e-3
#define Z99 2.576

struct ping {
	double at_s, rtt_s; /* rtt: NaN for one that was lost */
};

struct pings {
	int n;
	struct ping ping[ROWS_MAX];
};

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

static void read_rows(const char *path, struct pings *out)
{
	FILE *f = fopen(path, "re");
	char line[256];
	double stamp;

	while (f && out->n < ROWS_MAX && fgets(line, sizeof line, f)) {
		struct ping *p = &out->ping[out->n];

		if (sscanf(line, "%lf,%lf,%lf", &stamp, &p->at_s, &p->rtt_s) == 3) {
			p->rtt_s /= 1e3;
			out->n++;
		}
	}
	if (f)
		fclose(f);
	if (out->n < 100)
		stop("NARROWLINK_TRACE: less than 100 rows");
}

static double spacing(const struct pings *p)
{
	double *gaps = memory_zero((size_t)p->n, sizeof *gaps), median;

	for (int i = 1; i < p->n; i++)
		gaps[i - 1] = p->ping[i].at_s - p->ping[i - 1].at_s;
	median = stats_quantile(gaps, (size_t)p->n - 1, .5);
	free(gaps);
	return median;
}

/* Mean distance of the gaps from their median. */
static double unevenness(const struct pings *p)
{
	double gap = spacing(p), sum = 0;

	for (int i = 1; i < p->n; i++)
		sum += fmin(fabs(p->ping[i].at_s - p->ping[i - 1].at_s - gap), gap);
	return sum / (p->n - 1);
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct ping *)a)->at_s, y = ((const struct ping *)b)->at_s;

	return (x > y) - (x < y);
}

/* Times at which probes were sent, where the file has those at which their answers came. */
static void to_sent(struct pings *p)
{
	struct pings *sent = memory_zero(1, sizeof *sent);

	sent->n = p->n;
	for (int i = 0; i < p->n; i++)
		sent->ping[i] = (struct ping){p->ping[i].at_s - p->ping[i].rtt_s, p->ping[i].rtt_s};
	qsort(sent->ping, (size_t)sent->n, sizeof *sent->ping, by_time);
	if (unevenness(sent) < unevenness(p))
		*p = *sent;
	for (int i = p->n - 1; i >= 0; i--)
		p->ping[i].at_s -= p->ping[0].at_s;
	free(sent);
}

/* With the lost ones, evenly where they are missing. */
static void fill_in(const struct pings *heard, double gap_s, struct pings *out)
{
	for (int i = 0; i < heard->n && out->n < ROWS_MAX; i++) {
		const struct ping *p = &heard->ping[i];
		double gap = i ? p->at_s - p[-1].at_s : 0;
		int lost = gap < LOST_FROM_SPACINGS * gap_s ? 0 : (int)round(gap / gap_s) - 1;

		for (int k = 1; k <= lost && out->n < ROWS_MAX - 1; k++)
			out->ping[out->n++] = (struct ping){p[-1].at_s + gap * k / (lost + 1), NAN};
		out->ping[out->n++] = *p;
	}
}

static void evenly(double until_s, double gap_s, struct pings *out)
{
	for (; out->n < ROWS_MAX && out->n * gap_s < until_s; out->n++)
		out->ping[out->n] = (struct ping){out->n * gap_s, NAN};
}

/* Quantile of the round trips that there were. */
static double quantile(const struct pings *p, double q)
{
	double *rtt = memory_zero((size_t)p->n, sizeof *rtt), value;
	size_t heard = 0;

	for (int i = 0; i < p->n; i++)
		if (!isnan(p->ping[i].rtt_s))
			rtt[heard++] = p->ping[i].rtt_s;
	value = stats_quantile(rtt, heard, q);
	free(rtt);
	return value;
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

static double real_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void begin_probes(struct probes *probes, const struct rig *rig, int port, int64_t t0_ns,
	const struct pings *p)
{
	int64_t *at_ns =
		memory_zero((size_t)p->n, sizeof *at_ns); /* the processes' as long as they run */
	struct probe_spec spec = {
		.from = 0, .to = 1, .port = port, .n = p->n, .patience_ns = NS_PER_S};
	struct error err = {0};

	for (int i = 0; i < p->n; i++)
		at_ns[i] = t0_ns + (int64_t)(p->ping[i].at_s * 1e9);
	spec.at_ns = at_ns;
	if (probes_start(probes, rig->topology, &spec, &err) < 0)
		stop(err.text);
}

/* When each was really sent, and its round trip. */
static void end_probes(struct probes *probes, double t0_s, struct pings *out)
{
	struct error err = {0};

	if (probes_finish(probes, &err) < 0)
		stop(err.text);
	out->n = probes->spec.n;
	for (int i = 0; i < out->n; i++) {
		int64_t rtt_ns = probe_delay_ns(&probes->times[i], WAY_ROUND);

		out->ping[i].at_s = (double)probes->times[i].sent_ns / 1e9 - t0_s;
		out->ping[i].rtt_s = rtt_ns < 0 ? NAN : (double)rtt_ns / 1e9;
	}
	probes_free(probes);
}

static void play(const char *path, const struct pings sent[2], struct pings measured[2])
{
	struct link_trace *trace = NULL;
	struct error err = {0};
	struct probes probes[2];
	struct rig rig;
	int64_t t0_ns;
	double t0_s;

	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 1000000000});
	if (link_trace_load(&trace, path, &err) < 0)
		stop(err.text);
	rig.plan->links[0][UP].trace = rig.plan->links[0][DOWN].trace = trace;
	rig_up(&rig, "", 0);
	t0_ns = clock_now_ns() + START_NS;
	t0_s = real_now_s() + (double)START_NS / NS_PER_S;
	backend_relay.start(rig.run, t0_ns);
	for (int i = 0; i < 2; i++)
		begin_probes(&probes[i], &rig, 5311 + i, t0_ns, &sent[i]);
	for (int i = 0; i < 2; i++)
		end_probes(&probes[i], t0_s, &measured[i]);
	rig_down(&rig);
	link_trace_free(trace);
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

static int count_lost(const struct pings *p)
{
	int lost = 0;

	for (int i = 0; i < p->n; i++)
		lost += isnan(p->ping[i].rtt_s);
	return lost;
}

static void compare_loss(
	const char *ping, const struct pings *recorded, const struct pings *measured)
{
	double low, high;
	char what[80];

	stats_wilson((uint64_t)count_lost(recorded), (uint64_t)recorded->n, Z99, &low, &high);
	snprintf(what, sizeof what, "%s: lost, in the recording's 99 %% interval", ping);
	row(what, 100. * count_lost(measured) / measured->n, 100 * low, 100 * high, "%");
}

static const double quantiles[] = {.5, .95, .99};

static void compare_quantiles(
	const char *ping, const struct pings *measured, const double want_s[3])
{
	char what[80];

	for (int i = 0; i < 3; i++) {
		snprintf(what, sizeof what, "%s: round trip, quantile %g", ping, quantiles[i]);
		row(what, 1e3 * quantile(measured, quantiles[i]), 1e3 * want_s[i] - 2,
			1e3 * want_s[i] + 2, "ms");
	}
}

/*
 * Probe by probe: those heard in the recording that were sent at their time, which a busy machine
 * does not always manage, and whose answers came.
 */
static void compare_probes(const struct pings *recorded, const struct pings *measured)
{
	struct pings *was = memory_zero(1, sizeof *was), *is = memory_zero(1, sizeof *is);
	struct pings *off = memory_zero(1, sizeof *off);
	int heard = 0, on_time = 0;
	double want_s[3];

	for (int i = 0; i < recorded->n; i++) {
		const struct ping *r = &recorded->ping[i], *m = &measured->ping[i];

		heard += !isnan(r->rtt_s);
		if (isnan(r->rtt_s) || fabs(m->at_s - r->at_s) > ON_TIME_S)
			continue;
		on_time++;
		if (isnan(m->rtt_s))
			continue;
		was->ping[was->n++] = *r;
		is->ping[is->n++] = *m;
		off->ping[off->n++].rtt_s = fabs(r->rtt_s - m->rtt_s);
	}
	row("as recorded: sent within 1 ms of their time", 100. * on_time / heard, 90, 100, "%");
	row("as recorded: of these lost", on_time - is->n, 0, 0, "");
	for (int i = 0; i < 3; i++)
		want_s[i] = quantile(was, quantiles[i]);
	compare_quantiles("as recorded", is, want_s);
	row("as recorded: each one's difference, quantile 0.99", 1e3 * quantile(off, .99), 0, 2,
		"ms");
	free(was);
	free(is);
	free(off);
}

int main(void)
{
	static struct pings heard, sent[2], measured[2];
	const char *path = getenv("NARROWLINK_TRACE");
	double gap_s, in_time[3];

	if (!path)
		return 77;
	read_rows(path, &heard);
	to_sent(&heard);
	gap_s = spacing(&heard);
	fill_in(&heard, gap_s, &sent[0]);
	evenly(heard.ping[heard.n - 1].at_s, gap_s, &sent[1]);
	play(path, sent, measured);
	for (int i = 0; i < 3; i++)
		in_time[i] = quantile_in_time(&heard, gap_s, quantiles[i]);
	compare_probes(&sent[0], &measured[0]);
	compare_outages("as recorded", &sent[0], &measured[0], gap_s);
	compare_loss("as recorded", &sent[0], &measured[0]);
	compare_quantiles("evenly", &measured[1], in_time);
	compare_outages("evenly", &sent[0], &measured[1], gap_s);
	compare_loss("evenly", &sent[0], &measured[1]);
	return fails > 0;
}
