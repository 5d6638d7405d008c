/* A link's state in the kernel's terms, by hand. */
#include "tests/test.h"

#include "base/clock.h"
#include "emu/netem/stage.h"

#define MS NS_PER_MS

static const struct link_state plain = {
	.rate_bps = 840000000, .queue_bytes = 5250000, .delay_ns = 15 * MS, .jitter_ns = MS};

/* 0.84 Gbit/s are 105 MB/s; 10 ms of it are 1.05 MB in the bucket, the rest is the queue's. */
static void test_rate_and_queue(void **state)
{
	struct stage s;

	stage_make(&s, &plain, LINK_OVERHEAD_ETHERNET, 10 * MS);
	assert_int_equal(s.tbf.rate, 105000000);
	assert_int_equal(s.tbf.burst, 1050000);
	assert_int_equal(s.tbf.limit, 4200000);
	assert_int_equal(s.frame_overhead, 0);
	assert_int_equal(s.netem.rate, 105000000);
	assert_int_equal(s.netem.packet_overhead, 0);
	assert_int_equal(s.netem.latency_ns, 25 * MS);
	assert_int_equal(s.netem.jitter_ns, MS);
	assert_int_equal(s.netem.loss, 0);
	assert_int_equal(s.netem.model.kind, NETEM_LOSS_UNSPEC);
}

/* Half of a short queue is the bucket's; two frames fit at least, of what the link counts. */
static void test_short_queues(void **state)
{
	struct link_state short_queue = plain;
	struct stage s;

	short_queue.queue_bytes = 100000;
	stage_make(&s, &short_queue, LINK_OVERHEAD_IP, 0);
	assert_int_equal(s.tbf.burst, 50000);
	assert_int_equal(s.tbf.limit, 50000);
	assert_int_equal(s.frame_overhead, -14);
	assert_int_equal(s.netem.packet_overhead, -14);
	short_queue.queue_bytes = 1;
	stage_make(&s, &short_queue, LINK_OVERHEAD_WIRE, 0);
	assert_int_equal(s.tbf.burst, 1538);
	assert_int_equal(s.tbf.limit, 1538);
	assert_int_equal(s.frame_overhead, 24);
}

/* A delay that moves by a tenth of the time: in steps of 4 ms, each as it is half-way. */
static void test_moving_delay(void **state)
{
	struct link_state moving = plain, still = plain;
	int64_t until = 100 * MS;

	moving.delay_slope = 0.1;
	stage_hold(&moving, 50 * MS, &until);
	assert_int_equal(until, 54 * MS);
	assert_int_equal(moving.delay_ns, 15 * MS + MS / 5);
	assert_true(moving.delay_slope == 0);
	moving.delay_slope = -1;
	until = 52 * MS;
	stage_hold(&moving, 50 * MS, &until);
	assert_int_equal(until, 52 * MS);
	assert_int_equal(moving.delay_ns, 14 * MS + MS / 5);
	until = 100 * MS;
	stage_hold(&still, 50 * MS, &until);
	assert_int_equal(until, 100 * MS);
	assert_int_equal(still.delay_ns, 15 * MS);
}

/* Slower than a byte a second, and a queue that 32 bits do not hold. */
static void test_extremes(void **state)
{
	const struct link_state slow = {.rate_bps = 1, .queue_bytes = 1};
	const struct link_state fast = {
		.rate_bps = INT64_C(400000000000), .queue_bytes = INT64_C(40000000000)};
	struct stage s;

	stage_make(&s, &slow, LINK_OVERHEAD_ETHERNET, 0);
	assert_int_equal(s.tbf.rate, 1);
	stage_make(&s, &fast, LINK_OVERHEAD_ETHERNET, 0);
	assert_int_equal(s.tbf.rate, 50000000000);
	assert_int_equal(s.tbf.burst, 500000000);
	assert_int_equal(s.tbf.limit, UINT32_MAX);
}

static void test_loss(void **state)
{
	struct link_state lossy = plain;
	struct stage s;

	lossy.loss = .25;
	stage_make(&s, &lossy, LINK_OVERHEAD_ETHERNET, 0);
	assert_int_equal(s.netem.loss, 1073741824);
	assert_int_equal(stage_cause(&lossy), DROP_RANDOM);
	lossy.burst_loss = .01;
	lossy.burst_length = 10;
	stage_make(&s, &lossy, LINK_OVERHEAD_ETHERNET, 0);
	assert_int_equal(s.netem.loss, 0);
	assert_int_equal(s.netem.model.kind, NETEM_LOSS_GE);
	assert_int_equal(s.netem.model.ge.r, 429496730); /* 1/10 */
	assert_int_equal(s.netem.model.ge.k1, 1073741824);
	assert_int_equal(stage_cause(&lossy), DROP_BURST);
	lossy.down = true;
	stage_make(&s, &lossy, LINK_OVERHEAD_ETHERNET, 0);
	assert_int_equal(s.netem.loss, NETEM_ALWAYS);
	assert_int_equal(s.netem.model.kind, NETEM_LOSS_UNSPEC);
	assert_int_equal(stage_cause(&lossy), DROP_OUTAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate_and_queue),
		cmocka_unit_test(test_short_queues),
		cmocka_unit_test(test_moving_delay),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_loss),
	};

	return cmocka_run_group_tests_name("netem-stage", tests, NULL, NULL);
}
