/* The published simulators' tables, recomputed; and the tables as they were published. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/published/ideal.h"
#include "tests/test.h"

static struct published_job web(const char *strategy, int period, int fragments, int overlap)
{
	return (struct published_job){
		strategy, 10e9, 16, 1, 0, 2, period, fragments, overlap, 128, PUBLISHED_EVEN};
}

/* Given with the task in Gbit/s, at 50, 75, 90, 95 and 99 %. */
static void the_web_simulators_defaults(void **state)
{
	static const double cu[] = {.50, .75, .90, .95, .99};
	static const struct {
		const char *strategy;
		int period, fragments, overlap;
		double gbps[5];
	} rows[] = {
		{"data-parallel", 1, 1, 0, {96.3, 160.8, 207.1, 224.1, 238.3}},
		{"diloco", 30, 1, 0, {5.22, 15.0, 40.1, 71.4, 165.9}},
		{"streaming-diloco", 100, 16, 1, {1.26, 2.67, 4.24, 5.02, 5.8}},
	};

	for (int r = 0; r < 3; r++) {
		struct published_job job =
			web(rows[r].strategy, rows[r].period, rows[r].fragments, rows[r].overlap);

		for (int c = 0; c < 5; c++)
			assert_near(ideal_rate_bps(&job, cu[c]) / 1e9 / rows[r].gbps[c], 1, .01);
	}
}

/* stall = max(0, max(T/3 + 2T/(3B) + F/R, T + F/(R B)) - T), F = 16 N for two. */
static void one_exchange_follows_the_closed_formula(void **state)
{
	for (double rate = 1e9; rate < 1e12; rate *= 1.7) {
		struct published_job job = web("diloco", 7, 1, 0);
		double x = 160e9 / rate, stall;

		stall = fmax(0, fmax(1. / 3 + 2. / (3 * 128) + x, 1 + x / 128) - 1);
		assert_near(ideal_utilisation(&job, rate), 7 / (7 + stall), 1e-12);
		/* f = 2 (M-1)/M: among 8, 7/4 of it */
		job.replicas = 8;
		assert_near(ideal_utilisation(&job, rate * 1.75), 7 / (7 + stall), 1e-12);
	}
}

/*
 * One fragment of 3 strided layers over 3 P: the first layer's sending hides all but its own place.
 * At a low rate all P stall, by x - (2/3 (1 - (p+1)/L) + tau) T: on average 5/9 T as P grows.
 */
static void strided_fragments_hide_five_ninths(void **state)
{
	struct published_job job = {
		"streaming-diloco", 1e9, 16, 0.1, 0, 2, 3600, 1200, 1, 3600, PUBLISHED_STRIDED};
	double x = 16e9 / 1200 / 5e6;

	assert_near(ideal_utilisation(&job, 5e6), .3 / (.3 + x - (5. / 9 + 1) * .1), 1e-4);
}

struct tally {
	int cells, exact, within;
};

static struct tally compare(const char *name, const char *group, double step_s)
{
	const struct published_table *t = published_find(name);
	struct tally tally = {0};

	assert_non_null(t);
	for (size_t r = 0; r < t->n_rows; r++) {
		struct published_job job = t->rows[r].job;

		if (group && strcmp(t->rows[r].group, group))
			continue;
		if (step_s > 0)
			job.step_s = step_s;
		for (size_t c = 0; c < t->n_columns; c++) {
			int steps = published_grid_steps(
				ideal_grid_point(&job, t->columns[c]), t->rows[r].value[c]);

			tally.cells++;
			tally.exact += steps == 0;
			tally.within += abs(steps) <= 1;
		}
	}
	return tally;
}

static void table_4_of_streaming_diloco(void **state)
{
	struct tally t = compare("streaming-diloco", NULL, 0);

	assert_int_equal(t.cells, 75);
	assert_int_equal(t.within, 75);
	assert_true(t.exact >= 60);
}

/*
 * Table 6's 10B model has the printed inputs of Table 4's and other results; its step of "0.8 s"
 * is rounded. At 0.8 one cell is two steps away, at 0.83, printed alike, none is.
 */
static void table_6_of_the_scaling_laws(void **state)
{
	struct tally all = compare("scaling-laws", NULL, 0);
	struct tally rounded = compare("scaling-laws", "Chinchilla 10B", 0.83);
	struct tally large = compare("scaling-laws", "Llama-3 405B", 0);

	assert_int_equal(all.cells, 50);
	assert_int_equal(all.within, 49);
	assert_int_equal(rounded.within, 25);
	assert_int_equal(large.within, 25);
}

static void steps_are_counted_from_the_nearest_point(void **state)
{
	assert_near(published_grid_bps(0), 1e8, 1);
	assert_near(published_grid_bps(49), 1e12, 1e4);
	assert_near(published_grid_bps(1) / published_grid_bps(0), 1.2067926, 1e-7);
	assert_int_equal(published_grid_steps(9, .5e9), 0); /* 0.543 */
	assert_int_equal(published_grid_steps(7, .5e9), -2);
	assert_int_equal(published_grid_steps(47, 569e9), 1);
}

/* Every number of a table that is on the grid is one of its points, printed with a decimal. */
static void tables_on_the_grid_are(void **state)
{
	const struct published_table *t;
	int cells = 0;

	for (size_t i = 0; (t = published_at(i)); i++) {
		if (!t->on_grid)
			continue;
		for (size_t r = 0; r < t->n_rows; r++)
			for (size_t c = 0; c < t->n_columns; c++) {
				double printed = t->rows[r].value[c];
				int point = -published_grid_steps(0, printed);

				assert_near(published_grid_bps(point), printed, .06e9);
				cells++;
			}
	}
	assert_int_equal(cells, 125);
}

static void more_link_is_never_worse(void **state)
{
	const struct published_table *t = published_find("streaming-diloco");

	for (size_t r = 0; r < t->n_rows; r++) {
		double before = 0;

		for (int i = 0; i < PUBLISHED_GRID_POINTS; i++) {
			double cu = ideal_utilisation(&t->rows[r].job, published_grid_bps(i));

			assert_true(cu >= before && cu <= 1);
			before = cu;
		}
		assert_near(ideal_utilisation(&t->rows[r].job, ideal_rate_bps(&t->rows[r].job, .9)),
			.9, 1e-6);
	}
}

static void every_table_has_its_source(void **state)
{
	const struct published_table *t;

	for (size_t i = 0; (t = published_at(i)); i++) {
		assert_ptr_equal(published_find(t->name), t);
		assert_non_null(t->title);
		assert_non_null(t->source);
		assert_in_range(t->n_columns, 1, PUBLISHED_COLUMNS);
		assert_true(t->n_rows > 0);
	}
	assert_null(published_find("no such table"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_web_simulators_defaults),
		cmocka_unit_test(one_exchange_follows_the_closed_formula),
		cmocka_unit_test(strided_fragments_hide_five_ninths),
		cmocka_unit_test(table_4_of_streaming_diloco),
		cmocka_unit_test(table_6_of_the_scaling_laws),
		cmocka_unit_test(steps_are_counted_from_the_nearest_point),
		cmocka_unit_test(tables_on_the_grid_are),
		cmocka_unit_test(more_link_is_never_worse),
		cmocka_unit_test(every_table_has_its_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
