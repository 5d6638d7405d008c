/* A job's arithmetic: shares, payloads, step durations. */
#include <string.h>

#include "base/units.h"
#include "bench/runtime.h"
#include "tests/test.h"

static void shares_sum_and_differ_by_one(void **state)
{
	const int64_t totals[] = {0, 1, 3, 7, 8, 1000003, INT64_C(6000000000), INT64_MAX};

	for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
		for (int64_t n = 1; n <= 64; n++) {
			int64_t sum = 0;

			for (int64_t i = 0; i < n; i++) {
				int64_t share = share_of(totals[t], i, n);

				assert_in_range(share - totals[t] / n, 0, 1);
				sum += share;
			}
			assert_int_equal(sum, totals[t]);
		}
	}
}

static void payload_is_rounded_up_once(void **state)
{
	struct job job = {.parameters = INT64_C(12000000000), .bits = 4, .fragments = 24};
	int64_t sum = 0;

	assert_int_equal(job_payload_bytes(&job), INT64_C(6000000000));
	assert_int_equal(job_fragment_bytes(&job, 0), 250000000);
	job.parameters = 12345;
	job.bits = 3; /* 37035 bit = 4629.375 byte */
	assert_int_equal(job_payload_bytes(&job), 4630);
	for (int p = 0; p < job.fragments; p++)
		sum += job_fragment_bytes(&job, p);
	assert_int_equal(sum, 4630);
	job.parameters = INT64_C(10000000000000);
	job.bits = 64; /* 6.4e14 bits do not fit where 32 are kept */
	assert_int_equal(job_payload_bytes(&job), INT64_C(80000000000000));
}

static void steps_spread_uniformly(void **state)
{
	struct job job = {.seed = 7, .step_ns = 1000000000, .step_spread = RATIO_ONE / 20};
	double sum = 0, squares = 0, low = 2, high = 0;
	const int n = 100000;

	job.speed[0] = job.speed[1] = 1;
	job.speed[2] = 4;
	for (int k = 0; k < n; k++) {
		double t = (double)job_step_ns(&job, 0, k) / 1e9;

		sum += t;
		squares += (t - 1) * (t - 1);
		low = t < low ? t : low;
		high = t > high ? t : high;
	}
	assert_true(low >= 0.95 && low < 0.9501);
	assert_true(high < 1.05 && high > 1.0499);
	/* The mean's standard error is 0.05/sqrt(3)/sqrt(n) = 9.1e-5; 4.5 of them: 7e-6 wrong. */
	assert_near(sum / n, 1, 4.1e-4);
	/* Variance of a uniform: 0.05^2/3 = 8.333e-4, its standard error 2.4e-6. */
	assert_near(squares / n, 0.05 * 0.05 / 3, 1.1e-5);
	assert_int_equal(job_step_ns(&job, 0, 5), job_step_ns(&job, 0, 5));
	assert_int_not_equal(job_step_ns(&job, 0, 5), job_step_ns(&job, 1, 5));
	job.step_spread = 0;
	assert_int_equal(job_step_ns(&job, 2, 5), 250000000);
	job.step_ns = 1;
	assert_int_equal(job_step_ns(&job, 2, 5), 1);
}

static void strategies_are_found_by_name(void **state)
{
	size_t n = 0;

	for (const struct strategy *s; (s = strategy_at(n)); n++) {
		assert_ptr_equal(strategy_find(s->name), s);
		assert_true(strlen(s->summary) > 10);
	}
	assert_null(strategy_find("no-such-strategy"));
	assert_null(strategy_at(n + 1));
}

static void reports_have_names(void **state)
{
	for (int k = REPORT_STEP; k <= REPORT_CHECKPOINT; k++)
		assert_string_not_equal(rt_report_name(k), "unknown");
	assert_string_equal(rt_report_name(REPORT_EXCHANGE), "exchange");
	assert_string_equal(rt_report_name(REPORT_CHECKPOINT + 1), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_sum_and_differ_by_one),
		cmocka_unit_test(payload_is_rounded_up_once),
		cmocka_unit_test(steps_spread_uniformly),
		cmocka_unit_test(strategies_are_found_by_name),
		cmocka_unit_test(reports_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
