/* The chart of a seek: what is in its data, where its axis is, and a legend that shows its marks.
 */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "drawn.h"
#include "results/chart_sweep.h"
#include "scratch.h"

static void add_point(struct seek_record *s, double value, double got)
{
	struct seek_point *p = seek_add_point(s, value, "x");

	p->got = got;
}

/* 90 % at 800 Mbit/s, of 1 Mbit/s to 100 Gbit/s. */
static struct seek_record *of_rates(void)
{
	struct seek_record *s = seek_record_new();

	s->key = memory_string("links.wan.rate");
	s->kind = memory_string("rate");
	s->condition = memory_string("useful_work >= 90 %");
	s->metric = memory_string("useful_work");
	s->op = memory_string(">=");
	s->want = .9;
	s->low = 1e6;
	s->high = 100e9;
	s->outcome = memory_string("found");
	s->text = memory_string("800 Mbit/s");
	s->found = 800e6;
	add_point(s, 1e6, 0);
	add_point(s, 760e6, .88);
	add_point(s, 800e6, .9);
	add_point(s, 1e9, .97);
	add_point(s, 100e9, 1);
	return s;
}

static void check_range(const char *script, double low, double high)
{
	const char *at = strstr(script, "set xrange [");
	double is_low, is_high;

	assert_non_null(at);
	assert_int_equal(sscanf(at, "set xrange [%lf:%lf]", &is_low, &is_high), 2);
	/* an axis leaves 12 % of room at each end, or 3 % of its decades */
	assert_float_equal(is_low, low / fmax(1.12, pow(high / low, .03)), 1e-6 * low);
	assert_float_equal(is_high, high * fmax(1.12, pow(high / low, .03)), 1e-6 * high);
}

static void draw(const struct seek_record *s, char **script, char **data)
{
	struct error err = {0};
	char *dir = scratch_new();

	if (chart_seek(s, dir, &err))
		fail_msg("%s", err.text);
	check_svg(dir, "seek.svg");
	*script = scratch_read(dir, "seek.gp");
	*data = scratch_read(dir, "seek.dat");
	scratch_free(dir);
}

static void test_by_the_model(void **state)
{
	struct seek_record *s = of_rates();
	_free_ char *script = NULL, *data = NULL;

	need_gnuplot();
	draw(s, &script, &data);
	check_range(script, .8 / 30, .8 * 30);
	assert_non_null(strstr(data, "\n0.001\t0\t\n0.76\t88\t\n0.8\t90\t\n1\t97\t\n100\t100\t\n"));
	assert_null(strstr(script, "real packets"));
	assert_non_null(strstr(script, "'useful_work >= 90 %'"));
	assert_non_null(strstr(script, "'found: 800 Mbit/s'"));
	seek_record_free(s);
}

static void test_with_packets(void **state)
{
	struct seek_record *s = of_rates();
	_free_ char *script = NULL, *data = NULL;

	need_gnuplot();
	for (int i = -1; i <= 1; i++) {
		struct seek_check *c = seek_add_check(s, 800e6 * (1 + .05 * i), "x");

		c->model = .9 + .03 * i;
		c->packets = .9 + .05 * i;
	}
	draw(s, &script, &data);
	check_range(script, .8 / 3, .8 * 3);
	assert_non_null(strstr(data, "real packets\n0.76\t85\t\n0.8\t90\t\n0.84\t95\t\n"));
	assert_non_null(strstr(script, "'real packets'"));
	/* the marks of the plot are those of the legend */
	assert_non_null(strstr(script, "point pointtype 8 pointsize 1 "));
	assert_non_null(strstr(script, "index 1 using 1:2 with points pointtype 8 "));
	seek_record_free(s);
}

/* Nothing found: the whole range, and no line where nothing is. */
static void test_nothing_found(void **state)
{
	struct seek_record *s = of_rates();
	_free_ char *script = NULL, *data = NULL;

	need_gnuplot();
	s->found = NAN;
	cleanup_free(&s->outcome);
	s->outcome = memory_string("none");
	draw(s, &script, &data);
	check_range(script, .001, 100);
	assert_null(strstr(script, "found"));
	seek_record_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_the_model),
		cmocka_unit_test(test_with_packets),
		cmocka_unit_test(test_nothing_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
