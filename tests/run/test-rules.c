/*
 * Every rule of the verdict, on both of its sides: what makes a run invalid and what does not
 * yet, what fails an expectation, what is noted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/run/played.h"

#define MS NS_PER_MS
#define S NS_PER_S

/* A played case, changed by a test; then its verdict. */
static struct fixture *played(void)
{
	struct fixture *f = make();

	play(f);
	return f;
}

static void is(struct fixture *f, const char *verdict, const char *because)
{
	judge(f, false);
	assert_string_equal(f->c->verdict, verdict);
	if (!strstr(f->c->because, because))
		fail_msg("\"%s\" lacks \"%s\"", f->c->because, because);
	assert_int_equal(f->c->valid, strcmp(verdict, "invalid") != 0);
	release(f);
}

static void set_rtt(struct fixture *f, int64_t ns)
{
	for (int i = 0; i < 2; i++)
		f->live.idle_rtt_ns[i][0] = f->live.idle_rtt_ns[i][1] = ns;
}

/* 40.027 ms on the profile: 0.5 ms is allowed, the larger of that and 1 %. */
static void idle_round_trip_slack(void **state)
{
	struct fixture *f = played();

	set_rtt(f, 40 * MS + 520 * NS_PER_US);
	is(f, "holds", "");
	f = played();
	set_rtt(f, 40 * MS + 540 * NS_PER_US);
	is(f, "invalid", "idle round trip 40.540 ms, the profile says 40.027 ms");
	f = played();
	set_rtt(f, 39 * MS + 500 * NS_PER_US); /* too fast is wrong as well */
	is(f, "invalid", "idle round trip 39.500 ms");
}

/* 400.027 ms: 1 % is 4 ms. Ten times slower, 0.5 ms of real time are 0.05 of the scenario's. */
static void idle_round_trip_share(void **state)
{
	struct fixture *f = played();

	f->s.core_delay_ns[0][1] = f->s.core_delay_ns[1][0] = 180 * MS;
	set_rtt(f, 403 * MS);
	is(f, "holds", "");
	f = played();
	f->s.core_delay_ns[0][1] = f->s.core_delay_ns[1][0] = 180 * MS;
	set_rtt(f, 405 * MS);
	is(f, "invalid", "405.000 ms");
	f = played();
	f->s.dilation = 10;
	set_rtt(f, 40 * MS + 527 * NS_PER_US); /* 5 ms of real time; 1 % is 4 */
	is(f, "invalid", "40.527 ms");
	f = played();
	f->s.dilation = 10;
	set_rtt(f, 40 * MS + 327 * NS_PER_US);
	is(f, "holds", "");
}

/* A link with jitter has no one round trip. */
static void idle_round_trip_with_jitter(void **state)
{
	struct fixture *f = played();

	f->wan.direction[DOWN].base.jitter_ns = MS;
	set_rtt(f, 45 * MS);
	is(f, "holds", "");
}

/* 20 ms one way: 5 % is 1 ms. 200 ms one way: 10 ms. */
static void lateness(void **state)
{
	struct fixture *f = make();

	f->late_ns = 900 * NS_PER_US;
	play(f);
	is(f, "holds", "");
	f = make();
	f->late_ns = 1200 * NS_PER_US;
	play(f);
	is(f, "invalid", "up to 1.000 ms is tolerated");
	f = make();
	f->late_ns = 9 * MS;
	f->plan.one_way_ns = 200 * MS;
	play(f);
	is(f, "holds", "");
	f = make();
	f->late_ns = 11 * MS;
	f->plan.one_way_ns = 200 * MS;
	play(f);
	is(f, "invalid", "up to 10.000 ms is tolerated");
	f = make(); /* three times slower, 20 ms are 60 */
	f->late_ns = 2500 * NS_PER_US;
	f->s.dilation = 3;
	play(f);
	is(f, "holds", "");
}

static void memory(void **state)
{
	struct fixture *f = make();

	f->memory_drops = 7;
	play(f);
	is(f, "invalid", "no room left and dropped 28 segments"); /* in 4 directions */
}

static void agents_that_stood_still(void **state)
{
	struct fixture *f = played();

	observe_still(&f->o, 1, 4 * S, 2500 * MS);
	observe_still(&f->o, 1, 9 * S, 3 * S);
	is(f, "invalid", "the agent of site-2 did not run for 5.5 s");
}

/* A hole in the samples is no fault of the link's or an agent's. */
static void a_program_that_stood_still(void **state)
{
	struct fixture *f = played();

	observe_absent(&f->o, 4 * S, 2500 * MS);
	observe_absent(&f->o, 9 * S, 3 * S);
	observe_absent(&f->o, 12 * S, 2100 * MS);
	judge(f, false);
	assert_string_equal(f->c->verdict, "holds");
	assert_int_equal(f->c->n_notes, 1);
	assert_non_null(strstr(f->c->notes[0],
		"narrowlink itself stood still, 3 times, the longest for 3.0 s until 9.0 s"));
	release(f);
}

/* A crash 0.9 s late is one; 1.2 s late, or its repair, it is none of the scenario. */
static void late_crashes(void **state)
{
	static const struct fault crash = {FAULT_CRASH, 1, 5 * S, 2 * S};
	static const struct fault blackout = {FAULT_BLACKOUT, 1, 5 * S, 2 * S};
	struct fixture *f = played();

	observe_fault(&f->o, &crash, true, 5900 * MS);
	observe_fault(&f->o, &blackout, true, 9 * S); /* told late; the links did it on time */
	is(f, "holds", "");
	f = played();
	observe_fault(&f->o, &crash, true, 6200 * MS);
	is(f, "invalid", "the crash of site-2 at 5.0 s, or its repair, came 1.2 s after its time");
	f = played();
	observe_fault(&f->o, &crash, true, 5 * S);
	observe_fault(&f->o, &crash, false, 8500 * MS);
	is(f, "invalid", "came 1.5 s after its time");
	f = played();
	f->s.dilation = 4;
	observe_fault(&f->o, &crash, true, 5300 * MS);
	is(f, "invalid", "came 0.3 s after its time");
}

/* What could not begin has one reason, whatever else is unknown then. */
static void not_begun(void **state)
{
	struct fixture *f = make();

	f->in.not_begun = true;
	f->in.why_partial = "site-1 and site-2 could not connect";
	f->live.wall_ns = 0;
	set_rtt(f, -1);
	observation_end(&f->o, 0);
	judge(f, true);
	assert_string_equal(f->c->verdict, "invalid");
	assert_string_equal(f->c->because, "site-1 and site-2 could not connect");
	assert_int_equal(f->c->n_reasons, 1);
	assert_int_equal(f->c->n_notes, 0);
	assert_false(f->c->valid || f->c->partial);
	assert_int_equal(verdict_status(f->record), STATUS_INVALID);
	release(f);
}

/* Cut short before anything was measured: partial, and no fault of the link. */
static void partial_is_not_invalid(void **state)
{
	struct fixture *f = make();

	set_rtt(f, -1);
	f->live.wall_ns = S;
	observation_end(&f->o, S);
	judge(f, true);
	assert_string_equal(f->c->verdict, "partial");
	assert_true(f->c->valid && f->c->partial);
	release(f);
}

/* Without a link there is no link to be judged. */
static void simulated(void **state)
{
	struct fixture *f = make();

	f->in.simulated = true;
	f->late_ns = 50 * MS;
	f->memory_drops = 1;
	play(f);
	set_rtt(f, -1);
	is(f, "holds", "");
}

/* Useful work is 10/12, exactly as a double; both ways of "or equal", and both of "more". */
static void operators(void **state)
{
	static const struct {
		enum expect_op op;
		double step;
		bool holds;
	} cases[] = {{EXPECT_GE, 0, true}, {EXPECT_GE, 1e-9, false}, {EXPECT_LE, 0, true},
		{EXPECT_LE, -1e-9, false}, {EXPECT_GT, 0, false}, {EXPECT_GT, -1e-9, true},
		{EXPECT_LT, 0, false}, {EXPECT_LT, 1e-9, true}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fixture *f = played();
		struct ledger_totals totals;

		observation_totals(&f->o, f->live.wall_ns, &totals);
		f->s.n_expect = 1;
		f->expect[0] = (struct expectation){
			METRIC_USEFUL_WORK, cases[i].op, totals.useful_work + cases[i].step};
		is(f, cases[i].holds ? "holds" : "fails", expect_op_name(cases[i].op));
	}
}

static void metric_is(enum metric metric, double want, const char *said)
{
	struct fixture *f = make();

	f->expect[0] = (struct expectation){metric, EXPECT_LT, -1};
	f->s.n_expect = 1;
	play(f);
	judge(f, false);
	assert_string_equal(f->c->verdict, "fails");
	assert_near(f->c->expect[0].got, want, fabs(want) * 1e-9);
	assert_int_equal(f->c->expect[0].holds, false);
	if (!strstr(f->c->because, said))
		fail_msg("\"%s\" lacks \"%s\"", f->c->because, said);
	release(f);
}

static void metrics(void **state)
{
	metric_is(METRIC_USEFUL_WORK, 10. / 12, "useful_work 83.3 %");
	metric_is(METRIC_COMPUTE_UTILISATION, 10. / 12, "compute_utilisation 83.3 %");
	metric_is(METRIC_AVAILABILITY, 1, "availability 100.0 %");
	metric_is(METRIC_WIRE_RATE, 40e6, "wire_rate 40 Mbit/s");
	metric_is(METRIC_EXCHANGE_P50, .2, "exchange_p50 200 ms");
	metric_is(METRIC_EXCHANGE_P99, .2, "exchange_p99 200 ms");
}

/* What was not measured meets no expectation. */
static void unknown_fails(void **state)
{
	struct fixture *f = make();

	f->expect[0] = (struct expectation){METRIC_EXCHANGE_P99, EXPECT_LE, 5};
	f->s.n_expect = 1;
	observe_links(&f->o, 0);
	observe_report(&f->o, 0, 0, &(struct rt_report){.kind = REPORT_MEASURE});
	observation_end(&f->o, f->live.wall_ns);
	is(f, "fails", "exchange_p99 unknown, expected <= 5 s");
}

/* The sentence is the first failure's, or the first expectation's where all hold. */
static void the_first_failure_is_said(void **state)
{
	struct fixture *f = played();

	is(f, "holds", "useful_work");
	f = played();
	f->expect[1].value = 30e6;
	is(f, "fails", "wire_rate 40 Mbit/s, expected <= 30 Mbit/s");
	f = played();
	f->expect[0].value = .9;
	f->expect[1].value = 30e6;
	is(f, "fails", "useful_work");
	f = played();
	f->s.n_expect = 0;
	judge(f, false);
	assert_string_equal(f->c->verdict, "none");
	assert_null(f->c->because);
	assert_int_equal(verdict_status(f->record), STATUS_HOLDS);
	release(f);
}

/* 2000 bytes a step of 1 s fit; ten million parameters do not. */
static void why_it_does_not_fit(void **state)
{
	struct fixture *f = played();

	f->expect[0].value = .9;
	is(f, "fails", "its bytes would fit");
	f = make();
	f->s.job.parameters = 10000000; /* 20 MB: 160 Mbit/s, 165.7 with headers, 149.2 for 90 % */
	plan_make(&f->plan, &f->s);
	play(f);
	f->expect[0].value = .9;
	is(f, "fails",
		"the job needs 149.2 Mbit/s on the wire for 90 %, the link has 100 Mbit/s, "
		"just enough for a step of 1.492 s");
}

/*
 * A learner's link carries its own fragments, the syncer's those of both: 10 MB a step of 1 s are
 * 82.9 Mbit/s with headers, which fit, and twice that does not.
 */
static void why_a_star_does_not_fit(void **state)
{
	struct fixture *f = make();

	f->s.job.parameters = 2500000;
	f->s.job.bits = 32;
	f->s.job.syncer = SYNCER_STAR;
	f->s.job.overlap = 1;
	f->s.n_sites = 3;
	f->s.strategy = strategy_find("decoupled-diloco");
	plan_make(&f->plan, &f->s);
	f->s.n_sites = 2; /* what is played has no syncer */
	f->s.job.syncer = SYNCER_NONE;
	f->s.strategy = strategy_find("data-parallel");
	play(f);
	f->expect[0].value = .9;
	is(f, "fails",
		"the syncer, to which all send, needs 149.2 Mbit/s on the wire for 90 %, "
		"the link has 100 Mbit/s, just enough for a step of 1.492 s");
}

static bool noted(const struct record_case *c, const char *want)
{
	for (size_t i = 0; i < c->n_notes; i++)
		if (strstr(c->notes[i], want))
			return true;
	return false;
}

static void no_notes(void **state)
{
	struct fixture *f = played();

	f->in.relay_cpu = .9;
	judge(f, false);
	assert_int_equal(f->c->n_notes, 0);
	release(f);
}

static void notes(void **state)
{
	struct fixture *f = played();

	f->live.end = END_LIMIT;
	f->tcp = (struct host_tcp){.prune_called = 3, .ofo_drop = 2};
	f->s.transport.silence_ns = 5 * S;
	observe_silence(&f->o, 0, 1, true, S);
	observe_silence(&f->o, 0, 1, false, 2 * S);
	f->in.relay_cpu = .97;
	judge(f, false);
	assert_true(noted(f->c, "the run's limit of 100 s ended it"));
	assert_true(noted(f->c, "3 prunes, 2 out-of-order drops"));
	assert_true(noted(f->c, "a peer was silent for longer than 5.0 s 1 times"));
	assert_true(noted(f->c, "the relay used 97 % of a core"));
	assert_false(noted(f->c, "no exchange"));
	release(f);
	f = played();
	f->tcp.ofo_drop = 1; /* either is enough */
	judge(f, false);
	assert_true(noted(f->c, "0 prunes, 1 out-of-order"));
	release(f);
	f = played();
	f->tcp.prune_called = 1;
	judge(f, false);
	assert_true(noted(f->c, "1 prunes, 0 out-of-order"));
	release(f);
}

/* Ten steps were merged, three of the other learner's not when the run ends, `settles` of them in
 * time. */
static struct fixture *with_pending_steps(double settles)
{
	struct fixture *f = make();

	f->o.ledgers[1].settles = settles;
	for (int p = 0; p < 2; p++)
		observe_report(&f->o, p, 0, &(struct rt_report){.kind = REPORT_MEASURE});
	observe_links(&f->o, 0);
	for (int n = 0; n < 10; n++)
		step(f, 0, (n + 1) * S, n);
	for (int n = 0; n < 3; n++)
		observe_report(&f->o, 1, (n + 1) * S, &(struct rt_report){.kind = REPORT_STEP});
	observation_end(&f->o, f->live.wall_ns);
	judge(f, false);
	return f;
}

/* 3 of 13; where only two of them may be on their way, 2 of 12, and 1 of 13 is overdue. */
static void pending_steps_are_noted(void **state)
{
	struct fixture *f = with_pending_steps(3);

	assert_true(noted(f->c, "23 % of the useful steps were still to be merged"));
	assert_false(noted(f->c, "overdue"));
	release(f);
	f = with_pending_steps(2);
	assert_true(noted(f->c, "17 % of the useful steps were still to be merged"));
	assert_true(noted(f->c, "8 % of the computed steps were overdue"));
	release(f);
}

static void faults_that_did_not_happen(void **state)
{
	static const struct fault faults[] = {{FAULT_CRASH, 0, 5 * S, S},
		{FAULT_CRASH, 0, 12 * S, S}, {FAULT_BLACKOUT, 1, 13 * S, S},
		{FAULT_CRASH, 1, 40 * S, S}};
	struct fixture *f = played();

	f->in.faults = faults;
	f->in.n_faults = 3;
	judge(f, false);
	assert_int_equal(f->c->n_faults, 3);
	assert_true(f->c->faults[0].happened && f->c->faults[1].happened);
	assert_false(f->c->faults[2].happened);
	assert_near(f->c->faults[2].at_s, 13, 0);
	assert_int_equal(f->c->n_notes, 1);
	assert_true(noted(
		f->c, "the blackout of site-2 at 13 s did not happen: the run ended at 12 s"));
	release(f);
	f = played();
	f->in.faults = faults;
	f->in.n_faults = 4;
	judge(f, false);
	assert_true(noted(f->c, "2 faults, the first a blackout of site-2 at 13 s, did not"));
	release(f);
}

/* The first learner measures from 3 s on, the second from 4 s. */
static void faults_in_the_warm_up(void **state)
{
	static const struct fault faults[] = {{FAULT_CRASH, 0, S, 2 * S},
		{FAULT_CRASH, 1, S, 4 * S}, {FAULT_BLACKOUT, 1, 3 * S, S}};
	struct fixture *f = make();

	observe_links(&f->o, 0);
	for (int p = 0; p < 2; p++)
		observe_report(&f->o, p, (3 + p) * S, &(struct rt_report){.kind = REPORT_MEASURE});
	step(f, 0, 5 * S, 0);
	observation_end(&f->o, f->live.wall_ns);
	f->in.faults = faults;
	f->in.n_faults = 2;
	judge(f, false);
	assert_true(noted(f->c, "the crash of site-1 at 1 s ended before the measured"));
	release(f);
	f = make();
	observe_links(&f->o, 0);
	for (int p = 0; p < 2; p++)
		observe_report(&f->o, p, (3 + p) * S, &(struct rt_report){.kind = REPORT_MEASURE});
	step(f, 0, 5 * S, 0);
	observation_end(&f->o, f->live.wall_ns);
	f->in.faults = faults;
	f->in.n_faults = 3;
	judge(f, false);
	assert_true(noted(f->c, "2 faults, the first a crash of site-1 at 1 s, ended before"));
	release(f);
}

/* One case without a verdict outweighs one that failed, wherever it stands. */
static void status_of_several(void **state)
{
	static const struct {
		const char *a, *b;
		enum exit_status status;
	} cases[] = {{"holds", "none", STATUS_HOLDS}, {"holds", "fails", STATUS_FAILED},
		{"fails", "holds", STATUS_FAILED}, {"fails", "invalid", STATUS_INVALID},
		{"invalid", "fails", STATUS_INVALID}, {"partial", "holds", STATUS_INVALID},
		{"holds", "partial", STATUS_INVALID}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct record *r = record_new();
		struct record_case *a = record_add_case(r, "a"), *b = record_add_case(r, "b");

		free(a->verdict);
		free(b->verdict);
		a->verdict = strdup(cases[i].a);
		b->verdict = strdup(cases[i].b);
		assert_int_equal(verdict_status(r), cases[i].status);
		record_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_round_trip_slack),
		cmocka_unit_test(idle_round_trip_share),
		cmocka_unit_test(idle_round_trip_with_jitter),
		cmocka_unit_test(lateness),
		cmocka_unit_test(memory),
		cmocka_unit_test(agents_that_stood_still),
		cmocka_unit_test(a_program_that_stood_still),
		cmocka_unit_test(late_crashes),
		cmocka_unit_test(not_begun),
		cmocka_unit_test(partial_is_not_invalid),
		cmocka_unit_test(simulated),
		cmocka_unit_test(operators),
		cmocka_unit_test(metrics),
		cmocka_unit_test(unknown_fails),
		cmocka_unit_test(the_first_failure_is_said),
		cmocka_unit_test(why_it_does_not_fit),
		cmocka_unit_test(why_a_star_does_not_fit),
		cmocka_unit_test(no_notes),
		cmocka_unit_test(notes),
		cmocka_unit_test(pending_steps_are_noted),
		cmocka_unit_test(faults_that_did_not_happen),
		cmocka_unit_test(faults_in_the_warm_up),
		cmocka_unit_test(status_of_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
