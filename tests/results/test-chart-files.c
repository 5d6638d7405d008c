/*
 * Charts as files: the pictures as XML, of runs of every size, names meant to break out of their
 * quotes, and folders that lack what they should have.
 */
#include "tests/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "drawn.h"
#include "made_up.h"
#include "results/charts.h"
#include "results/folder.h"
#include "results/report.h"
#include "scratch.h"

/* 2, 8, 16 and 64 sites, one and four cases, with everything and with nothing. */
static void test_sizes(void **state)
{
	static const struct {
		struct made_up run;
		const char *present, *absent;
	} cases[] = {
		{{.learners = 2, .cases = 1, .seconds = 30, .exchanges = true},
			"useful ledger timeline wire exchange", "delay"},
		{{.learners = 8,
			 .cases = 1,
			 .seconds = 60,
			 .exchanges = true,
			 .faults = true,
			 .syncers = true},
			"useful ledger timeline wire exchange", "delay"},
		{{.learners = 3,
			 .cases = 4,
			 .seconds = 60,
			 .exchanges = true,
			 .faults = true,
			 .trace = true},
			"useful ledger-4 timeline-1 wire-2 exchange-3 delay-4", "wire useful-1"},
		{{.learners = 16, .cases = 1, .seconds = 20, .exchanges = true, .syncers = true},
			"useful ledger timeline wire exchange", "delay"},
		{{.learners = 64, .cases = 1, .seconds = 20, .faults = true, .syncers = true},
			"useful ledger timeline wire", "exchange delay"},
	};

	need_gnuplot();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = scratch_new(), *save;
		_free_ char *charts = memory_format("%s/charts", dir);
		_free_ char *present = memory_string(cases[i].present);
		_free_ char *absent = memory_string(cases[i].absent);
		struct record *r = made_up_run(dir, &cases[i].run);

		drawn(dir, r);
		for (char *s = strtok_r(present, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
			_free_ char *file = memory_format("%s.svg", s);

			check_svg(charts, file);
		}
		for (char *s = strtok_r(absent, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
			_free_ char *file = memory_format("%s.gp", s);

			assert_false(scratch_has(charts, file));
		}
		record_free(r);
		scratch_free(dir);
	}
}

/* Names that would be markup, options, substitutions, commands or new lines,
 * were they not quoted. */
static void test_hostile_names(void **state)
{
	static const char *const names[] = {"a_b^{2} @x", "it's \"q\" \\n", "`touch pwned`",
		"$(touch pwned)", "'; system 'touch pwned'; x='", "' . system(\"touch pwned\") . '",
		"new\nline\ttab", "\xff\xc0", "<b>&amp;</b>", "'", "''", "% d%s %n", "#",
		"a name that is much too long to stand beside a chart of this size"};
	const size_t n = sizeof names / sizeof *names;
	char *dir = scratch_new();
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "`touch pwned` '$x' {/=40 c}");
	_free_ char *charts = memory_format("%s/charts", dir), *svg = NULL;
	struct folder *f;

	need_gnuplot();
	record_add_case(r, names[4]);
	c->useful_work = .5;
	assert_int_equal(folder_create(&f, dir, NULL, &(struct error){0}), 0);
	for (size_t i = 0; i < n; i++) {
		struct record_participant *p =
			record_add_participant(c, names[i], "learner", names[i]);
		struct record_fault *fault = record_add_fault(c, names[i], names[i]);

		p->ledger_s[STATE_COMPUTE] = 1;
		fault->at_s = 1;
		fault->for_s = 1;
		fault->happened = true;
		record_exchange(c, 1);
		folder_event(
			f, &(struct folder_event){0, 1, names[i], "state:compute", 0, 0, 0, 0});
		folder_event(f, &(struct folder_event){0, 9, names[i], "state:down", 0, 0, 0, 0});
		if (i < 8)
			for (int t = 1; t < 5; t++)
				folder_sample(f, &(struct folder_sample){0, t, names[i], "up", 1e6,
							 2e6, 0, 0, .1 * t, t == 2});
	}
	folder_free(f);
	write_probes(dir);
	drawn(dir, r);
	for (size_t i = 0; chart_kind_at(i); i++) {
		_free_ char *stem = chart_stem(chart_kind_at(i), r, 0);
		_free_ char *file = memory_format("%s.svg", stem);

		if (chart_concerns(chart_kind_at(i), r))
			check_svg(charts, file);
	}
	assert_false(scratch_has(charts, "pwned"));
	assert_false(scratch_has(dir, "pwned"));
	assert_false(scratch_has(".", "pwned"));
	svg = scratch_read(charts, "ledger-1.svg");
	assert_non_null(strstr(svg, "<text>a_b^{2} @x</text>"));
	assert_non_null(strstr(svg, "`touch pwned`"));
	assert_non_null(strstr(svg, "it\xe2\x80\x99s \"q\" \\n"));
	assert_non_null(strstr(svg, "<text>% d%s %n</text>"));
	assert_non_null(strstr(svg, "&lt;b>&amp;amp;&lt;/b>"));
	assert_non_null(strstr(svg, "a name that is much too long to\xe2\x80\xa6"));
	record_free(r);
	scratch_free(dir);
}

/* Every chart can be made again by hand, and is then the same. */
static void test_again_by_hand(void **state)
{
	const struct made_up run = {.learners = 2,
		.cases = 1,
		.seconds = 20,
		.exchanges = true,
		.faults = true,
		.trace = true};
	const char *const argv[] = {"gnuplot", "wire.gp", "ledger.gp", "timeline.gp", "exchange.gp",
		"useful.gp", "delay.gp", NULL};
	char *dir = scratch_new();
	_free_ char *charts = memory_format("%s/charts", dir);
	struct record *r = made_up_run(dir, &run);

	need_gnuplot();
	drawn(dir, r);
	for (size_t i = 1; argv[i]; i++) {
		const char *const one[] = {"gnuplot", argv[i], NULL};
		_free_ char *stem = strndup(argv[i], strlen(argv[i]) - 3), *first = NULL,
			    *again = NULL;
		_free_ char *file = memory_format("%s.svg", stem);
		_free_ char *path = memory_format("%s/%s", charts, file);

		first = scratch_read(charts, file);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(run_quietly(charts, one), 0);
		again = scratch_read(charts, file);
		assert_string_equal(first, again);
	}
	record_free(r);
	scratch_free(dir);
}

/* What the user's own start-up file says does not get into our charts. */
static void test_users_settings(void **state)
{
	_free_ char *old = memory_string(getenv("HOME"));
	char *dir = scratch_new();
	struct record *r = record_new();

	need_gnuplot();
	scratch_write(dir, ".gnuplot", "exit status 5\n");
	record_add_case(r, "")->useful_work = .5;
	setenv("HOME", dir, 1);
	drawn(dir, r);
	setenv("HOME", old ? old : "/", 1);
	record_free(r);
	scratch_free(dir);
}

/* An interrupted run: its tables cut anywhere. */
static void test_torn_tables(void **state)
{
	const struct made_up run = {
		.learners = 2, .cases = 1, .seconds = 4, .exchanges = true, .faults = true};
	char *dir = scratch_new();
	_free_ char *samples = memory_format("%s/samples.csv", dir);
	_free_ char *events = memory_format("%s/events.csv", dir);
	struct record *r = made_up_run(dir, &run);

	need_gnuplot();
	for (off_t n = 5000; n >= 0; n -= 311) {
		if (truncate(samples, n) || truncate(events, n / 10))
			fail();
		drawn(dir, r);
	}
	record_free(r);
	scratch_free(dir);
}

/* A chart whose table is gone is gone as well, and does not live on in the report. */
static void test_nothing_stale(void **state)
{
	const struct made_up run = {
		.learners = 2, .cases = 1, .seconds = 4, .exchanges = true, .faults = true};
	static const char *const drawn_from[] = {"samples.csv", "events.csv"};
	char *dir = scratch_new();
	_free_ char *charts = memory_format("%s/charts", dir), *report = NULL;
	struct record *r = made_up_run(dir, &run);
	struct error err = {0};

	need_gnuplot();
	drawn(dir, r);
	assert_true(scratch_has(charts, "wire.svg") && scratch_has(charts, "timeline.svg"));
	for (size_t i = 0; i < sizeof drawn_from / sizeof *drawn_from; i++) {
		_free_ char *path = memory_format("%s/%s", dir, drawn_from[i]);

		assert_int_equal(unlink(path), 0);
	}
	drawn(dir, r);
	assert_false(scratch_has(charts, "wire.svg") || scratch_has(charts, "wire.gp") ||
		     scratch_has(charts, "wire.dat") || scratch_has(charts, "timeline.svg"));
	assert_true(scratch_has(charts, "ledger.svg"));
	assert_int_equal(report_write(dir, r, &err), 0);
	report = scratch_read(dir, "report.html");
	assert_non_null(strstr(report, "The links were not sampled."));
	record_free(r);
	scratch_free(dir);
}

static void test_nothing_at_all(void **state)
{
	char *dir = scratch_new();
	_free_ char *charts = memory_format("%s/charts", dir);
	struct record *r = record_new();

	drawn(dir, r);
	record_add_case(r, "");
	drawn(dir, r);
	for (size_t i = 0; chart_kind_at(i); i++) {
		_free_ char *file = memory_format("%s.gp", chart_kind_at(i)->stem);

		assert_false(scratch_has(charts, file));
	}
	record_free(r);
	scratch_free(dir);
}

static void test_cannot_write(void **state)
{
	char *dir = scratch_new();
	struct record *r = record_new();
	struct error err = {0};

	record_add_case(r, "")->useful_work = .5;
	scratch_write(dir, "charts", "a file");
	assert_true(chart_all(dir, r, &err) < 0);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(strstr(err.text, "/charts"));
	err = (struct error){0};
	assert_int_equal(chart_all("/nowhere", r, &err), -ENOENT);
	record_free(r);
	scratch_free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_again_by_hand),
		cmocka_unit_test(test_users_settings),
		cmocka_unit_test(test_torn_tables),
		cmocka_unit_test(test_nothing_stale),
		cmocka_unit_test(test_nothing_at_all),
		cmocka_unit_test(test_cannot_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
