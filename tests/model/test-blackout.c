/*
 * Who waits when one site is cut off: docs/strategies.md. Four learners, a step of 1 s, two
 * fragments in flight, and exchanges that take no time to speak of.
 *
 * The blackout begins at 5.5 s and lasts 6 s. Fragments sent at 6 and 7 s are not answered, so
 * that a learner that needs the dark site waits from 8 s on. TCP sends the first again 204 ms
 * later (200 ms and a round trip) and then after twice as long each time: after 31 times 204 ms,
 * at 12.32 s, the link carries again.
 */
#include "bench/case.h"
#include "tests/model/burst.h"
#include "tests/test.h"

#define M 4
#define WAITS 4.33
#define TCP .1 /* what slow start and the answer add */

static void waits_dilated(double *out, const char *outer, const char *target, int dilation)
{
	_free_ char *text =
		memory_format("narrowlink: 1\n"
			      "dilation: %d\n"
			      "links: {wan: {rate: 1 Gbit/s, delay: 1 ms}}\n"
			      "sites: {count: %d, link: wan}\n"
			      "workload: {strategy: decoupled-diloco, parameters: 400 k, step: 1 s,"
			      " outer: {period: 4, fragments: 4, overlap: 2, %s}}\n"
			      "run: {steps: 16, warmup: 1}\n"
			      "faults: [{kind: blackout, target: %s, at: 5500 ms, for: 6 s}]\n",
			dilation, M, outer, target);
	struct scenario_file *file = load_ok(text);
	struct record *record = record_new();
	struct record_case *c = record_add_case(record, "case");
	const struct case_context alone = {.signal_fd = -1};
	struct error err = {0};

	assert_int_equal(case_model(c, file->cases[0], &alone, &err), 0);
	for (int i = 0; i < M; i++)
		out[i] = c->participants[i].ledger_s[STATE_EXPOSED_COMM] +
			 c->participants[i].ledger_s[STATE_BARRIER_WAIT];
	record_free(record);
	scenario_file_free(file);
}

static void waits(double *out, const char *outer, const char *target)
{
	waits_dilated(out, outer, target, 1);
}

static void star_only_the_dark_site_waits(void **state)
{
	double s[M];

	waits(s, "syncer: star", "site 2");
	for (int i = 0; i < M; i++)
		assert_near(s[i], i == 1 ? WAITS : 0, i == 1 ? TCP : 0);
}

static void star_everybody_waits_for_the_syncer(void **state)
{
	double s[M];

	waits(s, "syncer: star", "syncer");
	for (int i = 0; i < M; i++)
		assert_near(s[i], WAITS, TCP);
}

/* An exchange is finished when every shard has answered, and one of them is dark. */
static void sharded_everybody_waits(void **state)
{
	double s[M];

	waits(s, "syncer: sharded", "site 2");
	for (int i = 0; i < M; i++)
		assert_near(s[i], WAITS, TCP);
}

static void who_skips_waits_for_nobody(void **state)
{
	double s[M];

	waits(s, "syncer: sharded, late: skip", "site 2");
	for (int i = 0; i < M; i++)
		assert_near(s[i], 0, 0);
}

/*
 * TCP's 200 ms are 100 of the scenario's in a run at dilation 2, and the round trip's 4 ms are 4:
 * again after 104 ms and twice as long each time, the link carries after 63 times 104 ms, at 12.55
 * s.
 */
static void timeouts_of_a_dilated_run(void **state)
{
	double s[M];

	waits_dilated(s, "syncer: sharded", "site 2", 2);
	for (int i = 0; i < M; i++)
		assert_near(s[i], 4.55, TCP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(star_only_the_dark_site_waits),
		cmocka_unit_test(star_everybody_waits_for_the_syncer),
		cmocka_unit_test(sharded_everybody_waits),
		cmocka_unit_test(who_skips_waits_for_nobody),
		cmocka_unit_test(timeouts_of_a_dilated_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
