/*
 * A recorded ping trace, played by the relay and measured by probes: are the round trips, the
 * outages and the loss the recording's? The recording is read here anew, not by the emulator's
 * own reader. NARROWLINK_TRACE names it (columns `relative` in seconds, `rtt` in ms); without it
 * there is nothing to do.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/stats.h"
#include "emu/measure/probes.h"
#include "tests/emu/relay/rig.h"

#define ROWS_MAX 100000
#define LOST_LEAST 10 /* in a row: an outage */

struct ping {
	double at_s, rtt_s; /* rtt: NaN for one that was lost */
};

static struct ping recorded[ROWS_MAX], measured[ROWS_MAX];

static int fails;

static void row(const char *what, double got, double low, double high, const char *unit)
{
	bool ok = got >= low && got <= high;

	printf("%-44s %10.4g  %.4g to %.4g %s%s\n", what, got, low, high, unit,
		ok ? "" : "   NOT REACHED");
	fails += !ok;
}

/* Rows as they are; the missing ones are put in afterwards. Returns how many. */
static int read_rows(const char *path, struct ping *out)
{
	FILE *f = fopen(path, "re");
	char line[256];
	double stamp;
	int n = 0;

	while (f && n < ROWS_MAX && fgets(line, sizeof line, f))
		if (sscanf(line, "%lf,%lf,%lf", &stamp, &out[n].at_s, &out[n].rtt_s) == 3)
			out[n++].rtt_s /= 1e3;
	if (f)
		fclose(f);
	return n;
}

static double spacing(const struct ping *p, int n)
{
	double *gaps = calloc((size_t)n, sizeof *gaps), median;

	for (int i = 1; i < n; i++)
		gaps[i - 1] = p[i].at_s - p[i - 1].at_s;
	median = stats_quantile(gaps, (size_t)n - 1, .5);
	free(gaps);
	return median;
}

/* Mean distance of the gaps from their median. */
static double unevenness(const struct ping *p, int n)
{
	double gap = spacing(p, n), sum = 0;

	for (int i = 1; i < n; i++)
		sum += fmin(fabs(p[i].at_s - p[i - 1].at_s - gap), gap);
	return sum / (n - 1);
}

/* Times at which probes were sent, where the file has those at which their answers came. */
static void to_sent(struct ping *p, int n)
{
	struct ping *sent = calloc((size_t)n, sizeof *sent);

	for (int i = 0; i < n; i++)
		sent[i] = (struct ping){p[i].at_s - p[i].rtt_s, p[i].rtt_s};
	if (unevenness(sent, n) < unevenness(p, n))
		memcpy(p, sent, (size_t)n * sizeof *p);
	for (int i = n - 1; i >= 0; i--)
		p[i].at_s -= p[0].at_s;
	free(sent);
}

/* Quantile of the round trips that there were. */
static double quantile(const struct ping *p, int n, double q)
{
	double *rtt = calloc((size_t)n, sizeof *rtt), value;
	size_t heard = 0;

	for (int i = 0; i < n; i++)
		if (!isnan(p[i].rtt_s))
			rtt[heard++] = p[i].rtt_s;
	value = stats_quantile(rtt, heard, q);
	free(rtt);
	return value;
}

struct outage {
	double from_s, until_s;
};

/* Gaps of at least LOST_LEAST probes between those that were heard, from half a spacing inside. */
static int outages(const struct ping *p, int n, double gap_s, struct outage *out)
{
	double last = NAN;
	int found = 0;

	for (int i = 0; i < n; i++) {
		if (isnan(p[i].rtt_s))
			continue;
		if (p[i].at_s - last > (LOST_LEAST + .5) * gap_s)
			out[found++] =
				(struct outage){last + gap_s / 2, p[i].at_s - gap_s / 2};
		last = p[i].at_s;
	}
	return found;
}

static double real_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Plays the trace once and probes it with the recording's own spacing. */
static int play(const char *path, int n, double gap_s)
{
	struct rig rig;
	struct link_trace *trace = NULL;
	struct error err = {0};
	struct probe_spec spec = {.from = 0,
		.to = 1,
		.port = 5311,
		.n = n,
		.gap_ns = (int64_t)(gap_s * 1e9),
		.patience_ns = NS_PER_S};
	struct probes probes;
	double t0_s;

	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 1000000000});
	if (link_trace_load(&trace, path, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	rig.plan->links[0][UP].trace = rig.plan->links[0][DOWN].trace = trace;
	rig_up(&rig, "", 0);
	t0_s = real_now_s();
	backend_relay.start(rig.run, clock_now_ns());
	if (probes_start(&probes, rig.topology, &spec, &err) < 0 ||
		probes_finish(&probes, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		int64_t rtt_ns = probe_delay_ns(&probes.times[i], WAY_ROUND);

		measured[i].at_s = (double)probes.times[i].sent_ns / 1e9 - t0_s;
		measured[i].rtt_s = rtt_ns < 0 ? NAN : (double)rtt_ns / 1e9;
	}
	probes_free(&probes);
	rig_down(&rig);
	link_trace_free(trace);
	return n;
}

static void compare_outages(int n_recorded, int n, double gap_s)
{
	struct outage asked[256], got[256];
	int k = outages(recorded, n_recorded, gap_s, asked), found = outages(measured, n, gap_s, got);
	double worst = 0;

	row("outages", found, k, k, "");
	for (int i = 0; i < k && i < found; i++) {
		worst = fmax(worst, fabs(got[i].from_s - asked[i].from_s));
		worst = fmax(worst, fabs(got[i].until_s - asked[i].until_s));
	}
	row("outages' beginnings and ends, worst", 1e3 * worst, 0, 20, "ms");
}

int main(void)
{
	const char *path = getenv("NARROWLINK_TRACE");
	double gap_s, lost = 0, low, high, sent;
	int rows, n;

	if (!path)
		return 77;
	rows = read_rows(path, recorded);
	if (rows < 100) {
		fprintf(stderr, "%s: %d rows\n", path, rows);
		return 1;
	}
	to_sent(recorded, rows);
	gap_s = spacing(recorded, rows);
	n = (int)((recorded[rows - 1].at_s - recorded[0].at_s) / gap_s);
	play(path, n, gap_s);
	for (int i = 0; i < 3; i++) {
		static const double q[] = {.5, .95, .99};
		double want = 1e3 * quantile(recorded, rows, q[i]);
		char what[64];

		snprintf(what, sizeof what, "round trip, quantile %g", q[i]);
		row(what, 1e3 * quantile(measured, n, q[i]), want - 2, want + 2, "ms");
	}
	compare_outages(rows, n, gap_s);
	for (int i = 0; i < n; i++)
		lost += isnan(measured[i].rtt_s);
	sent = 1;
	for (int i = 1; i < rows; i++)
		sent += fmax(1, round((recorded[i].at_s - recorded[i - 1].at_s) / gap_s));
	/* Losses come in outages: what must be in the interval is the recording's share. */
	stats_wilson((uint64_t)lost, (uint64_t)n, 2.576, &low, &high);
	row("loss of the recording, in the measured interval", 100 * (1 - rows / sent), 100 * low,
		100 * high, "%");
	return fails > 0;
}
