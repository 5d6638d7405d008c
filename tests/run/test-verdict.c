/*
 * The observer and the verdict on a made-up case whose figures are known: two learners, ten
 * steps of 1 s, one of them down for a while, links that carried what a fake backend says.
 */
#include <string.h>

#include "tests/run/played.h"

static void figures_are_those_played(void **state)
{
	struct fixture *f = make();

	play(f);
	judge(f, false);
	assert_near(f->c->useful_work, 10. / 12, 1e-9);
	assert_near(f->c->compute_utilisation, 10. / 12, 1e-9);
	assert_near(f->c->availability, 1, 0);
	assert_int_equal(f->c->exchange_n, 20);
	assert_near(f->c->exchange_p99_s, .2, 1e-12);
	assert_int_equal(f->c->n_wire, 4);
	assert_near(f->c->wire[0].mean_bps, 40e6, 1);
	assert_near(f->c->wire[0].peak_1s_bps, 40e6, 1);
	assert_near(f->c->wire[3].limit_bps, 100e6, 0);
	assert_near(f->c->idle_rtt_expected_s, .040 + 4 * 84 * 8 / 100e6, 1e-9);
	assert_near(f->c->idle_rtt_s, .0401, 1e-12);
	assert_near(f->c->participants[1].ledger_s[STATE_COMPUTE], 10, 1e-9);
	assert_near(f->c->participants[1].wall_s, 12, 1e-9);
	assert_string_equal(f->c->verdict, "holds");
	assert_int_equal(verdict_status(f->record), STATUS_HOLDS);
	release(f);
}

/* Ring over two: each sends the whole payload of 2000 bytes per exchange. */
static void payload_follows_the_formula(void **state)
{
	struct fixture *f = make();

	play(f);
	f->live.bytes[0].payload_sent = f->live.bytes[1].payload_sent = 20000;
	judge(f, false);
	assert_near(f->c->payload_expected_bytes, 40000, 0);
	assert_near(f->c->payload_sent_bytes, 40000, 0);
	release(f);
}

static void a_failed_expectation_says_which(void **state)
{
	struct fixture *f = make();

	f->expect[0].value = .9;
	play(f);
	judge(f, false);
	assert_string_equal(f->c->verdict, "fails");
	assert_non_null(strstr(f->c->because, "useful_work 83.3 %, expected >= 90.0 %"));
	assert_int_equal(verdict_status(f->record), STATUS_FAILED);
	release(f);
}

static void a_link_that_was_not_the_link_is_invalid(void **state)
{
	struct fixture *f = make();

	play(f);
	f->live.idle_rtt_ns[1][0] = 41 * NS_PER_MS; /* 1 ms above: 1 % is 0.4 ms, 0.5 allowed */
	judge(f, false);
	assert_string_equal(f->c->verdict, "invalid");
	assert_non_null(strstr(f->c->because, "41.000 ms"));
	assert_int_equal(verdict_status(f->record), STATUS_INVALID);
	release(f);
}

static void a_late_relay_is_invalid(void **state)
{
	struct fixture *f = make();

	f->late_ns = 2 * NS_PER_MS; /* 5 % of 20 ms one way is 1 ms */
	play(f);
	judge(f, false);
	assert_string_equal(f->c->verdict, "invalid");
	assert_non_null(strstr(f->c->because, "--dilation 2"));
	release(f);
}

static void an_interrupted_run_is_partial(void **state)
{
	struct fixture *f = make();

	play(f);
	judge(f, true);
	assert_string_equal(f->c->verdict, "partial");
	assert_string_equal(f->c->because, "interrupted");
	assert_near(f->c->useful_work, 10. / 12, 1e-9);
	assert_int_equal(verdict_status(f->record), STATUS_INVALID);
	release(f);
}

static void a_run_within_its_warm_up_is_invalid(void **state)
{
	struct fixture *f = make();

	observe_links(&f->o, 0);
	observe_state(&f->o, 0, 0, STATE_COMPUTE);
	step(f, 0, NS_PER_S, 0);
	f->live.wall_ns = NS_PER_S;
	observe_links(&f->o, NS_PER_S);
	observation_end(&f->o, f->live.wall_ns);
	judge(f, false);
	assert_string_equal(f->c->verdict, "invalid");
	assert_non_null(strstr(f->c->because, "within its warm-up"));
	release(f);
}

static void no_round_trip_is_invalid(void **state)
{
	struct fixture *f = make();

	play(f);
	for (int i = 0; i < 2; i++)
		f->live.idle_rtt_ns[i][0] = f->live.idle_rtt_ns[i][1] = -1;
	judge(f, false);
	assert_string_equal(f->c->verdict, "invalid");
	assert_string_equal(f->c->because, "no idle round trip was measured");
	release(f);
}

static void a_record_without_cases_has_no_verdict(void **state)
{
	struct record *r = record_new();

	assert_int_equal(verdict_status(r), STATUS_INVALID);
	record_free(r);
}

static void a_burst_is_seen_in_the_peak_only(void **state)
{
	struct fixture *f = make();

	observe_links(&f->o, 0);
	observe_report(&f->o, 0, 0, &(struct rt_report){.kind = REPORT_MEASURE});
	for (int tick = 1; tick <= 100; tick++) {
		f->carried += tick > 40 && tick <= 50 ? 1000000 : 0; /* 80 Mbit/s for one second */
		observe_links(&f->o, tick * 100 * NS_PER_MS);
	}
	f->live.wall_ns = 10 * NS_PER_S;
	observation_end(&f->o, f->live.wall_ns);
	judge(f, false);
	assert_near(f->c->wire[1].mean_bps, 8e6, 1);
	assert_near(f->c->wire[1].peak_1s_bps, 80e6, 1);
	assert_string_equal(f->c->verdict, "fails"); /* nothing was useful */
	assert_string_equal(f->c->notes[0], "no exchange finished in the time: nothing was merged");
	release(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_played),
		cmocka_unit_test(payload_follows_the_formula),
		cmocka_unit_test(a_failed_expectation_says_which),
		cmocka_unit_test(a_link_that_was_not_the_link_is_invalid),
		cmocka_unit_test(a_late_relay_is_invalid),
		cmocka_unit_test(an_interrupted_run_is_partial),
		cmocka_unit_test(a_run_within_its_warm_up_is_invalid),
		cmocka_unit_test(no_round_trip_is_invalid),
		cmocka_unit_test(a_record_without_cases_has_no_verdict),
		cmocka_unit_test(a_burst_is_seen_in_the_peak_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
