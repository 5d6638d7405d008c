/*
 * The wire format: known bytes, round trips, and that nothing but what encoding produces is
 * accepted. The fuzz harness's entry runs here over a seeded corpus.
 */
#include <errno.h>
#include <string.h>

#include "base/random.h"
#include "bench/live/wire.h"
#include "tests/live/fuzz.h"
#include "tests/test.h"

/* Written down by hand from the layout in wire.h. */
static void known_bytes(void **state)
{
	static const uint8_t want[WIRE_LONGEST] = {
		7, 1, 0, 0,					/* FIRST, version 1 */
		0x00, 0x40, 0x00, 0x00,				/* length 16384 */
		0x05, 0, 0, 0, 0, 0, 0, 0,			/* message 5 */
		0, 0, 0, 0, 0, 0, 0, 0,				/* offset 0 */
		0x00, 0xca, 0x9a, 0x3b, 0, 0, 0, 0,		/* 1,000,000,000 in total */
		0x02, 0x01, 0x04, 0x03,				/* kind, fragment */
		0x08, 0x07, 0x06, 0x05,				/* stage */
		1, 0, 0, 0, 0, 0, 0, 0,				/* round */
		2, 0, 0, 0, 0, 0, 0, 0,				/* epoch */
		3, 0, 0, 0, 0, 0, 0, 0,				/* tokens */
		4, 0, 0, 0, 0, 0, 0, 0,				/* steps */
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* sent at -1 ns */
	};
	const struct wire_frame frame = {.type = WIRE_FIRST,
		.id = 5,
		.length = 16384,
		.total = 1000000000,
		.message = {.kind = 0x0102,
			.fragment = 0x0304,
			.stage = 0x05060708,
			.round = 1,
			.epoch = 2,
			.tokens = 3,
			.steps = 4,
			.bytes = 1000000000,
			.sent_ns = -1}};
	struct wire_frame back;
	uint8_t out[WIRE_LONGEST];

	assert_int_equal(wire_encode(&frame, out), sizeof want);
	assert_memory_equal(out, want, sizeof want);
	assert_int_equal(wire_decode(&back, want, sizeof want), 0);
	assert_int_equal(back.message.bytes, 1000000000);
	assert_int_equal(back.message.stage, 0x05060708);
	assert_int_equal(back.message.sent_ns, -1);
}

static void hello_round_trip(void **state)
{
	const struct wire_frame hello = {.type = WIRE_HELLO,
		.index = 3,
		.connections = 5,
		.participant = 127,
		.incarnation = 0xfffffffe,
		.session = UINT64_C(0xfffffffe00000007)};
	struct wire_frame back;
	uint8_t out[WIRE_LONGEST];

	assert_int_equal(wire_encode(&hello, out), WIRE_HEAD);
	assert_int_equal(wire_decode(&back, out, WIRE_HEAD), 0);
	assert_int_equal(back.index, 3);
	assert_int_equal(back.connections, 5);
	assert_int_equal(back.participant, 127);
	assert_true(back.incarnation == 0xfffffffe);
	assert_true(back.session == UINT64_C(0xfffffffe00000007));
}

static struct wire_frame a_chunk(void)
{
	return (struct wire_frame){
		.type = WIRE_CHUNK, .id = 1, .offset = 100, .length = 50, .total = 200};
}

static void assert_refused(const struct wire_frame *frame)
{
	struct wire_frame back = {.id = 77};
	uint8_t out[WIRE_LONGEST];
	size_t size = wire_encode(frame, out);

	assert_int_equal(wire_decode(&back, out, size), -EPROTO);
	assert_int_equal(back.id, 77); /* set only on success */
}

static void bad_chunks_are_refused(void **state)
{
	struct wire_frame c = a_chunk();
	uint8_t out[WIRE_LONGEST];

	assert_int_equal(wire_decode(&c, out, wire_encode(&c, out)), 0);
	c = a_chunk(), c.length = 0, assert_refused(&c);
	c = a_chunk(), c.length = 101, assert_refused(&c); /* beyond the message */
	c = a_chunk(), c.offset = 200, assert_refused(&c);
	c = a_chunk(), c.offset = -1, assert_refused(&c);
	c = a_chunk(), c.offset = 0, assert_refused(&c); /* that would be FIRST */
	c = a_chunk(), c.type = WIRE_FIRST, assert_refused(&c);
	c = a_chunk(), c.total = -1, assert_refused(&c);
	c = a_chunk(), c.total = INT64_MIN, assert_refused(&c);
	c = a_chunk(), c.total = INT64_MAX, c.length = WIRE_CHUNK_MAX + 1, assert_refused(&c);
	c = a_chunk(), c.total = INT64_MAX, c.offset = INT64_MAX - 49, assert_refused(&c);
}

static void bad_heads_are_refused(void **state)
{
	const struct wire_frame beat = {.type = WIRE_BEAT};
	struct wire_frame back;
	uint8_t out[WIRE_LONGEST];

	for (size_t i = 0; i < WIRE_HEAD; i++) {
		wire_encode(&beat, out);
		assert_int_equal(wire_decode(&back, out, WIRE_HEAD), 0);
		out[i] ^= 0x80; /* no byte of a BEAT may be anything else */
		assert_int_equal(wire_decode(&back, out, WIRE_HEAD), -EPROTO);
	}
	wire_encode(&beat, out);
	for (size_t size = 0; size < WIRE_HEAD; size++)
		assert_int_equal(wire_decode(&back, out, size), -EPROTO);
	assert_int_equal(wire_decode(&back, out, WIRE_LONGEST), -EPROTO);
	assert_int_equal(wire_size(0), 0);
	assert_int_equal(wire_size(WIRE_CHUNK + 1), 0);
}

/* Valid frames of every type, each with a few bytes overwritten at random. */
static void fuzz_corpus(void **state)
{
	static const struct wire_frame seeds[] = {
		{.type = WIRE_HELLO, .index = 1, .connections = 4, .participant = 9, .session = 1},
		{.type = WIRE_READY},
		{.type = WIRE_BEAT},
		{.type = WIRE_PING, .stamp = 123456789},
		{.type = WIRE_PONG, .stamp = UINT64_MAX},
		{.type = WIRE_SIGNAL, .message = {.kind = 3, .round = 9}},
		{.type = WIRE_FIRST, .length = 100, .total = 100, .message = {.bytes = 100}},
		{.type = WIRE_CHUNK, .length = 100, .offset = 100, .total = 200},
	};
	uint8_t bytes[4 * WIRE_LONGEST];
	uint64_t counter = 0, r;
	size_t size;

	for (int i = 0; i < 20000; i++) {
		size = 0;
		for (int k = 0; k < 4; k++) {
			r = random_u64(7, 0, RANDOM_LOSS, counter++);
			size += wire_encode(&seeds[r % 8], bytes + size);
		}
		for (int k = 0; k < i % 4; k++) {
			r = random_u64(7, 1, RANDOM_LOSS, counter++);
			bytes[r % size] = (uint8_t)(r >> 32);
		}
		assert_int_equal(LLVMFuzzerTestOneInput(bytes, size), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_bytes),
		cmocka_unit_test(hello_round_trip),
		cmocka_unit_test(bad_chunks_are_refused),
		cmocka_unit_test(bad_heads_are_refused),
		cmocka_unit_test(fuzz_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
