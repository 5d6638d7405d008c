/* Comparisons: what they come to, and that every form of them says so. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/published/compare.h"
#include "bench/published/goodput.h"
#include "bench/published/show.h"
#include "results/published/words.h"
#include "tests/test.h"

static struct comparison *compare(const char *name)
{
	struct comparison *c = NULL;
	struct error err = {0};

	assert_int_equal(compare_table(&c, published_find(name), false, &err), 0);
	return c;
}

/* One repair time for each family of rows: every cell within 5 points. */
static void goodput_is_within_five_points(void **state)
{
	struct comparison *c = compare("decoupled-goodput");

	assert_int_equal(c->n_cells, 20);
	assert_true(c->most_off < .05);
	comparison_free(c);
}

/* M learners over n chips are one over n/M; 1 year / 1.2 million chips is 26.3 s. */
static void the_m_fold_rule(void **state)
{
	struct published_fleet one = {365.25 * 86400, 1, 1}, eight = {365.25 * 86400, 8, 1};

	for (double chips = 1e4; chips < 1e7; chips *= 3)
		assert_near(goodput(&eight, 8 * chips), goodput(&one, chips), 1e-15);
	assert_near(goodput(&one, 1.2e6), 26.298 / (26.298 + GOODPUT_RESIZE_S), 1e-12);
	one.elastic = 0;
	assert_near(goodput(&one, 1.2e6), 26.298 / (26.298 + GOODPUT_REPAIR_S), 1e-12);
}

static void the_simulated_tables_come_to(void **state)
{
	struct comparison *web = compare("web-simulator"), *t4 = compare("streaming-diloco");
	const struct compared_cell *cell = comparison_cell(t4, 1, 1);

	assert_true(web->ratio_low > .99 && web->ratio_high < 1.01);
	assert_int_equal(t4->n_within, 75);
	assert_true(t4->n_exact >= 60);
	/* 1B, diloco at 80 %: F/R = 100 T (1/0.8 - 1) + 2/3 T (1 - 1/24) */
	assert_near(cell->exact, 16e9 / (2.5 + .2 / 3 * 23 / 24), 1e3);
	assert_int_equal(cell->steps, -1);
	assert_near(cell->theirs, 6.2e9, 0);
	assert_near(cell->ratio, cell->ours / 6.2e9, 1e-12);
	comparison_free(web);
	comparison_free(t4);
}

static void text_has_every_row_and_the_sum(void **state)
{
	struct comparison *c = compare("scaling-laws");
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	comparison_print(c, f);
	fclose(f);
	for (size_t r = 0; r < c->table->n_rows; r++)
		assert_non_null(strstr(text, c->table->rows[r].name));
	assert_non_null(strstr(text, "2503.09799"));
	assert_non_null(strstr(text, "50 cells"));
	assert_non_null(strstr(text, "49 within one step"));
	assert_non_null(strstr(text, "H = 50 at 95 %: +2 steps"));
	free(text);
	comparison_free(c);
}

static void json_has_every_cell(void **state)
{
	struct comparison *c = compare("streaming-diloco");
	json_t *o = comparison_json(c), *rows, *cell;

	assert_non_null(o);
	rows = json_object_get(o, "rows");
	assert_int_equal(json_array_size(rows), 15);
	cell = json_array_get(json_object_get(json_array_get(rows, 0), "cells"), 4);
	assert_near(json_number_value(json_object_get(cell, "theirs")), 569e9, 0);
	assert_near(json_number_value(json_object_get(cell, "column")), .99, 0);
	assert_int_equal(json_integer_value(json_object_get(cell, "steps")), 0);
	assert_string_equal(json_string_value(json_object_get(o, "unit")), "bit/s");
	json_decref(o);
	comparison_free(c);
}

static void numbers_are_shown_in_their_unit(void **state)
{
	const struct published_table *rate = published_find("streaming-diloco");
	const struct published_table *share = published_find("decoupled-goodput");

	assert_string_equal(published_number(rate, 1.4e9).text, "1.40");
	assert_string_equal(published_number(rate, 222.3e9).text, "222.3");
	assert_string_equal(published_number(rate, NAN).text, "\xe2\x80\x93");
	assert_string_equal(published_number(share, .72).text, "72.0");
	assert_string_equal(published_column(rate, 4).text, "99 %");
	assert_string_equal(published_column(share, 3).text, "1200k");
	assert_string_equal(published_unit(share), "%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goodput_is_within_five_points),
		cmocka_unit_test(the_m_fold_rule),
		cmocka_unit_test(the_simulated_tables_come_to),
		cmocka_unit_test(text_has_every_row_and_the_sum),
		cmocka_unit_test(json_has_every_cell),
		cmocka_unit_test(numbers_are_shown_in_their_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
