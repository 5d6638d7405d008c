/*
 * Sampling the links: by the time that the counters are true for, not by that of the reading.
 * And when the run will end.
 */
#include <math.h>
#include <string.h>

#include "tests/run/played.h"

#define MS NS_PER_MS

/*
 * A link of 100 Mbit/s, full. The observer comes late, by up to 40 ms, and unevenly; the backend
 * says for when its counters are true. No second has more than the link's rate.
 */
static void a_late_observer_sees_the_rate(void **state)
{
	static const int late_ms[] = {0, 40, 3, 25, 0, 38, 11};
	struct fixture *f = make();
	int64_t t0_ns = 77 * NS_PER_S;

	f->o.t0_ns = t0_ns;
	for (int i = 0; i <= 100; i++) {
		int64_t at_ms = i * 100 + late_ms[i % 7] * (i > 0);

		f->stats_at_ns = t0_ns + at_ms * MS;
		f->carried = (uint64_t)at_ms * 12500;
		observe_links(&f->o, i * 100 * MS); /* as the observer's clock said */
	}
	f->live.wall_ns = 10 * NS_PER_S;
	observation_end(&f->o, f->live.wall_ns);
	judge(f, false);
	assert_near(f->c->wire[0].peak_1s_bps, 100e6, 1);
	release(f);
}

/* Counters that have not moved on are no sample; the next one is about all the time since. */
static void old_counters_are_no_sample(void **state)
{
	struct fixture *f = make();

	f->o.t0_ns = NS_PER_S;
	for (int i = 0; i <= 30; i++) {
		int64_t at_ms = i * 100 / 300 * 300; /* every third time */

		f->stats_at_ns = NS_PER_S + at_ms * MS;
		f->carried = (uint64_t)at_ms * 12500;
		observe_links(&f->o, i * 100 * MS);
		assert_int_equal(f->o.wire[1][DOWN].last_ns, at_ms * MS);
	}
	assert_near(f->o.wire[1][DOWN].peak_1s_bps, 100e6, 1);
	release(f);
}

/* Four times slower: the backend's clock is the real one. */
static void dilation(void **state)
{
	struct fixture *f = make();

	f->s.dilation = 4;
	f->o.t0_ns = NS_PER_S;
	for (int i = 0; i <= 80; i++) {
		f->stats_at_ns = NS_PER_S + i * 100 * MS;
		f->carried = (uint64_t)i * 25 * 12500; /* 25 ms of the scenario's at 100 Mbit/s */
		observe_links(&f->o, i * 25 * MS);
	}
	assert_near(f->o.wire[0][UP].peak_1s_bps, 100e6, 1);
	assert_int_equal(f->o.wire[0][UP].last_ns, 2000 * MS);
	release(f);
}

static void completed(struct fixture *f, int p, int64_t from, int64_t to, int64_t every_ns)
{
	for (int64_t n = from; n < to; n++)
		observe_report(&f->o, p, (n + 1) * every_ns,
			&(struct rt_report){.kind = REPORT_STEP, .a = n});
}

/*
 * Ten steps. The first learner has done four in 6 s and ends at 15 s. The other has done three
 * in 6 s and lost one: eight are to come at 3 s each, which is 30 s. Bounded by the limit.
 */
static void the_end_by_the_pace_of_the_slowest(void **state)
{
	struct fixture *f = make();
	const struct rt_report measure = {.kind = REPORT_MEASURE};

	observe_report(&f->o, 0, 0, &measure);
	completed(f, 0, 0, 4, 1500 * MS);
	assert_int_equal(observation_end_ns(&f->o, 6 * NS_PER_S), -1);
	observe_report(&f->o, 1, 0, &measure);
	assert_int_equal(observation_end_ns(&f->o, 6 * NS_PER_S), -1);
	completed(f, 1, 0, 3, 2000 * MS);
	assert_int_equal(observation_end_ns(&f->o, 6 * NS_PER_S), 20 * NS_PER_S);
	observe_report(
		&f->o, 1, 6 * NS_PER_S, &(struct rt_report){.kind = REPORT_LOST, .amount = 1});
	assert_int_equal(observation_end_ns(&f->o, 6 * NS_PER_S), 30 * NS_PER_S);
	f->s.limit_ns = 25 * NS_PER_S;
	assert_int_equal(observation_end_ns(&f->o, 6 * NS_PER_S), 25 * NS_PER_S);
	f->s.limit_ns = 100 * NS_PER_S;
	observe_done(&f->o, 1, 7 * NS_PER_S);
	assert_int_equal(observation_end_ns(&f->o, 7 * NS_PER_S), 17500 * MS);
	release(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_observer_sees_the_rate),
		cmocka_unit_test(old_counters_are_no_sample),
		cmocka_unit_test(dilation),
		cmocka_unit_test(the_end_by_the_pace_of_the_slowest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
