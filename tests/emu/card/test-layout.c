/*
 * A link on one device: its qdiscs by hand, and a link read back from them is the link. Shares
 * have 32 bits in the kernel, rates are whole bytes per second there.
 */
#include "tests/test.h"

#include <net/if_arp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "emu/card/layout.h"

#define MS INT64_C(1000000)
#define MBIT INT64_C(1000000)

static const struct device card = {.name = "eth0", .type = ARPHRD_ETHER, .mtu = 1500};

/* 100 Mbit/s, 10 ms of which are 125 kB; 38 B per frame are 24 more than the device counts. */
static void test_qdiscs_of_a_link(void **state)
{
	const struct link_state link = {
		.rate_bps = 100 * MBIT,
		.queue_bytes = 625000,
		.delay_ns = 15 * MS,
		.loss = .001,
		.burst_length = 1,
	};
	struct layout l;

	layout_make(&l, &link, LINK_OVERHEAD_WIRE, &card);
	assert_int_equal(l.frame_overhead, 24);
	assert_int_equal(l.tbf.rate, 12500000);
	assert_int_equal(l.tbf.burst, 125000);
	assert_int_equal(l.tbf.limit, 625000);
	assert_int_equal(l.netem.latency_ns, 15 * MS);
	assert_int_equal(l.netem.loss, 4294967);
	assert_int_equal(l.netem.rate, 0);
	assert_int_equal(l.netem.limit, INT32_MAX);
	assert_int_equal(l.netem.packet_overhead, 0);
}

/* Without a rate netem lets packets overtake; with one they do not. */
static void test_jitter_keeps_the_order(void **state)
{
	const struct link_state link = {
		.rate_bps = MBIT, .queue_bytes = 100000, .delay_ns = 9 * MS, .jitter_ns = MS};
	struct layout_words words;
	struct layout l;

	layout_make(&l, &link, LINK_OVERHEAD_ETHERNET, &card);
	assert_true(l.netem.rate >= UINT64_C(1000000000000));
	layout_read(&words, &l.netem, &l.tbf, l.frame_overhead, &card);
	assert_int_equal(words.state.rate_bps, MBIT);
	assert_string_equal(words.also, "");
	layout_read(&words, &l.netem, NULL, 0, &card);
	assert_int_equal(words.state.rate_bps, 0);
	l.netem.rate = 0;
	layout_read(&words, &l.netem, NULL, 0, &card);
	assert_string_equal(words.also, "jitter that lets packets overtake");
}

/* Jumbo frames pass a bucket of 1 Mbit/s, whose 10 ms are 1250 bytes. */
static void test_a_bucket_holds_the_devices_frames(void **state)
{
	const struct device jumbo = {.type = ARPHRD_ETHER, .mtu = 9000};
	const struct device tunnel = {.type = ARPHRD_NONE, .mtu = 1420};
	const struct link_state link = {.rate_bps = MBIT, .queue_bytes = 2000};
	struct layout l;

	layout_make(&l, &link, LINK_OVERHEAD_ETHERNET, &jumbo);
	assert_int_equal(l.tbf.burst, 9014);
	assert_int_equal(l.tbf.limit, 2 * 9014);
	layout_make(&l, &link, LINK_OVERHEAD_ETHERNET, &tunnel);
	assert_int_equal(l.frame_overhead, 14); /* its packets come without a header */
	assert_int_equal(l.tbf.burst, 1514);
}

static void test_nothing_passes(void **state)
{
	const struct link_state link = {
		.rate_bps = MBIT, .queue_bytes = 100000, .loss = .5, .down = true};
	struct layout_words words;
	char text[256];
	struct layout l;

	layout_make(&l, &link, LINK_OVERHEAD_ETHERNET, &card);
	layout_read(&words, &l.netem, &l.tbf, l.frame_overhead, &card);
	assert_true(words.state.down);
	assert_string_equal(layout_format(text, sizeof text, &words),
		"{rate: 1 Mbit/s, queue: 100 kB, loss: 100 %}");
}

static double unit(uint64_t i, uint32_t which)
{
	return random_unit(20261201, which, RANDOM_LOSS, i);
}

static struct link_state random_state(uint64_t i)
{
	struct link_state s = {
		.rate_bps = 8 * (int64_t)exp(unit(i, 0) * log(1e12)) + 8000,
		.queue_bytes = (int64_t)(unit(i, 1) * 4e9) + 5000,
		.delay_ns = (int64_t)(unit(i, 2) * 4e9),
		.loss = unit(i, 3) < .5 ? 0 : unit(i, 4) * .9,
		.burst_length = 1,
	};

	if (unit(i, 5) < .5)
		s.jitter_ns = s.delay_ns / 3;
	if (unit(i, 6) < .5) {
		s.burst_length = 1 + unit(i, 7) * 100;
		s.burst_loss = .9 * unit(i, 8) * s.burst_length / (1 + s.burst_length);
	}
	return s;
}

static void test_read_is_made(void **state)
{
	static const int overheads[] = {0, 14, 26, 38};

	for (uint64_t i = 0; i < 20000; i++) {
		struct link_state want = random_state(i), *got;
		int overhead = overheads[i % 4];
		struct layout_words words;
		struct layout l;

		layout_make(&l, &want, overhead, &card);
		layout_read(&words, &l.netem, &l.tbf, l.frame_overhead, &card);
		got = &words.state;
		assert_int_equal(got->rate_bps, want.rate_bps);
		assert_int_equal(got->queue_bytes, want.queue_bytes);
		assert_int_equal(got->delay_ns, want.delay_ns);
		assert_int_equal(got->jitter_ns, want.jitter_ns);
		assert_int_equal(words.overhead_bytes, overhead);
		assert_near(got->loss, want.loss, 1e-9);
		assert_near(got->burst_length, want.burst_length, 1e-4);
		assert_near(got->burst_loss, want.burst_loss, 1e-6);
		assert_string_equal(words.also, "");
	}
}

/* What stands in braces is what one would write. */
static void test_words(void **state)
{
	const struct layout_words words = {
		.state = {.rate_bps = 840 * MBIT,
			.queue_bytes = 5250000,
			.delay_ns = 300123456,
			.jitter_ns = 2 * MS,
			.loss = 4294967. / UINT32_MAX,
			.burst_loss = .001,
			.burst_length = 8},
		.overhead_bytes = LINK_OVERHEAD_WIRE,
	};
	struct layout_words plain = {.overhead_bytes = 26, .state.burst_length = 1};
	char text[256];

	assert_string_equal(layout_format(text, sizeof text, &words),
		"{rate: 840 Mbit/s, delay: 300.123456 ms, queue: 5.25 MB, jitter: 2 ms, loss: 0.1 "
		"%, burst: {loss: 0.1 %, length: 8}, overhead: wire}");
	assert_string_equal(layout_format(text, sizeof text, &plain), "{overhead: 26 B}");
	plain.overhead_bytes = LINK_OVERHEAD_ETHERNET;
	assert_string_equal(layout_format(text, sizeof text, &plain), "{}");
}

/* What others set with tc and a profile has no words for. */
static void test_other_words(void **state)
{
	const uint32_t percent = UINT32_MAX / 100;
	const struct netem n = {
		.latency_ns = MS,
		.limit = 1000,
		.duplicate = percent,
		.gap = 5,
		.reorder = {25 * percent, 50 * percent},
		.corrupt = {percent, 0},
		.ecn = true,
		.slot = {10 * MS, 20 * MS, 8, 65536, 0, 0},
		.has_seed = true,
		.seed = 42,
	};
	const struct tbf b = {.rate = 1000, .limit = 5000, .peak = 2000, .overhead = 4, .mpu = 64};
	struct layout_words words;

	layout_read(&words, &n, &b, 0, &card);
	assert_string_equal(words.also,
		"queue of 1000 packets, marked instead of lost (ECN), duplicate 1 %, corrupt 1 %, "
		"reorder 25 % correlated by 50 %, reorder every 5th packet, slots from 10 ms, "
		"slots to 20 ms, packets a slot 8, a slot 65.536 kB, seed 42, peak rate 16 kbit/s, "
		"bucket counts 4 B more per packet, bucket counts 64 B at least");
	assert_int_equal(words.state.rate_bps, 8000);
}

/* All there can be does not overflow its room. */
static void test_too_many_words(void **state)
{
	const uint32_t odd = 1234567890;
	const struct netem n = {
		.limit = 999999999,
		.duplicate = odd,
		.gap = odd,
		.correlation = {odd, odd, odd},
		.reorder = {odd, odd},
		.corrupt = {odd, odd},
		.ecn = true,
		.jitter_ns = 1,
		.packet_overhead = -14,
		.cell_size = odd,
		.cell_overhead = 5,
		.model = {.kind = NETEM_LOSS_GI, .gi = {odd, odd, odd, odd, odd}},
		.slot = {odd, odd, 99999999, 99999999, odd, odd},
		.has_seed = true,
		.seed = UINT64_MAX,
	};
	struct layout_words words;

	layout_read(&words, &n, NULL, 0, &card);
	assert_true(strlen(words.also) < sizeof words.also);
	assert_non_null(strstr(words.also, "four-state loss p13 28.7445 %"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_qdiscs_of_a_link),
		cmocka_unit_test(test_jitter_keeps_the_order),
		cmocka_unit_test(test_a_bucket_holds_the_devices_frames),
		cmocka_unit_test(test_nothing_passes),
		cmocka_unit_test(test_read_is_made),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_other_words),
		cmocka_unit_test(test_too_many_words),
	};

	return cmocka_run_group_tests_name("card-layout", tests, NULL, NULL);
}
