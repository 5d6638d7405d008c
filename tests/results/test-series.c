/*
 * What charts are drawn from: rows read from tables in any state, samples laid over bins without
 * a byte lost, and states as spans.
 */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"
#include "results/csv.h"
#include "results/lanes.h"
#include "results/series.h"
#include "scratch.h"

#define SAMPLES                                                                                    \
	"case,t_s,site,direction,wire_bps,limit_bps,delivered_bps,drop_segments,delay_s,down\n"
#define EVENTS "case,t_s,participant,event,a,b,c,amount\n"

static void test_rows(void **state)
{
	char *dir = scratch_new();
	struct csv *csv;

	scratch_write(dir, "t.csv",
		"a,b,c\n1,x,2.5\n\"q, \"\"r\"\"\",,nan\n1,2\n1,2,3,4\n-1,\"\",inf\n7,8");
	csv = csv_open(dir, "t.csv");
	assert_int_equal(csv_column(csv, "c"), 2);
	assert_int_equal(csv_column(csv, "d"), -1);
	assert_true(csv_next(csv));
	assert_true(csv_number(csv, 0) == 1 && csv_number(csv, 2) == 2.5);
	assert_true(isnan(csv_number(csv, 1)) && isnan(csv_number(csv, -1)));
	assert_true(csv_next(csv));
	assert_string_equal(csv_text(csv, 0), "q, \"r\"");
	assert_string_equal(csv_text(csv, 1), "");
	assert_true(isnan(csv_number(csv, 1)) && isnan(csv_number(csv, 2)));
	assert_true(csv_next(csv)); /* the short and the long row are passed over */
	assert_true(csv_number(csv, 0) == -1 && isnan(csv_number(csv, 2)));
	assert_false(csv_next(csv)); /* the last line is torn */
	csv_seek(csv, 6);
	assert_true(csv_next(csv));
	assert_string_equal(csv_text(csv, 1), "x");
	assert_int_equal(csv_row_offset(csv), 6);
	csv_close(csv);
	scratch_free(dir);
}

/* A time past the case's end is damage; so is a number that no link has. */
static void test_damaged_cells(void **state)
{
	char *dir = scratch_new();
	_free_ char *fifo = memory_format("%s/fifo.csv", dir);
	struct series *s;
	struct lanes *l;

	scratch_write(dir, "samples.csv",
		SAMPLES "0,1,a,up,100,1000,,,0.1,0\n"
			"0,1e308,a,up,100,1000,,,0.1,0\n"
			"0,900,a,up,100,1000,,,0.1,0\n"
			"0,2,a,up,1e308,1000,,,0.1,0\n");
	s = series_load(dir, 0, 100, 10);
	assert_int_equal(s->bins, 2);
	assert_true(s->until_s == 2);
	assert_near(s->lines[0].rate_bps[0], 100, 1e-9);
	assert_true(isnan(s->lines[0].rate_bps[1]));
	series_free(s);
	scratch_write(dir, "events.csv",
		EVENTS "0,1,a,state:compute,,,,\n0,900,a,state:idle,,,,\n0,1e308,a,x,,,,\n");
	l = lanes_load(dir, 0, 10);
	assert_true(l->until_s == 1);
	lanes_free(l);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_null(csv_open(dir, "fifo.csv")); /* nobody writes into it */
	scratch_free(dir);
}

static void test_no_table(void **state)
{
	char *dir = scratch_new();

	assert_null(csv_open(dir, "t.csv"));
	assert_null(series_load(dir, 0, 10, INFINITY));
	assert_null(lanes_load(dir, 0, INFINITY));
	scratch_write(dir, "samples.csv", "case,t_s"); /* torn in its header */
	scratch_write(dir, "events.csv", EVENTS);
	assert_null(series_load(dir, 0, 10, INFINITY));
	assert_null(lanes_load(dir, 0, INFINITY));
	scratch_write(dir, "samples.csv", SAMPLES "1,1,a,up,1,1,1,0,0,0\n0,-1,a,up,1,1,1,0,0,0\n");
	assert_null(series_load(dir, 0, 10, INFINITY)); /* another case; before time zero */
	csv_close(NULL);
	scratch_free(dir);
}

/* A sample is of the time since the one before: 100 bit/s for 1 s, then 300 for 3 s. */
static void test_bins(void **state)
{
	char *dir = scratch_new();
	struct series *s;

	scratch_write(dir, "samples.csv",
		SAMPLES "7,9,other,up,9,9,9,9,9,1\n"
			"0,1,a,up,100,1000,,,0.1,0\n"
			"0,1,a,down,5,2000,,,0.1,0\n"
			"0,4,a,up,300,1000,,,0.3,1\n"
			"0,4,a,down,,2000,,,0.1,0\n");
	s = series_load(dir, 0, 100, INFINITY);
	assert_int_equal(s->n_lines, 2);
	assert_int_equal(s->bins, 2);
	assert_true(s->until_s == 4);
	assert_string_equal(s->lines[0].site, "a");
	assert_true(s->lines[0].up && !s->lines[1].up);
	assert_near(s->lines[0].rate_bps[0], 200, 1e-9); /* (100 * 1 + 300 * 1) / 2 */
	assert_near(s->lines[0].rate_bps[1], 300, 1e-9);
	assert_near(s->lines[0].delay_low_s[0], .1, 0);
	assert_near(s->lines[0].delay_high_s[0], .3, 0);
	assert_near(s->lines[0].delay_low_s[1], .3, 0);
	assert_near(s->lines[1].rate_bps[0], 5, 1e-9);
	assert_true(isnan(s->lines[1].rate_bps[1])); /* unknown, not zero */
	assert_near(s->lines[1].limit_bps[1], 2000, 1e-9);
	series_free(s);
	scratch_free(dir);
}

/* Whatever the ticks and bins: the area under the bins is that under the samples. */
static void test_area_is_kept(void **state)
{
	char *dir = scratch_new(), *text = memory_zero(1 << 20, 1), *to = text;
	double t = 0, area = 0, sum = 0;
	struct series *s;

	to += sprintf(to, SAMPLES);
	for (uint64_t i = 0; i < 3000; i++) {
		double dt = .001 + random_unit(3, 0, RANDOM_JITTER, i);
		double rate = floor(1e9 * random_unit(3, 1, RANDOM_JITTER, i));

		dt = floor(dt * 1e6) / 1e6;
		t += dt;
		area += dt * rate;
		to += sprintf(to, "0,%.6f,a,up,%.0f,1e9,,,0,0\n", t, rate);
	}
	scratch_write(dir, "samples.csv", text);
	s = series_load(dir, 0, 173, INFINITY);
	assert_int_equal(s->bins, 173);
	for (int i = 0; i < s->bins; i++)
		sum += s->lines[0].rate_bps[i] * s->until_s / s->bins;
	assert_near(sum / area, 1, 1e-9);
	series_free(s);
	free(text);
	scratch_free(dir);
}

static void test_outages(void **state)
{
	char *dir = scratch_new();
	struct series *s;

	scratch_write(dir, "samples.csv",
		SAMPLES
		"0,1,a,up,1,1,,,0,0\n0,2,a,up,1,1,,,0,1\n0,3,a,up,1,1,,,0,1\n0,4,a,up,1,1,,,0,0\n"
		"0,5,a,up,1,1,,,0,0\n0,6,a,up,1,1,,,0,1\n");
	s = series_load(dir, 0, 3, INFINITY);
	assert_int_equal(s->lines[0].n_outages, 2);
	assert_near(s->lines[0].outages[0].from_s, 2, 0);
	assert_near(s->lines[0].outages[0].until_s, 4, 0);
	assert_near(s->lines[0].outages[1].from_s, 6, 0);
	series_free(s);
	scratch_free(dir);
}

static void check_span(
	const struct lane *lane, size_t i, double from, double until, enum state state)
{
	assert_near(lane->spans[i].from_s, from, 1e-9);
	assert_near(lane->spans[i].until_s, until, 1e-9);
	assert_int_equal(lane->spans[i].state, state);
}

static void test_lanes(void **state)
{
	char *dir = scratch_new();
	struct lanes *l;

	scratch_write(dir, "events.csv",
		EVENTS
		"0,0,a,state:compute,,,,\n0,0,b,state:idle,,,,\n1,3,a,state:down,,,,\n"
		"0,2,a,exchange,1,2,,0.5\n0,2,a,state:exposed_comm,,,,\n0,2,a,state:recover,,,,\n"
		"0,5,a,state:recover,,,,\n0,6,a,state:compute,,,,\n0,6.5,a,state:nonsense,,,,\n"
		"0,7,site,fault:blackout,,,,\n0,8,a,state:do");
	l = lanes_load(dir, 0, INFINITY);
	assert_int_equal(l->n_lanes, 2);
	assert_true(l->until_s == 7);
	assert_int_equal(l->lanes[0].n_spans, 3);
	check_span(&l->lanes[0], 0, 0, 2, STATE_COMPUTE);
	check_span(&l->lanes[0], 1, 2, 6, STATE_RECOVER);
	check_span(&l->lanes[0], 2, 6, 7, STATE_COMPUTE);
	assert_int_equal(l->lanes[1].n_spans, 1);
	check_span(&l->lanes[1], 0, 0, 7, STATE_IDLE);
	lanes_end(l, 9); /* nothing happened in the case's last 2 s */
	check_span(&l->lanes[0], 2, 6, 9, STATE_COMPUTE);
	check_span(&l->lanes[1], 0, 0, 9, STATE_IDLE);
	lanes_end(l, 8);
	assert_true(l->until_s == 9);
	lanes_free(l);
	scratch_free(dir);
}

/* 10,000 steps of 0.9 s compute and 0.1 s waiting, and half a second down in their midst. */
static void test_long_lanes_are_merged(void **state)
{
	char *dir = scratch_new(), *text = memory_zero(1 << 20, 1), *to = text;
	bool down = false;
	struct lanes *l;

	to += sprintf(to, EVENTS);
	for (int i = 0; i < 10000; i++) {
		to += sprintf(to, "0,%d,a,state:compute,,,,\n", i);
		if (i == 5000)
			to += sprintf(
				to, "0,%d.2,a,state:down,,,,\n0,%d.7,a,state:compute,,,,\n", i, i);
		to += sprintf(to, "0,%d.9,a,state:exposed_comm,,,,\n", i);
	}
	to += sprintf(to, "0,10000,a,state:idle,,,,\n");
	scratch_write(dir, "events.csv", text);
	l = lanes_load(dir, 0, INFINITY);
	assert_int_equal(l->lanes[0].n_spans, 20003);
	lanes_merge(l, 100);
	assert_in_range(l->lanes[0].n_spans, 3, 100);
	check_span(&l->lanes[0], 0, 0, 5000, STATE_COMPUTE);
	check_span(&l->lanes[0], 1, 5000, 5100, STATE_DOWN);
	for (size_t i = 0; i < l->lanes[0].n_spans; i++) {
		down |= l->lanes[0].spans[i].state == STATE_DOWN;
		if (i)
			assert_near(l->lanes[0].spans[i].from_s, l->lanes[0].spans[i - 1].until_s,
				1e-9);
	}
	assert_true(down);
	assert_near(l->lanes[0].spans[l->lanes[0].n_spans - 1].until_s, 10000, 1e-9);
	lanes_free(l);
	free(text);
	scratch_free(dir);
}

/* Any bytes at all are read to their end. */
static void test_garbage(void **state)
{
	char *dir = scratch_new();
	_free_ char *path = memory_format("%s/samples.csv", dir);
	_free_ char *events = memory_format("%s/events.csv", dir);

	for (uint64_t round = 0; round < 300; round++) {
		static const char alphabet[] = "0,1,2.a\"up\"\n\n,state:down\0\xff-e9";
		FILE *f = fopen(path, "w"), *g = fopen(events, "w");

		fputs(SAMPLES, f);
		fputs(EVENTS, g);
		for (uint64_t i = 0; i < 400; i++) {
			uint64_t k = random_u64(5, (uint32_t)round, RANDOM_LOSS, i);

			fputc(alphabet[k % (sizeof alphabet - 1)], k & 1024 ? f : g);
			if (k % 97 == 0)
				fputs("\n0,3,a,up,1,1,1,1,1,1\n", f);
			if (k % 89 == 0)
				fputs("\n0,3,a,state:down,,,,\n", g);
		}
		fclose(f);
		fclose(g);
		series_free(series_load(dir, 0, 10, INFINITY));
		lanes_free(lanes_load(dir, 0, INFINITY));
	}
	scratch_free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_damaged_cells),
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_area_is_kept),
		cmocka_unit_test(test_outages),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_long_lanes_are_merged),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
