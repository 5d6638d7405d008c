/*
 * A few seconds of a recording with an outage in them, NARROWLINK_TRACE, played by the relay four
 * times slower and pinged when the recording's probes were sent.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/emu/measure/recording.h"
#include "tests/emu/namespaces.h"

#define FROM_S 11.0
#define UNTIL_S 13.5
#define DILATION 4
#define TRIES 3
#define QUANTILE_OFF_S 2e-3 /* in the recording's time */

/* How late the relay was at most, by itself, there and back, in the recording's time. */
static double relay_late_s(const struct player *p)
{
	double late_s = 0;

	for (int site = 0; site < 2; site++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			late_s += (double)rig_stats(&p->rig, site, d).lateness.max_ns / NS_PER_S;
	return late_s / DILATION;
}

static void play(const struct pings *heard, const struct pings *sent, struct pings *measured,
	const char *path, double *late_s)
{
	struct player player;

	player_up(&player, path, DILATION);
	player_ping(&player, sent);
	player_result(&player, 0, measured);
	*late_s = relay_late_s(&player);
	player_down(&player);
}

/* A probe sent near its time is lost or heard as its like was. Says how many of both there were. */
static void compare_loss(
	const struct pings *sent, const struct pings *measured, double gap_s, int *heard, int *lost)
{
	*heard = *lost = 0;
	for (int i = 0; i < sent->n; i++) {
		const struct ping *r = &sent->ping[i], *m = &measured->ping[i];

		if (fabs(m->at_s - r->at_s) > gap_s / 4)
			continue;
		if (isnan(r->rtt_s) != isnan(m->rtt_s))
			fprintf(stderr, "# probe %d, sent at %.4f s, was %s\n", i, m->at_s,
				isnan(m->rtt_s) ? "lost" : "heard");
		CHECK(isnan(r->rtt_s) == isnan(m->rtt_s));
		*heard += !isnan(m->rtt_s);
		*lost += isnan(m->rtt_s);
	}
}

/* Pairs: what was measured, and the recording at that moment. The worst difference of three
 * quantiles. */
static double compare_quantiles(
	const struct pings *recording, const struct pings *measured, double *soonest_s)
{
	static const double quantiles[] = {.5, .95, .99};
	static struct pings was;
	double worst_s = 0;

	was.n = measured->n;
	*soonest_s = INFINITY;
	for (int i = 0; i < measured->n; i++) {
		const struct ping *m = &measured->ping[i];

		was.ping[i].rtt_s = isnan(m->rtt_s) ? NAN : recording_rtt(recording, m->at_s);
		*soonest_s = fmin(*soonest_s, m->rtt_s - was.ping[i].rtt_s);
	}
	for (int i = 0; i < 3; i++) {
		double is_s = pings_quantile(measured, quantiles[i]);
		double was_s = pings_quantile(&was, quantiles[i]);

		fprintf(stderr, "# quantile %g: %.2f ms, recorded %.2f\n", quantiles[i], 1e3 * is_s,
			1e3 * was_s);
		worst_s = fmax(worst_s, fabs(is_s - was_s));
	}
	return worst_s;
}

/* No more off than the relay says that it was late, which on a busy machine is judged again. */
static void replayed(void)
{
	static struct pings all, heard, sent, measured;
	char path[] = "/tmp/narrowlink-trace-XXXXXX";
	const char *recording = getenv("NARROWLINK_TRACE");
	double gap_s, late_s = 0, worst_s = 1, soonest_s;
	struct error err = {0};
	int n_heard, n_lost, fd = mkstemp(path);

	isolate_or_skip();
	if (!recording || backend_relay.probe(&err) < 0)
		exit(SKIP);
	CHECK(fd >= 0 && recording_read(recording, &all) == 0);
	close(fd);
	CHECK(recording_cut(&all, FROM_S, UNTIL_S, path) == 0 && recording_read(path, &heard) == 0);
	gap_s = pings_spacing(&all);
	recording_fill(&heard, gap_s, &sent);
	for (int i = 0; i < TRIES && worst_s > QUANTILE_OFF_S; i++) {
		play(&heard, &sent, &measured, path, &late_s);
		compare_loss(&sent, &measured, gap_s, &n_heard, &n_lost);
		worst_s = compare_quantiles(&heard, &measured, &soonest_s);
		fprintf(stderr, "# %d heard, %d lost, the relay late by %.2f ms\n", n_heard, n_lost,
			1e3 * late_s);
		CHECK(soonest_s > -QUANTILE_OFF_S);
		CHECK(worst_s <= QUANTILE_OFF_S + late_s);
	}
	unlink(path);
	CHECK(n_heard > 20 && n_lost > 5);
	if (worst_s > QUANTILE_OFF_S)
		exit(SKIP);
}

static void test_replayed(void **state)
{
	run(replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_replayed)};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
