/* Statistics against values computed by hand or printed in textbooks. */
#include <math.h>

#include "base/stats.h"
#include "tests/test.h"

/* R: quantile(c(1,2,3,4,10), c(0,.25,.5,.9,1)) = 1 2 3 7.6 10 */
static void quantile_type_7(void **state)
{
	double v[] = {10, 3, 1, 4, 2};

	assert_near(stats_quantile(v, 5, 0), 1, 0);
	assert_near(stats_quantile(v, 5, .25), 2, 0);
	assert_near(stats_quantile(v, 5, .5), 3, 0);
	assert_near(stats_quantile(v, 5, .9), 7.6, 1e-12);
	assert_near(stats_quantile(v, 5, 1), 10, 0);
	assert_true(isnan(stats_quantile(v, 0, .5)));
}

static void histogram_is_within_its_buckets(void **state)
{
	static struct histogram h;

	assert_int_equal(histogram_quantile(&h, .5), -1);
	for (int64_t ns = 1; ns <= 1000000; ns += 7)
		histogram_add(&h, ns);
	for (double q = .01; q < 1; q += .01)
		assert_near((double)histogram_quantile(&h, q), q * 1e6, q * 1e6 * .033 + 8);
	assert_int_equal(histogram_quantile(&h, 1), h.max_ns);
	histogram_add(&h, INT64_MAX);
	assert_int_equal(h.max_ns, INT64_MAX);
}

/* Wilson 95 % for 2 of 30: (0.0185, 0.2132) in R's prop.test without correction. */
static void wilson_interval(void **state)
{
	double low, high;

	stats_wilson(2, 30, 1.959964, &low, &high);
	assert_near(low, 0.01847, 1e-4);
	assert_near(high, 0.21323, 1e-4);
	stats_wilson(0, 12000, 2.576, &low, &high);
	assert_true(low == 0); /* to the last bit: zero is inside */
	stats_wilson(12000, 12000, 2.576, &low, &high);
	assert_true(high == 1);
	stats_wilson(0, 0, 2.576, &low, &high);
	assert_near(low, 0, 0);
	assert_near(high, 1, 0);
}

/* Of 1 to 4: mean 2.5, s = 1.290994, t(0.975, 3) = 3.182446; of two: t(0.975, 1) = 12.7062. */
static void mean_with_interval(void **state)
{
	static const double values[] = {1, 2, 3, 4};
	double mean, half;

	stats_mean(values, 4, &mean, &half);
	assert_near(mean, 2.5, 1e-12);
	assert_near(half, 2.054258, .03);
	stats_mean(values, 2, &mean, &half);
	assert_near(mean, 1.5, 1e-12);
	assert_near(half, 6.3531, 1e-3);
	stats_mean(values, 1, &mean, &half);
	assert_near(mean, 1, 0);
	assert_true(isnan(half));
	stats_mean(NULL, 0, &mean, &half);
	assert_true(isnan(mean) && isnan(half));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantile_type_7),
		cmocka_unit_test(histogram_is_within_its_buckets),
		cmocka_unit_test(wilson_interval),
		cmocka_unit_test(mean_with_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
