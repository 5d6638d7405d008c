/*
 * Distribution tables: ours by their moments and quantiles, iproute2's by what its files are known
 * to hold.
 */
#include "tests/test.h"

#include <linux/pkt_sched.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "emu/netem/table.h"

static void moments(const int16_t *v, size_t n, double *mean, double *sigma)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	*mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += pow(v[i] - *mean, 2);
	*mean /= NETEM_DIST_SCALE;
	*sigma = sqrt(squares / (double)n) / NETEM_DIST_SCALE;
}

static void test_moments(void **state)
{
	int16_t v[TABLE_SIZE];
	double mean, sigma;

	for (enum table_kind kind = TABLE_NORMAL; kind < TABLE_KINDS; kind++) {
		table_make(v, kind);
		moments(v, TABLE_SIZE, &mean, &sigma);
		assert_near(mean, 0, 1e-4);
		assert_near(sigma, 1, 1e-3);
		for (int i = 1; i < TABLE_SIZE; i++)
			assert_true(v[i - 1] <= v[i]);
	}
	table_make(v, TABLE_UNIFORM);
	moments(v, TABLE_SIZE, &mean, &sigma);
	assert_near(mean, 0, 1e-6);
	assert_near(sigma, 1 / sqrt(3), 1e-4); /* of a uniform on [-1, 1] */
	assert_near(v[0], -NETEM_DIST_SCALE, 2.5);
	assert_near(v[TABLE_SIZE - 1], NETEM_DIST_SCALE, 2.5);
}

/* Shares below -1, 0, 1 and 2 sigma: Abramowitz and Stegun, table 26.1. */
static void test_normal_quantiles(void **state)
{
	const double at[] = {-1, 0, 1, 2}, share[] = {.158655, .5, .841345, .977250};
	int16_t v[TABLE_SIZE];

	table_make(v, TABLE_NORMAL);
	for (int k = 0; k < 4; k++) {
		int below = 0;

		for (int i = 0; i < TABLE_SIZE; i++)
			below += v[i] < at[k] * NETEM_DIST_SCALE;
		assert_near((double)below / TABLE_SIZE, share[k], 1.0 / TABLE_SIZE);
	}
}

/*
 * A Pareto variable of shape 3 is above its median with twice its survival at each factor 2^(1/3):
 * whatever it was shifted and stretched by, ratios of quantile differences stay.
 */
static void test_pareto_quantiles(void **state)
{
	int16_t v[TABLE_SIZE];
	double q0, q50, q875, want;

	table_make(v, TABLE_PARETO);
	q0 = v[0];
	q50 = (v[TABLE_SIZE / 2 - 1] + v[TABLE_SIZE / 2]) / 2.;
	q875 = (v[TABLE_SIZE / 8 * 7 - 1] + v[TABLE_SIZE / 8 * 7]) / 2.;
	want = (pow(8, 1 / 3.) - 1) / (pow(2, 1 / 3.) - 1); /* 3.847 */
	assert_near((q875 - q0) / (q50 - q0), want, .01);
}

/* iproute2's normal table is a Gaussian as well, sampled another way. */
static void test_iproute2(void **state)
{
	int16_t theirs[NETEM_DIST_MAX], ours[TABLE_SIZE];
	struct error err = {0};
	size_t n;

	if (table_load(theirs, &n, "normal", &err) < 0) {
		assert_non_null(strstr(err.text, "iproute2"));
		skip();
	}
	assert_int_equal(n, TABLE_SIZE);
	table_make(ours, TABLE_NORMAL);
	for (int i = 100; i < TABLE_SIZE - 100; i++)
		assert_near(theirs[i], ours[i], 40); /* 0.5 % of sigma */
	assert_int_equal(table_load(theirs, &n, "pareto", &err), 0);
	assert_int_equal(theirs[0], -5461);
}

static void write_table(const char *path, const char *text)
{
	_fclose_ FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
}

static void test_files(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{"# nothing\n\n", "no numbers"},
		{"1 2\n3 x 4\n", ":2: \"x\" is no whole number"},
		{"1 32768\n", "\"32768\""},
		{"1.5\n", "\"1.5\""},
	};
	int16_t v[NETEM_DIST_MAX];
	char folder[] = "/tmp/table-XXXXXX", path[64];
	struct error err = {0};
	size_t n;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/mine.dist", folder);
	setenv("TC_LIB_DIR", folder, 1);
	write_table(path, "# mine\n-5 0 # five\n 32767\t-32768\n");
	assert_int_equal(table_load(v, &n, "mine", &err), 0);
	assert_int_equal(n, 4);
	assert_int_equal(v[0], -5);
	assert_int_equal(v[3], -32768);
	assert_int_equal(table_load(v, &n, path, &err), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		err = (struct error){0};
		write_table(path, wrong[i].text);
		assert_true(table_load(v, &n, "mine", &err) < 0);
		assert_int_equal(err.status, STATUS_INPUT);
		assert_non_null(strstr(err.text, wrong[i].error));
	}
	unlink(path);
	err = (struct error){0};
	assert_true(table_load(v, &n, "nobodys", &err) < 0);
	assert_non_null(strstr(err.text, "no distribution \"nobodys\""));
	rmdir(folder);
	unsetenv("TC_LIB_DIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_normal_quantiles),
		cmocka_unit_test(test_pareto_quantiles),
		cmocka_unit_test(test_iproute2),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests_name("netem-table", tests, NULL, NULL);
}
