/* The ledger against stories worked out by hand. */
#include <math.h>

#include "bench/ledger.h"
#include "tests/test.h"

static void tell(
	struct ledger *l, int64_t at_ns, enum rt_report_kind kind, int64_t a, double amount)
{
	ledger_report(l, at_ns, &(struct rt_report){.kind = kind, .a = a, .amount = amount});
}

static void states_sum_to_the_wall(void **state)
{
	struct ledger l;

	ledger_start(&l, 100, STATE_COMPUTE, INFINITY);
	ledger_state(&l, 150, STATE_EXPOSED_COMM);
	tell(&l, 170, REPORT_MEASURE, 0, 0);
	ledger_state(&l, 200, STATE_COMPUTE);
	ledger_state(&l, 260, STATE_DOWN);
	ledger_state(&l, 300, STATE_RECOVER);
	ledger_state(&l, 300, STATE_BARRIER_WAIT);
	ledger_finish(&l, 310);
	ledger_state(&l, 400, STATE_COMPUTE);
	tell(&l, 500, REPORT_STEP, 9, 0);
	ledger_finish(&l, 600);
	assert_int_equal(l.in_ns[STATE_EXPOSED_COMM], 30);
	assert_int_equal(l.in_ns[STATE_COMPUTE], 60);
	assert_int_equal(l.in_ns[STATE_DOWN], 40);
	assert_int_equal(l.in_ns[STATE_RECOVER], 0);
	assert_int_equal(l.in_ns[STATE_BARRIER_WAIT], 10);
	assert_int_equal(ledger_wall_ns(&l), 140);
	assert_int_equal(l.from_ns, 170);
	assert_int_equal(l.until_ns, 310);
	assert_near(l.steps_completed, 0, 0);
}

static void a_crash_loses_what_is_pending(void **state)
{
	struct ledger l;

	ledger_start(&l, 0, STATE_COMPUTE, INFINITY);
	for (int step = 0; step < 10; step++)
		tell(&l, step + 1, REPORT_STEP, step, 0);
	tell(&l, 10, REPORT_USEFUL, 0, 6.5);
	assert_near(ledger_steps_pending(&l), 3.5, 0);
	assert_near(ledger_steps_counted(&l), 6.5, 0); /* no exchange: pending is nothing */
	tell(&l, 10, REPORT_EXCHANGE, 0, 1);
	assert_near(ledger_steps_counted(&l), 10, 0);
	ledger_state(&l, 12, STATE_DOWN);
	assert_near(l.steps_lost, 3.5, 0);
	assert_near(ledger_steps_pending(&l), 0, 0);
	ledger_state(&l, 13, STATE_DOWN); /* again while down: nothing more to lose */
	assert_near(l.steps_lost, 3.5, 0);
	assert_near(ledger_steps_counted(&l), 6.5, 0);
}

static void a_rollback_takes_useful_steps_back(void **state)
{
	struct ledger l;

	ledger_start(&l, 0, STATE_COMPUTE, INFINITY);
	tell(&l, 1, REPORT_STEP, 0, 0);
	tell(&l, 2, REPORT_STEP, 1, 0);
	tell(&l, 2, REPORT_MEASURE, 2, 0);
	tell(&l, 3, REPORT_MEASURE, 2, 0); /* a second time: no new window */
	for (int step = 2; step < 10; step++)
		tell(&l, step + 1, REPORT_STEP, step, 0);
	tell(&l, 10, REPORT_USEFUL, 0, 7); /* steps 2 .. 8 */
	tell(&l, 10, REPORT_LOST, 0, 1);
	tell(&l, 10, REPORT_ROLLBACK, 9, 0);
	assert_near(l.steps_useful, 7, 0);
	tell(&l, 10, REPORT_ROLLBACK, 1, 0); /* into the warm-up: all was in vain */
	assert_near(l.steps_useful, 0, 0);
	assert_near(l.steps_lost, 8, 0);
	tell(&l, 11, REPORT_STEP, 1, 0); /* a warm-up step again: does not count */
	assert_near(l.steps_completed, 8, 0);
	assert_int_equal(l.from_ns, 2);
}

static void a_run_within_its_warm_up_has_figures(void **state)
{
	struct ledger l;

	ledger_start(&l, 0, STATE_COMPUTE, INFINITY);
	ledger_state(&l, 40, STATE_EXPOSED_COMM);
	ledger_finish(&l, 100);
	assert_false(l.measuring);
	assert_int_equal(ledger_wall_ns(&l), 100);
	assert_int_equal(l.exchanges, 0);
}

static void totals_are_weighted_by_accelerators(void **state)
{
	struct ledger a, b;
	const struct ledger *both[] = {&a, &b};
	const int64_t step_ns[] = {10, 5};
	const double accelerators[] = {1, 3};
	struct ledger_totals t;

	/* a: 4 useful steps of 10 ns in 100 ns, 50 computing, 30 exposed, 20 down. */
	ledger_start(&a, 0, STATE_COMPUTE, INFINITY);
	for (int step = 0; step < 5; step++)
		tell(&a, 10 * step + 10, REPORT_STEP, step, 0);
	tell(&a, 50, REPORT_USEFUL, 0, 4);
	ledger_state(&a, 50, STATE_EXPOSED_COMM);
	ledger_state(&a, 80, STATE_DOWN);
	ledger_finish(&a, 100);
	/* b: 8 useful and 2 pending steps of 5 ns in 100 ns, 50 computing, 50 exposed. */
	ledger_start(&b, 0, STATE_COMPUTE, INFINITY);
	for (int step = 0; step < 10; step++)
		tell(&b, 5 * step + 5, REPORT_STEP, step, 0);
	tell(&b, 50, REPORT_USEFUL, 0, 8);
	tell(&b, 50, REPORT_EXCHANGE, 0, 1);
	ledger_state(&b, 50, STATE_EXPOSED_COMM);
	ledger_finish(&b, 100);

	ledger_totals(both, step_ns, accelerators, 2, &t);
	assert_near(t.useful_work, (1 * 4 * 10 + 3 * 10 * 5) / 400., 1e-15);
	assert_near(t.compute_utilisation, (50 + 3 * 50) / (80. + 3 * 100), 1e-15);
	assert_near(t.availability, 1 - 20 / 400., 1e-15);
	assert_near(t.useful_steps, 12, 0);
	assert_near(t.lost_steps, 1, 0);
	assert_near(t.pending_steps, 2, 0);
	ledger_start(&a, 0, STATE_COMPUTE, INFINITY);
	ledger_totals(both, step_ns, accelerators, 1, &t);
	assert_true(isnan(t.useful_work) && isnan(t.compute_utilisation) && isnan(t.availability));
}

/*
 * 40 steps, of which 1.5 were merged before nothing was any more: of the rest 6 may still be on
 * their way, 32.5 are overdue. Without any exchange none counts; within the 6 all do.
 */
static void what_is_overdue_does_not_count(void **state)
{
	struct ledger l;

	ledger_start(&l, 0, STATE_COMPUTE, 6);
	for (int i = 0; i < 40; i++)
		tell(&l, i, REPORT_STEP, i, 0);
	assert_float_equal(ledger_steps_counted(&l), 0, 0);
	tell(&l, 40, REPORT_EXCHANGE, 0, 0);
	tell(&l, 40, REPORT_USEFUL, 0, 1.5);
	assert_float_equal(ledger_steps_pending(&l), 38.5, 1e-12);
	assert_float_equal(ledger_steps_overdue(&l), 32.5, 1e-12);
	assert_float_equal(ledger_steps_counted(&l), 7.5, 1e-12);
	tell(&l, 41, REPORT_USEFUL, 0, 34);
	assert_float_equal(ledger_steps_overdue(&l), 0, 0);
	assert_float_equal(ledger_steps_counted(&l), 40, 1e-12);
}

/* The window that begins later keeps what was told at the start. */
static void overdue_in_the_window(void **state)
{
	struct ledger l;

	ledger_start(&l, 0, STATE_COMPUTE, 2);
	tell(&l, 5, REPORT_MEASURE, 3, 0);
	for (int i = 0; i < 10; i++)
		tell(&l, 6, REPORT_STEP, i, 0);
	assert_float_equal(ledger_steps_overdue(&l), 5, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_sum_to_the_wall),
		cmocka_unit_test(a_crash_loses_what_is_pending),
		cmocka_unit_test(a_rollback_takes_useful_steps_back),
		cmocka_unit_test(a_run_within_its_warm_up_has_figures),
		cmocka_unit_test(totals_are_weighted_by_accelerators),
		cmocka_unit_test(what_is_overdue_does_not_count),
		cmocka_unit_test(overdue_in_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
