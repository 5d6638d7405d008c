/* Random numbers: a draw depends on its whole key and nothing else; uniformity, independence of
 * streams. */
#include <math.h>

#include "base/random.h"
#include "tests/test.h"

#define N 100000

static void same_key_same_draw(void **state)
{
	assert_int_equal(random_u64(1, 2, RANDOM_LOSS, 3), random_u64(1, 2, RANDOM_LOSS, 3));
	assert_int_not_equal(random_u64(1, 2, RANDOM_LOSS, 3), random_u64(1, 2, RANDOM_LOSS, 4));
	assert_int_not_equal(random_u64(1, 2, RANDOM_LOSS, 3), random_u64(1, 2, RANDOM_BURST, 3));
	assert_int_not_equal(random_u64(1, 2, RANDOM_LOSS, 3), random_u64(1, 3, RANDOM_LOSS, 3));
	assert_int_not_equal(random_u64(1, 2, RANDOM_LOSS, 3), random_u64(2, 2, RANDOM_LOSS, 3));
}

/* Chi-square over 100 cells, 99 degrees of freedom: above 148.2 with probability 0.001. */
static void unit_is_uniform(void **state)
{
	int cell[100] = {0};
	double chi = 0;

	for (uint64_t i = 0; i < N; i++)
		cell[(int)(random_unit(42, 7, RANDOM_LOSS, i) * 100)]++;
	for (int i = 0; i < 100; i++)
		chi += pow(cell[i] - N / 100, 2) / (N / 100);
	assert_true(chi < 148.2);
}

/* Pearson correlation of neighbouring counters and of two streams: |r| < 3.29/sqrt(N) at 0.001. */
static void neighbours_are_uncorrelated(void **state)
{
	double next = 0, other = 0;

	for (uint64_t i = 0; i < N; i++) {
		double x = random_unit(42, 7, RANDOM_LOSS, i) - 0.5;

		next += x * (random_unit(42, 7, RANDOM_LOSS, i + 1) - 0.5) * 12;
		other += x * (random_unit(42, 8, RANDOM_LOSS, i) - 0.5) * 12;
	}
	assert_near(next / N, 0, 3.29 / sqrt(N));
	assert_near(other / N, 0, 3.29 / sqrt(N));
}

/* Mean 1 and variance 1: mean within 3.29/sqrt(N); P(x > 2) = exp(-2). */
static void exponential_has_mean_one(void **state)
{
	double sum = 0, tail = 0, p = exp(-2);

	for (uint64_t i = 0; i < N; i++) {
		double x = random_exponential(42, 7, RANDOM_FAULT, i);

		assert_true(x >= 0);
		sum += x;
		tail += x > 2;
	}
	assert_near(sum / N, 1, 3.29 / sqrt(N));
	assert_near(tail / N, p, 3.29 * sqrt(p * (1 - p) / N));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_key_same_draw),
		cmocka_unit_test(unit_is_uniform),
		cmocka_unit_test(neighbours_are_uncorrelated),
		cmocka_unit_test(exponential_has_mean_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
