/*
 * Charts: the numbers in their data files against numbers worked out by hand, the pictures as
 * XML, names meant to break out of their quotes, and folders that lack what they should have.
 */
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
#include "made_up.h"
#include "results/charts.h"
#include "results/folder.h"
#include "results/report.h"
#include "scratch.h"

static int run_quietly(const char *dir, const char *const *argv)
{
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (!chdir(dir))
			execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void need_gnuplot(void)
{
	const char *const argv[] = {"gnuplot", "--version", NULL};

	if (run_quietly("/", argv))
		skip();
}

/* Well-formed by xmllint where it is installed; by its two ends anywhere. */
static void check_svg(const char *charts, const char *file)
{
	const char *const argv[] = {"xmllint", "--noout", file, NULL};
	_free_ char *text = scratch_read(charts, file);
	int status;

	if (!text)
		fail_msg("%s/%s is not there", charts, file);
	assert_non_null(strstr(text, "<svg"));
	assert_non_null(strstr(text, "</svg>"));
	status = run_quietly(charts, argv);
	if (status && status != 127)
		fail_msg("xmllint: %s/%s is not XML", charts, file);
}

static void drawn(const char *dir, const struct record *r)
{
	struct error err = {0};

	if (chart_all(dir, r, &err))
		fail_msg("%s", err.text);
}

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

/* What is measured before the run: every second of a hundred probes is lost on its way back. */
static void write_probes(const char *dir)
{
	_free_ char *path = memory_format("%s/probes.csv", dir);
	_fclose_ FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs("t_s,there_s,back_s\n", f);
	for (int i = 0; i < 100; i++)
		fprintf(f, i % 2 ? "%g,0.0301,\n" : "%g,0.0301,0.0302\n", i / 100.);
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
		cmocka_unit_test(test_ledger_edges),
		cmocka_unit_test(test_ledger_nothing_merged),
		cmocka_unit_test(test_exchange_steps),
		cmocka_unit_test(test_useful_rows),
		cmocka_unit_test(test_wire_panels),
		cmocka_unit_test(test_timeline_lanes),
		cmocka_unit_test(test_link_draws_both_ways),
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
