/* The pool: what is written is what is read back, nothing is lost, and its bound holds. */
#include "tests/test.h"

#include <errno.h>

#include "emu/relay/pool.h"

static uint8_t pattern(unsigned seed, size_t i)
{
	return (uint8_t)(seed * 31 + i * 7 + i / 253);
}

/* Reads a frame of n bytes into the room, as readv would. */
static struct packet *put(struct pool *pool, unsigned seed, size_t n)
{
	int n_iov;
	const struct iovec *iov = pool_room(pool, &n_iov);
	size_t at = 0;

	for (int i = 0; i < n_iov && at < n; i++)
		for (size_t k = 0; k < iov[i].iov_len && at < n; k++, at++)
			((uint8_t *)iov[i].iov_base)[k] = pattern(seed, at);
	assert_int_equal(at, n);
	return pool_take(pool, n);
}

static void expect(struct pool *pool, const struct packet *p, unsigned seed, size_t from, size_t n)
{
	struct iovec iov[POOL_IOV_MAX];
	int parts = pool_parts(pool, p, from, n, iov);
	size_t at = from;

	assert_true(parts <= POOL_IOV_MAX);
	for (int i = 0; i < parts; i++)
		for (size_t k = 0; k < iov[i].iov_len; k++, at++)
			if (((uint8_t *)iov[i].iov_base)[k] != pattern(seed, at))
				fail_msg("byte %zu of frame %u differs", at, seed);
	assert_int_equal(at - from, n);
}

static const size_t sizes[] = {1, 62, 181, 182, 183, 1510, 1590, 1591, 3010, 7734, 7735, 20021,
	20023, 40000, 65535, PACKET_FRAME_MAX};
#define N_SIZES (sizeof sizes / sizeof *sizes)

static void test_frames_of_all_sizes(void **state)
{
	struct packet *p[N_SIZES];
	struct error err = {0};
	struct pool *pool;
	uint64_t empty;

	assert_int_equal(pool_new(&pool, 64 << 20, &err), 0);
	empty = pool_used(pool);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < N_SIZES; i++)
			p[i] = put(pool, (unsigned)(round * 50 + (int)i), sizes[i]);
		for (size_t i = 0; i < N_SIZES; i++) {
			unsigned seed = (unsigned)(round * 50 + (int)i);

			expect(pool, p[i], seed, 0, sizes[i]);
			if (sizes[i] > 2000)
				expect(pool, p[i], seed, 1000 + i, sizes[i] - 1900);
		}
		for (size_t i = 0; i < N_SIZES; i++) /* not in the order they came */
			pool_release(pool, p[i * 7 % N_SIZES]);
		assert_int_equal(pool_used(pool), empty);
	}
	pool_free(pool);
}

static void test_shared_bytes_live_as_long_as_a_part(void **state)
{
	struct packet *p, *a, *b;
	struct error err = {0};
	struct pool *pool;
	uint64_t empty;

	assert_int_equal(pool_new(&pool, 64 << 20, &err), 0);
	empty = pool_used(pool);
	p = put(pool, 1, 30000);
	a = pool_share(pool, p);
	b = pool_share(pool, a);
	pool_release(pool, p);
	pool_release(pool, a);
	for (unsigned i = 2; i < 20; i++)
		pool_release(pool, put(pool, i, 60000));
	expect(pool, b, 1, 100, 29900);
	pool_release(pool, b);
	assert_int_equal(pool_used(pool), empty);
	pool_free(pool);
}

/* Memory for what a link carries: at most 1.3 times, for full frames and super-packets. */
static void test_overhead_of_usual_sizes(void **state)
{
	const int segments[] = {1, 2, 3, 4, 6, 10, 21, 45};

	for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
		size_t frame = PACKET_VNET_BYTES + 52 + (size_t)segments[i] * 1448;
		struct error err = {0};
		struct pool *pool;
		uint64_t empty;

		assert_int_equal(pool_new(&pool, 64 << 20, &err), 0);
		empty = pool_used(pool);
		for (unsigned k = 0; k < 100; k++)
			put(pool, k, frame);
		assert_true((double)(pool_used(pool) - empty) <=
			    1.35 * 100 * 1514 * (double)segments[i]);
		pool_free(pool);
	}
}

static void test_exhausted(void **state)
{
	struct packet *packets[2000];
	struct error err = {0};
	struct pool *pool;
	int n = 0;

	assert_int_equal(pool_new(&pool, 4 << 20, &err), 0);
	while (!pool_exhausted(pool)) {
		packets[n] = put(pool, (unsigned)n, 60000);
		n++;
		assert_true(n < 2000);
	}
	assert_in_range(n, 50, 70); /* 4 MiB / 60000 = 69 */
	assert_true(pool_used(pool) < (4 << 20) + 2 * 70000);
	for (int i = 0; i + 1 < n; i++)
		expect(pool, packets[i], (unsigned)i, 0, 60000);
	for (int i = 0; i < n; i++)
		pool_release(pool, packets[i]);
	assert_false(pool_exhausted(pool));
	pool_release(pool, put(pool, 7, 60000));
	pool_free(pool);
}

/* A flood of tiny packets stops at 1.3 times its bytes and 64 MiB. */
static void test_bound_for_tiny_packets(void **state)
{
	struct error err = {0};
	struct pool *pool;
	uint64_t carried = 0;

	assert_int_equal(pool_new(&pool, UINT64_C(2) << 30, &err), 0);
	while (!pool_exhausted(pool)) {
		put(pool, 0, PACKET_VNET_BYTES + 28);
		carried += 28 + 14;
	}
	assert_true((double)pool_used(pool) <= 1.3 * (double)carried + (64 << 20));
	assert_true(carried / 42 > 200000);
	pool_free(pool);
}

static void test_too_small(void **state)
{
	struct error err = {0};
	struct pool *pool;

	assert_int_equal(pool_new(&pool, 1000, &err), -ENOMEM);
	assert_int_equal(err.status, STATUS_MACHINE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_of_all_sizes),
		cmocka_unit_test(test_shared_bytes_live_as_long_as_a_part),
		cmocka_unit_test(test_overhead_of_usual_sizes),
		cmocka_unit_test(test_exhausted),
		cmocka_unit_test(test_bound_for_tiny_packets),
		cmocka_unit_test(test_too_small),
	};

	return cmocka_run_group_tests_name("relay pool", tests, NULL, NULL);
}
