/* Cutting messages into chunks and putting them together again, in any order of arrival. */
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "bench/live/assembly.h"
#include "bench/live/stripe.h"
#include "tests/test.h"

#define MIB (1 << 20)

static void put(struct stripe *s, int64_t bytes, uint64_t round)
{
	stripe_put(s, &(struct rt_message){.kind = 1, .bytes = bytes, .round = round});
}

/* 10 ms of one connection's share, by hand; and the two limits. */
static void chunk_follows_rate(void **state)
{
	assert_int_equal(stripe_chunk_max(INT64_C(840000000), 4), 262500);
	assert_int_equal(stripe_chunk_max(INT64_C(10000000), 1), 16384);
	assert_int_equal(stripe_chunk_max(INT64_C(10000000000), 4), MIB);
}

static void chunks_cover_exactly(void **state)
{
	static const int64_t sizes[] = {1, 16383, 16384, 16385, 24575, 24576, 100000, MIB, MIB + 1,
		5 * MIB + 12345, INT64_C(6000000000)};
	struct stripe s;
	struct wire_frame f;
	int64_t at;

	stripe_init(&s, 4, MIB);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		put(&s, sizes[i], i);
		for (at = 0; at < sizes[i]; at += f.length) {
			assert_true(stripe_cut(&s, &f));
			assert_int_equal(f.type, at ? WIRE_CHUNK : WIRE_FIRST);
			assert_int_equal(f.offset, at);
			assert_int_equal(f.total, sizes[i]);
			assert_int_equal(f.id, i);
			assert_true(f.length >= 1 && f.length <= WIRE_CHUNK_MAX);
		}
		assert_int_equal(at, sizes[i]);
		assert_false(stripe_cut(&s, &f));
	}
	stripe_release(&s);
}

/* Large while much remains, small at the end: never more than an eighth for four connections. */
static void chunks_shrink(void **state)
{
	struct stripe s;
	struct wire_frame f;
	int64_t remaining = 8 * MIB;

	stripe_init(&s, 4, MIB);
	put(&s, remaining, 0);
	assert_true(stripe_cut(&s, &f));
	assert_int_equal(f.length, MIB);
	for (remaining -= f.length; remaining > 200000; remaining -= f.length) {
		assert_true(stripe_cut(&s, &f));
		assert_true(f.length <= remaining / 8);
	}
	stripe_release(&s);
}

static void messages_start_in_order(void **state)
{
	struct stripe s;
	struct wire_frame f;
	uint64_t last = 0;

	stripe_init(&s, 2, 65536);
	for (uint64_t i = 0; i < 100; i++)
		put(&s, 40000, i);
	while (stripe_cut(&s, &f)) {
		assert_true(f.id == last || f.id == last + 1);
		assert_int_equal(f.message.round, f.id);
		last = f.id;
	}
	assert_int_equal(last, 99);
	put(&s, 5, 7);
	stripe_clear(&s);
	assert_false(stripe_cut(&s, &f));
	put(&s, 5, 8);
	assert_true(stripe_cut(&s, &f));
	assert_int_equal(f.id, 0);
	stripe_release(&s);
}

/* A connection that asks nine times as often carries nine times as much. */
static void faster_connection_carries_more(void **state)
{
	struct stripe s;
	struct wire_frame f;
	int64_t bytes[2] = {0, 0};

	stripe_init(&s, 2, 65536);
	put(&s, INT64_C(100) * MIB, 0);
	for (int i = 0; stripe_cut(&s, &f); i++)
		bytes[i % 10 == 0] += f.length;
	assert_near((double)bytes[0] / (double)bytes[1], 9, 0.1);
	stripe_release(&s);
}

static void shuffle(struct wire_frame *chunks, size_t n, uint64_t seed)
{
	struct wire_frame swap;
	size_t j;

	for (size_t i = n; i > 1; i--) {
		j = (size_t)(random_u64(seed, 0, RANDOM_LOSS, i) % i);
		swap = chunks[i - 1];
		chunks[i - 1] = chunks[j];
		chunks[j] = swap;
	}
}

/* All chunks of 50 messages in a random order; they come out in the order they went in. */
static void assembles_any_order(void **state)
{
	struct wire_frame *chunks = memory_zero(5000, sizeof *chunks);
	struct assembly a = {0};
	struct rt_message m;
	struct stripe s;
	uint64_t next = 0;
	size_t n = 0;

	stripe_init(&s, 3, 65536);
	for (uint64_t i = 0; i < 50; i++)
		put(&s, (int64_t)(1 + random_u64(3, 1, RANDOM_LOSS, i) % 500000), i);
	while (stripe_cut(&s, &chunks[n]))
		assert_true(++n < 5000);
	shuffle(chunks, n, 4);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(assembly_claim(&a, &chunks[i]), 0);
		assembly_arrived(&a, chunks[i].id, chunks[i].length - 1);
		assembly_arrived(&a, chunks[i].id, 1);
		while (assembly_take(&a, &m))
			assert_int_equal(m.round, next++);
	}
	assert_int_equal(next, 50);
	assert_int_equal(a.count, 0);
	free(chunks);
	assembly_release(&a);
	stripe_release(&s);
}

/* What is said of a message beforehand is what cutting it makes of it. */
static void framing_is_known_beforehand(void **state)
{
	static const int64_t sizes[] = {1, 16384, 100000, 1000000, 31250001};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int64_t chunk_max = stripe_chunk_max(200000000, 4), framing = 0;
		uint8_t head[WIRE_LONGEST];
		struct wire_frame f;
		struct stripe s;

		stripe_init(&s, 4, chunk_max);
		stripe_put(&s, &(struct rt_message){.bytes = sizes[i]});
		while (stripe_cut(&s, &f))
			framing += (int64_t)wire_encode(&f, head);
		assert_int_equal(stripe_framing(sizes[i], 4, chunk_max), framing);
		stripe_release(&s);
	}
}

static void incomplete_is_kept(void **state)
{
	struct wire_frame f = {
		.type = WIRE_FIRST, .length = 10, .total = 20, .message = {.bytes = 20}};
	struct wire_frame rest = {.type = WIRE_CHUNK, .offset = 10, .length = 10, .total = 20};
	struct assembly a = {0};
	struct rt_message m;

	assert_int_equal(assembly_claim(&a, &rest), 0);
	assembly_arrived(&a, 0, 10);
	assert_false(assembly_take(&a, &m)); /* the numbers are missing, and half the bytes */
	assert_int_equal(assembly_claim(&a, &f), 0);
	assembly_arrived(&a, 0, 9);
	assert_false(assembly_take(&a, &m));
	assembly_arrived(&a, 0, 1);
	assert_true(assembly_take(&a, &m));
	assembly_release(&a);
}

static void contradictions_are_refused(void **state)
{
	struct wire_frame f = {
		.type = WIRE_FIRST, .id = 5, .length = 10, .total = 20, .message = {.bytes = 20}};
	struct wire_frame rest = {
		.type = WIRE_CHUNK, .id = 5, .offset = 10, .length = 10, .total = 20};
	struct wire_frame other = rest, far = rest;
	struct assembly a = {0};
	struct rt_message m;

	other.total = 21;
	far.id = ASSEMBLY_MAX;
	assert_int_equal(assembly_claim(&a, &f), 0);
	assert_int_equal(assembly_claim(&a, &f), -EPROTO);     /* first twice */
	assert_int_equal(assembly_claim(&a, &other), -EPROTO); /* another size */
	assert_int_equal(assembly_claim(&a, &far), -EPROTO);
	assert_int_equal(assembly_claim(&a, &rest), 0);
	assert_int_equal(assembly_claim(&a, &rest), -EPROTO); /* more than it has */
	f.id = 0;
	f.length = 20;
	assert_int_equal(assembly_claim(&a, &f), 0);
	assembly_arrived(&a, 0, 20);
	assert_true(assembly_take(&a, &m));
	assert_int_equal(assembly_claim(&a, &f), -EPROTO); /* it is complete already */
	assembly_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunk_follows_rate),
		cmocka_unit_test(chunks_cover_exactly),
		cmocka_unit_test(chunks_shrink),
		cmocka_unit_test(messages_start_in_order),
		cmocka_unit_test(faster_connection_carries_more),
		cmocka_unit_test(assembles_any_order),
		cmocka_unit_test(framing_is_known_beforehand),
		cmocka_unit_test(incomplete_is_kept),
		cmocka_unit_test(contradictions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
