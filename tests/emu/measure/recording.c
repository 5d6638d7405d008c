/* Recordings, and links that play them; see recording.h. */
#include "tests/emu/measure/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"

#define LOST_FROM_SPACINGS 1.75
#define START_NS (500 * NS_PER_MS) /* for the probes' processes to begin */
#define PORT 5311

double pings_spacing(const struct pings *p)
{
	_free_ double *gaps = memory_zero((size_t)p->n, sizeof *gaps);

	for (int i = 1; i < p->n; i++)
		gaps[i - 1] = p->ping[i].at_s - p->ping[i - 1].at_s;
	return stats_quantile(gaps, (size_t)p->n - 1, .5);
}

/* Mean distance of the gaps from their median. */
static double unevenness(const struct pings *p)
{
	double gap = pings_spacing(p), sum = 0;

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
	_free_ struct pings *sent = memory_zero(1, sizeof *sent);
	double first;

	sent->n = p->n;
	for (int i = 0; i < p->n; i++)
		sent->ping[i] = (struct ping){p->ping[i].at_s - p->ping[i].rtt_s, p->ping[i].rtt_s};
	qsort(sent->ping, (size_t)sent->n, sizeof *sent->ping, by_time);
	if (unevenness(sent) < unevenness(p))
		*p = *sent;
	first = p->ping[0].at_s;
	for (int i = 0; i < p->n; i++)
		p->ping[i].at_s -= first;
}

int recording_read(const char *path, struct pings *heard)
{
	_fclose_ FILE *f = fopen(path, "re");
	char line[256];
	double stamp;

	heard->n = 0;
	while (f && heard->n < ROWS_MAX && fgets(line, sizeof line, f)) {
		struct ping *p = &heard->ping[heard->n];

		if (sscanf(line, "%lf,%lf,%lf", &stamp, &p->at_s, &p->rtt_s) == 3) {
			p->rtt_s /= 1e3;
			heard->n++;
		}
	}
	if (heard->n < 100)
		return -1;
	to_sent(heard);
	return 0;
}

int recording_cut(const struct pings *heard, double from_s, double until_s, const char *path)
{
	_fclose_ FILE *f = fopen(path, "we");

	if (!f)
		return -1;
	fputs("timestamp,relative,rtt\n", f);
	for (int i = 0; i < heard->n; i++)
		if (heard->ping[i].at_s >= from_s && heard->ping[i].at_s < until_s)
			fprintf(f, "0,%.9f,%.6f\n", heard->ping[i].at_s,
				1e3 * heard->ping[i].rtt_s);
	return fflush(f) ? -1 : 0;
}

void recording_fill(const struct pings *heard, double gap_s, struct pings *out)
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

double recording_rtt(const struct pings *heard, double at_s)
{
	int low = 0, high = heard->n - 1;
	const struct ping *p = heard->ping;

	if (at_s <= p[0].at_s || at_s >= p[high].at_s)
		return at_s <= p[0].at_s ? p[0].rtt_s : p[high].rtt_s;
	while (high - low > 1) {
		int middle = (low + high) / 2;

		*(p[middle].at_s <= at_s ? &low : &high) = middle;
	}
	return p[low].rtt_s +
	       (p[high].rtt_s - p[low].rtt_s) * (at_s - p[low].at_s) / (p[high].at_s - p[low].at_s);
}

double pings_quantile(const struct pings *p, double q)
{
	_free_ double *rtt = memory_zero((size_t)p->n, sizeof *rtt);
	size_t heard = 0;

	for (int i = 0; i < p->n; i++)
		if (!isnan(p->ping[i].rtt_s))
			rtt[heard++] = p->ping[i].rtt_s;
	return stats_quantile(rtt, heard, q);
}

int pings_lost(const struct pings *p)
{
	int lost = 0;

	for (int i = 0; i < p->n; i++)
		lost += isnan(p->ping[i].rtt_s);
	return lost;
}

static void must(int r, const struct error *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

void player_up(struct player *p, const char *path, double dilation)
{
	struct link_direction plain = {.base = {.rate_bps = 1000000000, .queue_bytes = 125000000},
		.overhead_bytes = LINK_OVERHEAD_ETHERNET};
	struct error err = {0};

	*p = (struct player){.dilation = dilation};
	rig_new(&p->rig, 2, &(struct rig_link){.rate_bps = 1000000000});
	must(link_trace_load(&p->trace, path, &err), &err);
	plain.trace = p->trace;
	for (enum direction d = UP; d < DIRECTIONS; d++)
		link_direction_dilate(&p->rig.plan->links[0][d], &plain, dilation);
	rig_up(&p->rig, "", 0);
	p->t0_ns = clock_now_ns() + START_NS;
	backend_relay.start(p->rig.run, p->t0_ns);
}

void player_ping(struct player *p, const struct pings *sent)
{
	/* the processes' as long as they run */
	int64_t *at_ns = memory_zero((size_t)sent->n, sizeof *at_ns);
	const struct probe_spec spec = {.from = 0,
		.to = 1,
		.port = PORT + p->n,
		.n = sent->n,
		.at_ns = at_ns,
		.patience_ns = (int64_t)(p->dilation * NS_PER_S)};
	struct error err = {0};

	for (int i = 0; i < sent->n; i++)
		at_ns[i] = p->t0_ns + (int64_t)(sent->ping[i].at_s * p->dilation * NS_PER_S);
	must(probes_start(&p->probes[p->n++], p->rig.topology, &spec, &err), &err);
}

void player_result(struct player *p, int ping, struct pings *out)
{
	struct probes *probes = &p->probes[ping];
	double k = p->dilation * NS_PER_S;
	int64_t zero_ns = p->t0_ns + clock_real_ahead_ns();
	struct error err = {0};

	must(probes_finish(probes, &err), &err);
	out->n = probes->spec.n;
	for (int i = 0; i < out->n; i++) {
		int64_t rtt_ns = probe_delay_ns(&probes->times[i], WAY_ROUND);

		out->ping[i].at_s = (double)(probes->times[i].sent_ns - zero_ns) / k;
		out->ping[i].rtt_s = rtt_ns < 0 ? NAN : (double)rtt_ns / k;
	}
}

void player_down(struct player *p)
{
	for (int i = 0; i < p->n; i++) {
		probes_free(&p->probes[i]);
		free((int64_t *)p->probes[i].spec.at_ns);
	}
	for (enum direction d = UP; d < DIRECTIONS; d++)
		link_direction_release(&p->rig.plan->links[0][d]);
	rig_down(&p->rig);
	link_trace_free(p->trace);
}
