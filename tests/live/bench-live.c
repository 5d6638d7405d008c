/*
 * Benchmark: what the live runtime carries, on a veth bridge without an emulated link and over
 * the relay. Every learner sends payload to all others at once. Printed are the payload received
 * per second by all sites together, what part of the links' payload rate that is, and the time
 * of processors per gigabyte. Then how long a job's exchange takes, against TCP's formula.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/emu/relay/burst.h"
#include "tests/live/exchange.h"
#include "tests/live/stage.h"

#define PAYLOAD_SHARE (1448.0 / 1514.0)

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Of a running process, from /proc. */
static double cpu_of(int pid)
{
	unsigned long user = 0, system = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		    &system) != 2)
		user = system = 0;
	fclose(f);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double received_bytes(const struct outcome *r)
{
	double sum = 0;

	for (int i = 0; i < r->n_participants; i++)
		sum += (double)r->bytes[i].payload_received;
	return sum;
}

static void bridge(int sites, int64_t rate_bps, int64_t bytes)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;
	double received, seconds, cpu;

	world_up(&w, sites, &strategy_exchange);
	w.link.direction[UP].base.rate_bps = rate_bps;
	w.s.transport.connections = 4;
	w.s.job.parameters = bytes;
	w.s.job.steps = 2;
	w.s.job.step_ns = 1000000;
	cpu = cpu_s();
	if (world_run(&w, NULL, 0, &watch, &result) < 0)
		fail_msg("%s", w.err.text);
	cpu = cpu_s() - cpu;
	received = received_bytes(&result);
	seconds = (double)result.wall_ns / 1e9;
	printf("# bridge, %d sites, chunks for %.2f Gbit/s: %.2f Gbit/s, agents %.3f s of CPU per "
	       "GB\n",
		sites, (double)rate_bps / 1e9, 8 * received / seconds / 1e9,
		cpu / (received / 1e9));
	world_down(&w);
}

/* One exchange of `bytes` from everybody to everybody, over links of rate_gbps and 25 ms. */
static void relay(int sites, double rate_gbps, int64_t bytes)
{
	struct scenario *s;
	struct stage st;
	char text[512];
	double received, seconds, agents, carrier;

	snprintf(text, sizeof text,
		"narrowlink: 1\nsites: {count: %d, link: wan}\n"
		"links: {wan: {rate: %.0f kbit/s, delay: 10 ms, queue: 50 ms}}\n"
		"core: {delay: 5 ms}\ntransport: {connections: 4}\n"
		"workload: {strategy: data-parallel, parameters: %jd, bits: 8, step: 1 ms}\n"
		"run: {steps: 1, warmup: 0}\n",
		sites, rate_gbps * 1e6, (intmax_t)bytes);
	stage_up(&st, text);
	s = st.file->cases[0];
	s->strategy = &strategy_exchange;
	s->limit_ns = INT64_C(60000000000);
	agents = cpu_s();
	stage_run(&st);
	agents = cpu_s() - agents;
	carrier = cpu_of(backend_relay.pid(st.links));
	received = received_bytes(&st.result);
	seconds = (double)st.result.wall_ns / 1e9;
	printf("# relay, %d sites of %.2f Gbit/s: %.2f Gbit/s in %.2f s, %.1f %% of the links; per "
	       "GB %.3f s of CPU for the agents, %.3f for the relay\n",
		sites, rate_gbps, 8 * received / seconds / 1e9, seconds,
		100 * 8 * received / seconds / (sites * rate_gbps * 1e9 * PAYLOAD_SHARE),
		agents / (received / 1e9), carrier / (received / 1e9));
	stage_down(&st);
}

static void on_a_bridge(void **state)
{
	bridge(2, INT64_C(10000000000), 4000000000);
	bridge(2, INT64_C(840000000), 4000000000);
	bridge(8, INT64_C(840000000), 100000000);
}

static void on_the_relay(void **state)
{
	relay(2, 10, 3000000000);
	relay(8, 0.84, 60000000);
	relay(8, 1.25, 90000000);
}

/*
 * Learners that each send a fragment to a star syncer with a fast link, and get the merged one
 * back, on one reno connection that was idle before: a burst up and, once all of it is there, a
 * burst down. What an exchange takes ends with the last byte's arrival, while the formula of a
 * burst ends with its acknowledgement half a round trip later: 2 (T - RTT / 2).
 */
static void exchange_of_a_burst(int rtt_ms, int rate_mbps, int step_s)
{
	const double bytes = 1e7, rtt_s = rtt_ms / 1e3;
	double want = 2 * (burst_s(bytes, rtt_s, rate_mbps * 1e6) - rtt_s / 2), got;
	struct stage st;
	char text[768];

	snprintf(text, sizeof text,
		"narrowlink: 1\nsites: {count: 2, link: near}\nlinks:\n"
		"  near: {rate: %d Mbit/s, delay: %g ms, queue: 5 s}\n"
		"  fat: {rate: 10 Gbit/s, delay: %g ms, queue: 1 s}\n"
		"transport: {connections: 1, congestion: reno, buffers: 400 MB,"
		" slow_start_after_idle: true}\n"
		"workload: {strategy: decoupled-diloco, parameters: 10 M, step: %d s,\n"
		"  outer: {period: 1, fragments: 1, overlap: 1, bits: 8 bit, syncer: star,"
		" syncer_link: fat, quorum: 2, grace: 0}}\n"
		"run: {steps: 2, warmup: 1}\n",
		rate_mbps, rtt_ms / 4.0, rtt_ms / 4.0, step_s);
	stage_up(&st, text);
	stage_run(&st);
	got = st.exchange_s[0];
	printf("# exchange of 10 MB up and down at %d Mbit/s, %d ms, cold: %.3f s, formula %.3f s, "
	       "%+.2f %% (5 %% is the limit)\n",
		rate_mbps, rtt_ms, got, want, 100 * (got / want - 1));
	assert_true(st.exchanges[0] >= 2);
	assert_true(got > want * 0.95 && got < want * 1.05);
	stage_down(&st);
}

static void exchanges_as_the_formula_says(void **state)
{
	exchange_of_a_burst(100, 840, 8);
	exchange_of_a_burst(600, 100, 22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_a_bridge),
		cmocka_unit_test(on_the_relay),
		cmocka_unit_test(exchanges_as_the_formula_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
