/* The fault schedule: distribution, order, overlap, repeatability. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/fault.h"
#include "tests/test.h"

#define S NS_PER_S

static void exponential_times_between_failures(void **state)
{
	const struct fault_rule rule = {FAULT_CRASH, 0, -1, 0, 600 * S, 45 * S};
	_free_ struct fault *f = NULL;
	size_t n = fault_schedule(&rule, 1, 42, 1, INT64_C(64500000) * S, &f);
	double sum = 0, over_mean = 0;

	/* One per 645 s in 6.45e7 s: 1e5 expected. Each gap has mean and deviation 600 s, so
	 * the mean's standard error is 1.9 s; 4.5 of them make the test wrong once in 1.5e5. */
	assert_in_range(n, 98000, 102000);
	for (size_t i = 0; i < n; i++) {
		int64_t gap_ns = f[i].at_ns - (i ? f[i - 1].at_ns + f[i - 1].for_ns : 0);

		assert_true(gap_ns >= 0);
		assert_int_equal(f[i].for_ns, 45 * S);
		sum += (double)gap_ns / 1e9;
		over_mean += gap_ns > 600 * S;
	}
	assert_near(sum / (double)n, 600, 8.6);
	/* P(gap > mean) = 1/e; the fraction's standard error is 0.0015. */
	assert_near(over_mean / (double)n, 0.36788, 0.0069);
}

static void each_site_has_its_own_times(void **state)
{
	const struct fault_rule rules[] = {
		{FAULT_CRASH, -1, -1, 0, 100 * S, 10 * S}, {FAULT_BLACKOUT, 2, 50 * S, 5 * S, 0, 0},
		{FAULT_BLACKOUT, 1, 2000 * S, 5 * S, 0, 0}, /* past the horizon, but told */
	};
	_free_ struct fault *a = NULL, *b = NULL, *c = NULL;
	size_t n = fault_schedule(rules, 3, 1, 4, 1000 * S, &a), crashes[4] = {0}, blackouts = 0;

	for (size_t i = 0; i < n; i++) {
		assert_true(!i || a[i - 1].at_ns <= a[i].at_ns);
		if (a[i].kind == FAULT_CRASH) {
			assert_true(a[i].at_ns < 1000 * S);
			crashes[a[i].site]++;
			continue;
		}
		assert_int_equal(a[i].site, blackouts ? 1 : 2);
		assert_int_equal(a[i].at_ns, blackouts ? 2000 * S : 50 * S);
		blackouts++;
	}
	assert_int_equal(blackouts, 2);
	for (int s = 0; s < 4; s++)
		assert_true(crashes[s] > 0);
	assert_int_equal(fault_schedule(rules, 3, 1, 4, 1000 * S, &b), n);
	assert_memory_equal(a, b, n * sizeof *a);
	/* Another seed; and a rule after it leaves the first rule's times alone. */
	assert_true(fault_schedule(rules, 1, 2, 4, 1000 * S, &c) > 0);
	assert_int_not_equal(c[0].at_ns, a[0].at_ns);
	free(c);
	assert_int_equal(fault_schedule(rules, 1, 1, 4, 1000 * S, &c), n - 2);
	for (size_t i = 0, k = 0; i < n; i++)
		if (a[i].kind == FAULT_CRASH)
			assert_int_equal(a[i].at_ns, c[k++].at_ns);
}

static void none_begins_during_another(void **state)
{
	const struct fault_rule rules[] = {
		{FAULT_CRASH, 0, 10 * S, 10 * S, 0, 0},
		{FAULT_CRASH, 0, 19 * S, 10 * S, 0, 0},	  /* during the first: nothing */
		{FAULT_CRASH, 0, 20 * S, 1 * S, 0, 0},	  /* as it ends: another */
		{FAULT_CRASH, 1, 15 * S, 1 * S, 0, 0},	  /* another site */
		{FAULT_BLACKOUT, 0, 15 * S, 1 * S, 0, 0}, /* another kind */
		{FAULT_CRASH, -1, -1, 0, 20 * S, 15 * S},
		{FAULT_CRASH, -1, -1, 0, 20 * S, 5 * S},
	};
	_free_ struct fault *f = NULL;
	size_t n = fault_schedule(rules, 5, 3, 2, 100 * S, &f);

	assert_int_equal(n, 4);
	/* At 15 s the crash on site 1 comes before the blackout on site 0: by kind, then site. */
	assert_int_equal(f[1].site, 1);
	assert_int_equal(f[2].kind, FAULT_BLACKOUT);
	assert_int_equal(f[3].at_ns, 20 * S);
	free(f);
	n = fault_schedule(rules, 7, 3, 2, 100000 * S, &f);
	assert_true(n > 5000);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && f[k].at_ns < f[i].at_ns + f[i].for_ns; k++)
			assert_false(f[i].kind == f[k].kind && f[i].site == f[k].site);
}

static void no_rules_no_faults(void **state)
{
	const struct fault_rule rare = {FAULT_CRASH, -1, -1, 0, INT64_MAX, 0};
	struct fault *f;

	assert_int_equal(fault_schedule(NULL, 0, 1, 8, 100 * S, &f), 0);
	assert_null(f);
	assert_int_equal(fault_schedule(&rare, 1, 1, 8, 100 * S, &f), 0);
	assert_null(f);
	assert_string_equal(fault_kind_name(FAULT_CRASH), "crash");
	assert_string_equal(fault_kind_name(FAULT_BLACKOUT), "blackout");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exponential_times_between_failures),
		cmocka_unit_test(each_site_has_its_own_times),
		cmocka_unit_test(none_begins_during_another),
		cmocka_unit_test(no_rules_no_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
