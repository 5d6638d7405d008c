/*
 * Benchmark: what the live runtime carries without an emulated link, sites on a veth bridge.
 * Every learner sends its payload to all others; printed are the payload received per second by
 * all sites together, and the processor time of the agents per gigabyte received.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "tests/live/exchange.h"
#include "tests/live/world.h"

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure(int sites, int64_t rate_bps, int64_t bytes)
{
	struct world w;
	struct watch watch = {0};
	struct live_result result;
	double received = 0, seconds, cpu;

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
	for (int i = 0; i < sites; i++)
		received += (double)result.bytes[i].payload_received;
	seconds = (double)result.wall_ns / 1e9;
	printf("# %d sites, chunks for %.2f Gbit/s: %.2f Gbit/s of payload together, "
	       "%.3f s of CPU per GB, %.2f CPUs\n",
		sites, (double)rate_bps / 1e9, 8 * received / seconds / 1e9, cpu / (received / 1e9),
		cpu / seconds);
	world_down(&w);
}

static void two_sites(void **state)
{
	measure(2, INT64_C(10000000000), 4000000000);
}

static void two_sites_small_chunks(void **state)
{
	measure(2, INT64_C(840000000), 4000000000);
}

static void eight_sites(void **state)
{
	measure(8, INT64_C(840000000), 100000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_sites),
		cmocka_unit_test(two_sites_small_chunks),
		cmocka_unit_test(eight_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
