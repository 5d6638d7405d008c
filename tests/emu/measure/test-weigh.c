/* What a packet is on the wire, from hand-made headers. */
#include <errno.h>
#include <string.h>

#include "emu/measure/capture.h"
#include "tests/test.h"

#define OVERHEAD 14

/* IPv4 and TCP with `options` bytes of options; the first a time stamp when there is room. */
static size_t tcp4(uint8_t *p, uint32_t seq, uint32_t stamp, size_t options)
{
	memset(p, 0, 128);
	p[0] = 0x45;
	p[9] = 6;
	memcpy(p + 12, "\xc6\x12\x00\x01\xc6\x12\x00\x02", 8);
	p[20 + 1] = 80;
	memcpy(p + 24, &seq, 4);
	p[32] = (uint8_t)((20 + options) / 4 << 4);
	if (options >= 12) { /* nop, nop, time stamp */
		p[40] = p[41] = 1;
		p[42] = 8;
		p[43] = 10;
		memcpy(p + 44, &stamp, 4);
	}
	return 40 + options;
}

static struct capture_packet weigh(const uint8_t *p, size_t kept, size_t bytes)
{
	struct capture_packet out;

	assert_int_equal(capture_weigh(&out, p, kept, bytes, OVERHEAD), 0);
	return out;
}

static void super_packets(void **state)
{
	uint8_t p[128];
	size_t head = tcp4(p, 1, 7, 12);
	struct capture_packet w;

	w = weigh(p, 96, head); /* an acknowledgement */
	assert_int_equal(w.segments, 1);
	assert_int_equal(w.wire_bytes, 52 + 14);
	assert_int_equal(w.key, 0);
	w = weigh(p, 96, head + 1448);
	assert_int_equal(w.segments, 1);
	assert_int_equal(w.wire_bytes, 1514);
	w = weigh(p, 96, head + 1449);
	assert_int_equal(w.segments, 2);
	assert_int_equal(w.wire_bytes, 1514 + 52 + 1 + 14);
	w = weigh(p, 96, head + 44 * 1448); /* the largest there is */
	assert_int_equal(w.segments, 44);
	assert_int_equal(w.wire_bytes, 44 * 1514);
	head = tcp4(p, 1, 7, 0);
	w = weigh(p, 96, head + 2 * 1460);
	assert_int_equal(w.wire_bytes, 2 * 1514);
}

static void others(void **state)
{
	uint8_t p[128] = {0x45};
	struct capture_packet w;

	p[9] = 17;
	w = weigh(p, 96, 1500);
	assert_int_equal(w.segments, 1);
	assert_int_equal(w.wire_bytes, 1514);
	memset(p, 0, sizeof p);
	p[0] = 0x60;
	p[6] = 6;
	p[40 + 12] = 8 << 4; /* 32 bytes of TCP header: 1428 fit */
	w = weigh(p, 96, 72 + 3 * 1428 + 1);
	assert_int_equal(w.segments, 4);
	assert_int_equal(w.wire_bytes, 3 * 1428 + 1 + 4 * (72 + 14));
}

static void keys(void **state)
{
	uint8_t p[128], q[128];
	size_t head = tcp4(p, 1, 7, 12);

	tcp4(q, 1, 7, 12);
	/* the first part of a super-packet that was cut is the same packet */
	assert_int_equal(weigh(p, 96, head + 14480).key, weigh(q, 96, head + 1448).key);
	tcp4(q, 1, 8, 12); /* sent again, later */
	assert_true(weigh(p, 96, head + 1448).key != weigh(q, 96, head + 1448).key);
	tcp4(q, 2, 7, 12);
	assert_true(weigh(p, 96, head + 1448).key != weigh(q, 96, head + 1448).key);
}

/* Nothing is read beyond what was kept: the sanitizers watch. */
static void garbage(void **state)
{
	struct capture_packet out;
	uint8_t p[128];

	tcp4(p, 1, 7, 12);
	assert_int_equal(capture_weigh(&out, p, 19, 1500, OVERHEAD), -EINVAL);
	assert_int_equal(capture_weigh(&out, p, 39, 1500, OVERHEAD), -EINVAL);
	p[0] = 0x55;
	assert_int_equal(capture_weigh(&out, p, 96, 1500, OVERHEAD), -EINVAL);
	p[0] = 0x42;
	assert_int_equal(capture_weigh(&out, p, 96, 1500, OVERHEAD), -EINVAL);
	for (unsigned i = 0; i < 256 * 256; i++) {
		uint8_t *tight = memcpy(test_malloc(60), p, 60);

		tight[0] = 0x45;
		tight[32] = (uint8_t)i;
		tight[43] = (uint8_t)(i >> 8); /* an option's length */
		capture_weigh(&out, tight, 60, 1500, OVERHEAD);
		test_free(tight);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(super_packets),
		cmocka_unit_test(others),
		cmocka_unit_test(keys),
		cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests_name("weigh", tests, NULL, NULL);
}
