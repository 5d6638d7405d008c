/* The loss processes against the formulas of loss.h, over many segments of a fixed seed. */
#include <math.h>

#include "emu/loss.h"
#include "tests/test.h"

#define N 1000000

/*
 * Share of lost segments and mean run of them. Independent runs: a mean over n of a two-state
 * chain with correlation c has the variance p (1 - p) (1 + c) / (1 - c) / n; 4.9 standard
 * deviations are passed by chance once in a million.
 */
static void check_bursts(double loss, double length)
{
	const struct link_state s = {.burst_loss = loss, .burst_length = length};
	double enter = loss / length / (1 - loss), c = 1 - enter - 1 / length;
	double lost = 0, runs = 0, sd = sqrt(loss * (1 - loss) * (1 + c) / (1 - c) / N);
	struct loss_chain chain;
	bool before = false;

	loss_init(&chain, 7, 3);
	for (int i = 0; i < N; i++) {
		bool bad = loss_next(&chain, &s) == DROP_BURST;

		lost += bad;
		runs += bad && !before;
		before = bad;
	}
	assert_float_equal(lost / N, loss, 4.9 * sd);
	assert_float_equal(lost / runs, length, 4.9 * length * sqrt((1 - 1 / length) / runs));
}

/* Heavy loss, where what a burst's beginning owes to the segments already in one is large. */
static void test_bursts(void **state)
{
	check_bursts(0.02, 10);
	check_bursts(0.3, 4);
	check_bursts(0.6, 3);
}

/* Independent: binomial, no memory. */
static void test_random(void **state)
{
	const struct link_state s = {.loss = 0.3, .burst_length = 1};
	double lost = 0, pairs = 0;
	struct loss_chain chain;
	bool before = false;

	loss_init(&chain, 7, 3);
	for (int i = 0; i < N; i++) {
		bool bad = loss_next(&chain, &s) == DROP_RANDOM;

		lost += bad;
		pairs += bad && before;
		before = bad;
	}
	assert_float_equal(lost / N, 0.3, 4.9 * sqrt(0.3 * 0.7 / N));
	/* neighbours share a draw: the variance is at most three times that of independent pairs */
	assert_float_equal(pairs / N, 0.09, 4.9 * sqrt(3 * 0.09 * 0.91 / N));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
