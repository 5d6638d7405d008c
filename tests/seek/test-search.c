/*
 * The search on functions whose answer is known: where a curve crosses 0.9 is solved by hand,
 * and the result lies within the tolerance of it.
 */
#include <errno.h>
#include <math.h>

#include "bench/seek/search.h"
#include "tests/test.h"

struct curve {
	double (*at)(double x);
	int calls, fails_after;
};

static int try(void *user, double value, struct search_point *out, struct error *err)
{
	struct curve *c = user;

	if (c->fails_after && c->calls == c->fails_after)
		return error_set(err, -EIO, STATUS_MACHINE, "broken");
	c->calls++;
	out->got = c->at(value);
	out->holds = out->got >= .9;
	return 0;
}

/* 0.9 at 9e9, as of a link: x / (x + 1e9) */
static double saturates(double x)
{
	return x / (x + 1e9);
}

/* 0.9 at 0.5 s, falling: 1 / (1 + x^2 * 4 / 9) = 0.9 at x^2 = 0.25 */
static double falls(double x)
{
	return 1 / (1 + x * x * 4 / 9);
}

/* At least 0.9 from 37 on. */
static double stairs(double x)
{
	return x >= 37 ? 1 : 0;
}

/* 0.9 or more between 30 and 60 only. */
static double hill(double x)
{
	return x >= 30 && x <= 60 ? .95 : .5;
}

static double never(double x)
{
	return x / 200;
}

static struct search_result search(double (*at)(double), const struct search *s, int *calls)
{
	struct curve c = {.at = at};
	struct search_result r;
	struct error err = {0};

	assert_int_equal(search_run(&r, s, try, &c, &err), 0);
	for (size_t i = 0; i + 1 < r.n; i++)
		assert_true(r.points[i].value < r.points[i + 1].value);
	assert_int_equal(c.calls, (int)r.n);
	if (calls)
		*calls = c.calls;
	return r;
}

static void test_rate(void **state)
{
	const double tolerances[] = {.05, .01, .001, 1e-6};
	size_t turn;

	for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
		const struct search s = {.low = 1e6, .high = 1e11, .tolerance = tolerances[i]};
		int calls;
		struct search_result r = search(saturates, &s, &calls);

		assert_int_equal(r.outcome, SEARCH_FOUND);
		assert_true(r.found >= 9e9 * (1 - 1e-9));
		assert_true(r.next < 9e9);
		assert_true(r.found / r.next - 1 <= tolerances[i] * 1.01);
		assert_false(search_turns(&r, false, &turn));
		/* 5, and halvings of a quarter of 5 decades: log2(ln(10^1.25) / tolerance) */
		assert_true(calls <= 5 + 1 + (int)ceil(log2(2.878 / tolerances[i])));
	}
}

static void test_largest(void **state)
{
	const struct search s = {.low = 1e-3, .high = 100, .largest = true, .tolerance = .01};
	struct search_result r = search(falls, &s, NULL);

	assert_int_equal(r.outcome, SEARCH_FOUND);
	assert_true(r.found <= .5 && r.next > .5);
	assert_true(r.next / r.found <= 1.0101);
}

static void test_linear_from_zero(void **state)
{
	const struct search s = {.low = 0, .high = 4, .largest = true, .tolerance = .001};
	struct search_result r = search(falls, &s, NULL);

	assert_false(search_is_log(&s));
	assert_near(r.found, .5, .0006);
}

static void test_whole(void **state)
{
	for (int high = 38; high < 4000; high = high * 3 / 2) {
		const struct search s = {.low = 1, .high = high, .whole = true, .tolerance = .5};
		struct search_result r = search(stairs, &s, NULL);

		assert_near(r.found, 37, 0);
		assert_near(r.next, 36, 0);
	}
}

static void test_few_values(void **state)
{
	const struct search s = {.low = 36, .high = 37, .whole = true, .tolerance = .01};
	struct search_result r = search(stairs, &s, NULL);

	assert_int_equal(r.n, 2);
	assert_near(r.found, 37, 0);
}

static void test_bounds(void **state)
{
	const struct search small = {.low = 40, .high = 50, .tolerance = .01};
	const struct search large = {.low = 40, .high = 50, .largest = true, .tolerance = .01};
	struct search_result r = search(stairs, &small, NULL);

	assert_int_equal(r.outcome, SEARCH_BOUND);
	assert_near(r.found, 40, 0);
	assert_true(isnan(r.next));
	r = search(stairs, &large, NULL);
	assert_int_equal(r.outcome, SEARCH_BOUND);
	assert_near(r.found, 50, 0);
}

static void test_none(void **state)
{
	const struct search s = {.low = 1, .high = 100, .tolerance = .01};
	struct search_result r = search(never, &s, NULL);

	assert_int_equal(r.outcome, SEARCH_NONE);
	assert_true(isnan(r.found));
	assert_int_equal(r.n, SEARCH_SPREAD);
	assert_near(search_best(&r, .9)->value, 100, 0);
	assert_near(search_best(&r, .9)->got, .5, 1e-12);
}

static void test_turns(void **state)
{
	const struct search small = {.low = 1, .high = 100, .tolerance = .01, .whole = true};
	const struct search large = {
		.low = 1, .high = 100, .tolerance = .01, .whole = true, .largest = true};
	struct search_result r = search(hill, &small, NULL);
	size_t turn;

	assert_int_equal(r.outcome, SEARCH_FOUND);
	assert_near(r.found, 30, 0);
	assert_true(search_turns(&r, false, &turn));
	assert_true(r.points[turn].holds && !r.points[turn + 1].holds);
	r = search(hill, &large, NULL);
	assert_near(r.found, 60, 0);
	assert_true(search_turns(&r, true, &turn));
	assert_true(!r.points[turn].holds && r.points[turn + 1].holds);
}

static double wave(double x)
{
	return x / 100 + (x > 20 && x < 40 ? -.25 : 0);
}

static void test_metric_turns(void **state)
{
	const struct search s = {.low = 10, .high = 90, .tolerance = .01};
	struct search_result r = search(wave, &s, NULL);
	size_t turn;

	assert_true(search_turns(&r, false, &turn));
	assert_near(r.points[turn].value, 10, 0);
}

static double unknown_below(double x)
{
	return x < 50 ? NAN : .95;
}

static void test_unknown(void **state)
{
	const struct search s = {.low = 1, .high = 100, .tolerance = .01};
	struct search_result r = search(unknown_below, &s, NULL);
	size_t turn;

	assert_int_equal(r.outcome, SEARCH_FOUND);
	assert_true(r.found >= 50 && r.found < 50.6);
	assert_false(search_turns(&r, false, &turn));
}

static void test_error(void **state)
{
	for (int i = 1; i < 8; i++) {
		const struct search s = {.low = 1e6, .high = 1e11, .tolerance = .01};
		struct curve c = {.at = saturates, .fails_after = i};
		struct search_result r;
		struct error err = {0};

		assert_int_equal(search_run(&r, &s, try, &c, &err), -EIO);
		assert_string_equal(err.text, "broken");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_linear_from_zero),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_few_values),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_metric_turns),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
