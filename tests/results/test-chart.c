/* Charts: the numbers in their data files against numbers worked out by hand. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "drawn.h"
#include "results/charts.h"
#include "results/folder.h"
#include "results/report.h"
#include "scratch.h"

/* A row of a data file: the numbers of the line that begins with `begin`. */
static void check_row(const char *data, const char *begin, const double *want, size_t n)
{
	const char *p = strstr(data, begin);

	if (!p)
		fail_msg("no row \"%s\" in\n%s", begin, data);
	p += strspn(begin, "\n");
	for (size_t i = 0; i < n; i++) {
		char *end;

		assert_near(strtod(p, &end), want[i], 1e-6);
		assert_ptr_not_equal(p, end);
		p = end;
	}
}

/*
 * 100 s: 60 compute, of 4 steps 2.5 merged, half a step not yet and one lost, 5 checkpoint, 15
 * exposed, 8 barrier, 2 recover, 6 down, 4 idle: edges at 37.5, 45, 60, 65, 80, 88, 90, 96, 100 %.
 */
static void test_ledger_edges(void **state)
{
	const double want[] = {0, 37.5, 45, 60, 65, 80, 88, 90, 96, 100, 100};
	char *dir = scratch_new();
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "");
	struct record_participant *p = record_add_participant(c, "a", "learner", "a");
	_free_ char *charts = memory_format("%s/charts", dir), *data = NULL, *script = NULL;

	need_gnuplot();
	p->ledger_s[STATE_COMPUTE] = 60;
	p->ledger_s[STATE_EXPOSED_COMM] = 15;
	p->ledger_s[STATE_BARRIER_WAIT] = 8;
	p->ledger_s[STATE_CHECKPOINT] = 5;
	p->ledger_s[STATE_DOWN] = 6;
	p->ledger_s[STATE_RECOVER] = 2;
	p->ledger_s[STATE_IDLE] = 4;
	p->wall_s = 100;
	p->steps_useful = 2.5;
	p->steps_lost = 1;
	p->steps_pending = .5;
	p = record_add_participant(c, "a.syncer", "syncer", "a");
	p->ledger_s[STATE_IDLE] = 100;
	drawn(dir, r);
	data = scratch_read(charts, "ledger.dat");
	check_row(data, "\n0\t", want, 11);
	script = scratch_read(charts, "ledger.gp");
	assert_null(strstr(script, "a.syncer")); /* it has no accelerator */
	check_svg(charts, "ledger.svg");
	record_free(r);
	scratch_free(dir);
}

/*
 * No exchange finished and useful work is 0: what was computed is not drawn as useful, with the
 * step that ended nor without it.
 */
static void test_ledger_nothing_merged(void **state)
{
	const double want[] = {0, 0, 80, 80, 80, 100};
	char *dir = scratch_new();
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "");
	_free_ char *charts = memory_format("%s/charts", dir), *data = NULL, *script = NULL;

	need_gnuplot();
	for (int i = 0; i < 2; i++) {
		struct record_participant *p = record_add_participant(c, "a", "learner", "a");

		for (int s = 0; s < STATE_COUNT; s++)
			p->ledger_s[s] = 0;
		p->ledger_s[STATE_COMPUTE] = 8;
		p->ledger_s[STATE_EXPOSED_COMM] = 2;
		p->wall_s = 10;
		p->steps_useful = p->steps_lost = 0;
		p->steps_pending = i;
	}
	c->useful_work = 0;
	drawn(dir, r);
	data = scratch_read(charts, "ledger.dat");
	check_row(data, "\n0\t", want, 6);
	check_row(data, "\n1\t", (double[]){1, 0, 80, 80, 80, 100}, 6);
	script = scratch_read(charts, "ledger.gp");
	assert_non_null(strstr(script, "compute, not yet merged"));
	assert_null(strstr(script, "compute, useful"));
	record_free(r);
	scratch_free(dir);
}

/* Four exchanges at 1, 2, 3 and 4 s: a quarter more is done at each. */
static void test_exchange_steps(void **state)
{
	const double rows[][2] = {{1, 0}, {1, 25}, {2, 50}, {3, 75}, {4, 100}};
	char *dir = scratch_new(), *end;
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "");
	_free_ char *charts = memory_format("%s/charts", dir), *data = NULL, *script = NULL;
	const char *p;

	need_gnuplot();
	record_exchange(c, 3);
	record_exchange(c, 1);
	record_exchange(c, NAN); /* never finished */
	record_exchange(c, 4);
	record_exchange(c, 2);
	c->exchange_predicted_s = 1.5;
	drawn(dir, r);
	data = scratch_read(charts, "exchange.dat");
	p = strchr(data, '\n') + 1;
	for (size_t i = 0; i < 5; i++) {
		assert_near(strtod(p, &end), rows[i][0], 0);
		assert_near(strtod(end, &end), rows[i][1], 0);
		p = end;
	}
	assert_string_equal(p, "\n");
	script = scratch_read(charts, "exchange.gp");
	assert_non_null(strstr(script, "from first 1.5, graph 0 to first 1.5, graph 1"));
	assert_non_null(strstr(script, "'predicted 1.5 s'"));
	assert_non_null(strstr(script, "'measured (4)'"));
	check_svg(charts, "exchange.svg");
	record_free(r);
	scratch_free(dir);
}

static void test_useful_rows(void **state)
{
	const double first[] = {0, 95, 90, 97.5}, second[] = {1, 40};
	char *dir = scratch_new();
	struct record *r = record_new();
	struct record_case *a = record_add_case(r, "a"), *b = record_add_case(r, "b");
	_free_ char *charts = memory_format("%s/charts", dir), *data = NULL;

	need_gnuplot();
	a->useful_work = .95;
	a->predicted_utilisation = .975;
	record_add_expect(a, "useful_work", ">=")->want = .9;
	b->useful_work = .4;
	drawn(dir, r);
	data = scratch_read(charts, "useful.dat");
	check_row(data, "\n0\t", first, 4);
	check_row(data, "\n1\t", second, 2);
	assert_non_null(strstr(data, "40\tNaN\tNaN")); /* nothing expected, nothing predicted */
	check_svg(charts, "useful.svg");
	record_free(r);
	scratch_free(dir);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void sampled(struct folder *f, const char *site, double mbps, double limit, bool down_at_3)
{
	for (int t = 1; t <= 4; t++)
		folder_sample(f, &(struct folder_sample){0, t, site, "up", mbps * 1e6, limit, NAN,
					 0, .1, down_at_3 && t == 3});
}

/*
 * Two sites, the first without a known limit: their blocks stay in step. Of four faults two are
 * shaded, each in its own site's panel: one never happened, one hit somebody else. The second
 * site's link goes down by itself at 3 s.
 */
static void test_wire_panels(void **state)
{
	char *dir = scratch_new();
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "");
	_free_ char *charts = memory_format("%s/charts", dir), *data = NULL, *script = NULL;
	struct folder *f;
	const struct {
		const char *target;
		double at_s;
		bool happened;
	} faults[] = {{"a", 1, true}, {"learner-b", 1.5, true}, {"a", 2, false}, {"c", 2.5, true}};

	need_gnuplot();
	record_add_participant(c, "learner-b", "learner", "b");
	for (size_t i = 0; i < 4; i++) {
		struct record_fault *fault = record_add_fault(c, "crash", faults[i].target);

		fault->at_s = faults[i].at_s;
		fault->for_s = .25;
		fault->happened = faults[i].happened;
	}
	assert_int_equal(folder_create(&f, dir, NULL, &(struct error){0}), 0);
	sampled(f, "a", 100, NAN, false);
	sampled(f, "b", 200, 800e6, true);
	folder_free(f);
	drawn(dir, r);
	data = scratch_read(charts, "wire.dat");
	assert_string_equal(data, "# a: time (s), rate up, rate down (bit/s)\n"
				  "0\t100000000\tNaN\t\n1\t100000000\tNaN\t\n3\t100000000\tNaN\t\n4"
				  "\t100000000\tNaN\t\n\n\n"
				  "# a: time (s), limit up, limit down (bit/s)\nNaN\tNaN\tNaN\n\n\n"
				  "# b: time (s), rate up, rate down (bit/s)\n"
				  "0\t200000000\tNaN\t\n1\t200000000\tNaN\t\n3\t200000000\tNaN\t\n4"
				  "\t200000000\tNaN\t\n\n\n"
				  "# b: time (s), limit up, limit down (bit/s)\n"
				  "0\t800000000\tNaN\t\n1\t800000000\tNaN\t\n3\t800000000\tNaN\t\n4"
				  "\t800000000\tNaN\t\n\n\n");
	script = scratch_read(charts, "wire.gp");
	assert_non_null(strstr(script, "rectangle from first 1, graph 0 to first 1.25, graph 1"));
	assert_non_null(strstr(script, "rectangle from first 1.5, graph 0 to first 1.75, graph 1"));
	assert_non_null(strstr(script, "rectangle from first 3, graph 0 to first 4, graph 1"));
	assert_int_equal(count(script, "rectangle from first"), 3);
	assert_non_null(strstr(script, "'wire.dat' index 3 using 1:($2/1e+06) with lines"));
	record_free(r);
	scratch_free(dir);
}

/*
 * Lanes stand in the record's order, whoever spoke first; spans by state; a bar under the lane of
 * each participant of the site that was hit; nothing of a syncer that is idle.
 */
static void test_timeline_lanes(void **state)
{
	static const char *const names[] = {"a", "b", "s"};
	char *dir = scratch_new();
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "");
	_free_ char *charts = memory_format("%s/charts", dir), *data = NULL, *script = NULL;
	struct record_fault *fault = record_add_fault(c, "blackout", "site");

	need_gnuplot();
	fault->at_s = 1;
	fault->for_s = 2;
	fault->happened = true;
	record_add_participant(c, "a", "learner", "elsewhere");
	record_add_participant(c, "b", "learner", "site");
	record_add_participant(c, "s", "syncer", "site");
	scratch_write(dir, "events.csv",
		"case,t_s,participant,event,a,b,c,amount\n"
		"0,0,s,state:idle,,,,\n0,0,b,state:compute,,,,\n0,1,a,state:compute,,,,\n"
		"0,6,b,state:down,,,,\n0,8,b,state:compute,,,,\n0,10,a,done,,,,\n");
	drawn(dir, r);
	data = scratch_read(charts, "timeline.dat");
	assert_string_equal(data, "# compute: time (s), lane\n"
				  "1\t0\n10\t0\n\n0\t1\n6\t1\n\n8\t1\n10\t1\n\nNaN\tNaN\n\n\n"
				  "# down: time (s), lane\n6\t1\n8\t1\n\nNaN\tNaN\n\n\n");
	script = scratch_read(charts, "timeline.gp");
	for (int i = 0; i < 3; i++) {
		_free_ char *tic = memory_format("set ytics add ('%s' %d)", names[i], i);

		assert_int_equal(count(script, tic), i < 2);
	}
	assert_non_null(strstr(script, "from first 1, first 1.38 to first 3, first 1.5 "));
	assert_int_equal(count(script, "rectangle from first"), 1);
	record_free(r);
	scratch_free(dir);
}

/*
 * Two series of times, two of shares, and no packets: gnuplot counts the four blocks that are
 * there, and each is drawn as itself.
 */
static void test_link_draws_both_ways(void **state)
{
	char *dir = scratch_new();
	struct record *r = record_new();
	_free_ char *charts = memory_format("%s/charts", dir), *script = NULL, *data = NULL;

	need_gnuplot();
	record_add_case(r, "");
	write_probes(dir);
	drawn(dir, r);
	script = scratch_read(charts, "link.gp");
	assert_non_null(strstr(script, "index 2 using 1:2 with steps linecolor rgb '#0072B2'"));
	assert_non_null(strstr(script, "index 3 using 1:2 with steps linecolor rgb '#E69F00'"));
	assert_null(strstr(script, "index 4"));
	data = scratch_read(charts, "link.dat");
	assert_int_equal(count(data, "\n\n\n"), 4);
	record_free(r);
	scratch_free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ledger_edges),
		cmocka_unit_test(test_ledger_nothing_merged),
		cmocka_unit_test(test_exchange_steps),
		cmocka_unit_test(test_useful_rows),
		cmocka_unit_test(test_wire_panels),
		cmocka_unit_test(test_timeline_lanes),
		cmocka_unit_test(test_link_draws_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
