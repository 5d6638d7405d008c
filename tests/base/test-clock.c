/* Bytes and time at a rate: known figures, and no overflow at the far ends. The two clocks. */
#include <time.h>

#include "base/clock.h"
#include "tests/test.h"

static void serialisation(void **state)
{
	assert_int_equal(clock_serialise_ns(1514, INT64_C(840000000)), 14420);
	assert_int_equal(clock_serialise_ns(1250, INT64_C(10000000000)), 1000);
	assert_int_equal(clock_serialise_ns(1, INT64_C(3000000000000)), 1);
	assert_int_equal(clock_serialise_ns(INT64_C(6000000000), INT64_C(1000)),
		INT64_C(48000000) * NS_PER_S);
	assert_int_equal(clock_bytes_in(NS_PER_S, INT64_C(840000000)), 105000000);
	assert_int_equal(clock_bytes_in(600 * NS_PER_MS, INT64_C(10000000000)), 750000000);
}

/* However long this process is kept from running, the real time lies between the two. */
static void real_time(void **state)
{
	int64_t before = clock_now_ns(), ahead = clock_real_ahead_ns();
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	assert_in_range(ts.tv_sec * NS_PER_S + ts.tv_nsec, before + ahead - NS_PER_MS,
		clock_now_ns() + ahead + NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(serialisation),
		cmocka_unit_test(real_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
