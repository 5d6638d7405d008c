/* How much links hold at once: rate times delay by hand, and each thing that can make it more. */
#include "base/clock.h"
#include "emu/relay/flight.h"
#include "tests/test.h"

#define MS (NS_PER_S / 1000)
/* 800 Mbit/s: 100 kB in a ms. 10 ms of delay, the 100 ms of lateness, a queue of 1 MB, a frame. */
#define ONE (11000000 + 1000000 + 65535)

static struct link_plan plan;

static struct link_direction *reset(void)
{
	plan = (struct link_plan){.dilation = 1};
	for (int i = 0; i < 2; i++)
		for (int d = 0; d < DIRECTIONS; d++)
			plan.links[i][d] = (struct link_direction){.base = {.rate_bps = 800000000,
									   .queue_bytes = 1000000,
									   .delay_ns = 10 * MS,
									   .burst_length = 1},
				.overhead_bytes = 14};
	return &plan.links[0][UP];
}

/* A super-packet of 64 KiB, give or take a header, is in hand for each direction. */
static void check(double more)
{
	assert_float_equal((double)flight_bytes(&plan, 2), 4 * ONE + more, 4 * 100);
}

static void test_base(void **state)
{
	reset();
	check(0);
	reset()->base.jitter_ns = 2 * MS;
	check(2 * 100000);
	reset();
	plan.core_delay_ns[1][0] = 30 * MS; /* held on the way up from site 1 */
	check(30 * 100000);
}

static void test_changes(void **state)
{
	struct link_step steps[] = {
		{.at_ns = 1, .set = LINK_RATE, .to = {.rate_bps = 400000000}}, /* less: no matter */
		{.at_ns = 2, .set = LINK_DELAY, .to = {.delay_ns = 20 * MS}},
		{.at_ns = 3, .set = LINK_JITTER, .to = {.jitter_ns = 5 * MS}},
		{.at_ns = 4, .set = LINK_QUEUE, .queue_ns = 50 * MS},
	};
	struct link_direction *d = reset();

	d->steps = steps;
	d->n_steps = 1;
	check(0);
	d->n_steps = 2;
	check(10 * 100000);
	d->n_steps = 3;
	check(15 * 100000);
	d->n_steps = 4;
	check((15 + 50) * 100000);
	steps[0].to.rate_bps = 1600000000; /* everything in time is twice as much */
	check((15 + 50) * 100000 + (110 + 15 + 50) * 100000);
}

static void test_trace(void **state)
{
	struct link_trace_delay delays[] = {{0, 12 * MS}, {NS_PER_S, 40 * MS}};
	struct link_trace trace = {.side[UP] = {.n_delays = 2, .delays = delays}};

	reset()->trace = &trace;
	check(30 * 100000);
}

/* Where the link counts no Ethernet header, the smallest packets are 54/40 of what it counts. */
static void test_overhead(void **state)
{
	reset()->overhead_bytes = 0;
	check(ONE * 14. / 40);
	reset()->overhead_bytes = 38;
	check(0);
}

static void test_beyond_numbers(void **state)
{
	struct link_direction *d = reset();

	d->base.rate_bps = INT64_MAX;
	d->base.delay_ns = INT64_MAX;
	assert_true(flight_bytes(&plan, 2) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_overhead),
		cmocka_unit_test(test_beyond_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
