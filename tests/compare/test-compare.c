/* Two runs side by side: figures by hand, to either side of the tolerance. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bench/compare/compare.h"
#include "tests/test.h"

static const struct compare_tolerance usual = {COMPARE_POINTS, COMPARE_SHARE};

static struct record_case *add(struct record *r, const char *name, double useful, double p99)
{
	struct record_case *c = record_add_case(r, name);

	c->useful_work = useful;
	c->exchange_p99_s = p99;
	cleanup_free(&c->verdict);
	c->verdict = memory_string("holds");
	return c;
}

static struct record *one(double useful, double p99)
{
	struct record *r = record_new();

	add(r, "only", useful, p99);
	return r;
}

static struct run_comparison *finish(
	struct record *a, struct record *b, const struct compare_tolerance *t)
{
	struct run_comparison *c = compare_runs(a, b, t);

	record_free(a);
	record_free(b);
	return c;
}

static void judged(double b_useful, double b_p99, enum judgement useful, enum judgement p99)
{
	struct run_comparison *c = finish(one(.8, 10), one(b_useful, b_p99), &usual);

	assert_int_equal(c->n_figures, 2);
	assert_int_equal(c->figures[0].metric, METRIC_USEFUL_WORK);
	assert_int_equal(c->figures[1].metric, METRIC_EXCHANGE_P99);
	assert_int_equal(c->figures[0].judged, useful);
	assert_int_equal(c->figures[1].judged, p99);
	assert_int_equal(c->worse, useful == JUDGED_WORSE || p99 == JUDGED_WORSE);
	assert_false(c->invalid);
	run_comparison_free(c);
}

/* 80 % within 78 and 82 %, 10 s within 9.5 and 10.5 s. */
static void test_figures(void **state)
{
	judged(.8, 10, JUDGED_SAME, JUDGED_SAME);
	judged(.78, 10.5, JUDGED_SAME, JUDGED_SAME);
	judged(.82, 9.5, JUDGED_SAME, JUDGED_SAME);
	judged(.779, 10, JUDGED_WORSE, JUDGED_SAME);
	judged(.821, 10, JUDGED_BETTER, JUDGED_SAME);
	judged(.8, 10.51, JUDGED_SAME, JUDGED_WORSE);
	judged(.8, 9.49, JUDGED_SAME, JUDGED_BETTER);
	judged(NAN, 10, JUDGED_WORSE, JUDGED_SAME);
	judged(.8, NAN, JUDGED_SAME, JUDGED_WORSE);
}

static void test_change(void **state)
{
	struct run_comparison *c = finish(one(.8, 10), one(.75, 12), &usual);

	assert_float_equal(c->figures[0].change, -.05, 1e-12);
	assert_float_equal(c->figures[1].change, .2, 1e-12);
	run_comparison_free(c);
}

/* With no tolerance the same is the same, and a hair less is worse. */
static void test_exact(void **state)
{
	const struct compare_tolerance none = {0, 0};
	struct run_comparison *c = finish(one(.8, 10), one(.8, 10), &none);

	assert_false(c->worse);
	run_comparison_free(c);
	c = finish(one(.8, 10), one(.7999, 10), &none);
	assert_true(c->worse);
	run_comparison_free(c);
}

/* More or less on the wire is neither good nor bad; what A did not know is no loss. */
static void test_neither(void **state)
{
	struct record *a = one(.8, NAN), *b = one(.8, 10);
	struct run_comparison *c;

	record_add_wire(a->cases[0], "x", "up")->mean_bps = 1e9;
	record_add_wire(b->cases[0], "x", "up")->mean_bps = 5e8;
	c = finish(a, b, &usual);
	assert_int_equal(c->n_figures, 3);
	assert_int_equal(c->figures[1].metric, METRIC_WIRE_RATE);
	assert_int_equal(c->figures[1].judged, JUDGED_OTHER);
	assert_float_equal(c->figures[1].change, -.5, 1e-12);
	assert_int_equal(c->figures[2].judged, JUDGED_OTHER);
	assert_false(c->worse);
	run_comparison_free(c);
}

static void test_cases_by_name(void **state)
{
	struct record *a = record_new(), *b = record_new();
	struct run_comparison *c;

	add(a, "x", .9, NAN);
	add(a, "y", .5, NAN);
	add(b, "y", .5, NAN);
	add(b, "x", .9, NAN);
	add(b, "z", .1, NAN);
	c = compare_runs(a, b, &usual);
	assert_int_equal(c->n_figures, 2);
	assert_string_equal(c->figures[1].case_name, "y");
	assert_int_equal(c->n_notes, 1);
	assert_string_equal(c->notes[0], "A has no case z");
	assert_false(c->worse);
	run_comparison_free(c);
	c = compare_runs(b, a, &usual); /* what is gone is worse */
	assert_string_equal(c->notes[0], "B has no case z");
	assert_true(c->worse);
	run_comparison_free(c);
	record_free(a);
	record_free(b);
}

static struct run_comparison *by_verdict(const char *in_a, const char *in_b)
{
	struct record *a = one(.9, NAN), *b = one(.9, NAN);

	cleanup_free(&a->cases[0]->verdict);
	cleanup_free(&b->cases[0]->verdict);
	a->cases[0]->verdict = memory_string(in_a);
	b->cases[0]->verdict = memory_string(in_b);
	b->cases[0]->because = memory_string("the relay was late");
	return finish(a, b, &usual);
}

static void test_verdicts(void **state)
{
	struct run_comparison *c = by_verdict("holds", "fails");

	assert_true(c->worse);
	assert_false(c->invalid);
	assert_string_equal(c->notes[0], "only: the verdict was \"holds\" and is \"fails\"");
	run_comparison_free(c);
	c = by_verdict("fails", "holds");
	assert_false(c->worse);
	run_comparison_free(c);
	c = by_verdict("holds", "invalid");
	assert_true(c->invalid);
	assert_string_equal(c->notes[0], "B: only is invalid: the relay was late");
	assert_int_equal(c->n_notes, 1);
	run_comparison_free(c);
	c = by_verdict("partial", "holds");
	assert_true(c->invalid);
	assert_string_equal(c->notes[0], "A: only is partial: its record does not say why");
	run_comparison_free(c);
}

static void check_setting(
	const struct run_comparison *c, size_t i, const char *key, const char *a, const char *b)
{
	assert_string_equal(c->settings[i].key, key);
	assert_string_equal(c->settings[i].a ? c->settings[i].a : "-", a);
	assert_string_equal(c->settings[i].b ? c->settings[i].b : "-", b);
}

static void test_settings(void **state)
{
	struct record *a = one(.9, NAN), *b = one(.9, NAN);
	struct run_comparison *c;

	a->resolved = memory_string(
		"title: \"a: b # c\"\nlinks:\n  wan:\n    rate: 1 Gbit/s\n    loss: 0 %\n"
		"transport:\n  buffers: auto # 16.8 MB\n"
		"faults:\n  - kind: crash\n    at: 5 s\n");
	b->resolved = memory_string(
		"title: \"a: b # c\"\nlinks:\n  wan:\n    rate: 2 Gbit/s\n    loss: 0 %\n"
		"transport:\n  buffers: auto # 33.6 MB\n"
		"faults:\n  - kind: crash\n    at: 6 s\nexpect:\n  useful_work: \">= 9 %\"\n");
	c = compare_runs(a, b, &usual);
	assert_int_equal(c->n_settings, 3);
	check_setting(c, 0, "links.wan.rate", "1 Gbit/s", "2 Gbit/s");
	check_setting(c, 1, "faults[1].at", "5 s", "6 s");
	check_setting(c, 2, "expect.useful_work", "-", ">= 9 %");
	run_comparison_free(c);
	c = compare_runs(b, a, &usual);
	check_setting(c, 2, "expect.useful_work", ">= 9 %", "-");
	run_comparison_free(c);
	b->resolved[0] = '}'; /* damaged: as if empty */
	c = compare_runs(a, b, &usual);
	assert_int_equal(c->n_settings, 6);
	check_setting(c, 0, "title", "a: b # c", "-");
	run_comparison_free(c);
	record_free(a);
	record_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_neither),
		cmocka_unit_test(test_cases_by_name),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
