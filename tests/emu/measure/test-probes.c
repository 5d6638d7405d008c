/* Summaries of probes whose times are made up. */
#include <math.h>

#include "base/clock.h"
#include "emu/measure/probes.h"
#include "tests/test.h"

#define N 10
#define BASE (1000 * NS_PER_S)

/* One a millisecond, 10 ms there, 1 ms at the far end, 20 ms back, nothing lost. */
static void make(struct probe_times t[N])
{
	for (int i = 0; i < N; i++) {
		t[i].sent_ns = t[i].due_ns = BASE + i * NS_PER_MS;
		t[i].there_ns = t[i].sent_ns + 10 * NS_PER_MS;
		t[i].answered_ns = t[i].there_ns + NS_PER_MS;
		t[i].back_ns = t[i].answered_ns + 20 * NS_PER_MS;
		t[i].there_order = t[i].back_order = (uint32_t)i + 1;
	}
}

static void ways_apart(void **state)
{
	struct probe_times t[N];
	struct probe_summary s;

	make(t);
	t[3].there_ns += 5 * NS_PER_MS;
	t[3].answered_ns += 5 * NS_PER_MS;
	t[3].back_ns += 5 * NS_PER_MS;
	t[8].due_ns -= 3 * NS_PER_MS;
	probes_summary(t, N, WAY_THERE, 0, INT64_MAX, &s);
	assert_int_equal(s.sent, N);
	assert_near(s.min_s, .010, 1e-12);
	assert_near(s.p50_s, .010, 1e-12);
	assert_near(s.max_s, .015, 1e-12);
	assert_near(s.late_p50_s, 0, 0);
	assert_near(s.late_max_s, .003, 1e-12);
	assert_near(s.p99_s, .010 + .91 * .005, 1e-9); /* type 7: 0.99 x 9 = 8.91 */
	probes_summary(t, N, WAY_BACK, 0, INT64_MAX, &s);
	assert_near(s.max_s, .020, 1e-12);
	probes_summary(t, N, WAY_ROUND, 0, INT64_MAX, &s);
	assert_near(s.min_s, .030, 1e-12); /* without the far end's millisecond */
	assert_near(s.max_s, .035, 1e-12);
}

static void losses_by_way(void **state)
{
	struct probe_times t[N];
	struct probe_summary s;

	make(t);
	t[2] = t[3] = (struct probe_times){.sent_ns = 0};
	t[2].sent_ns = BASE + 2 * NS_PER_MS; /* lost there, two in a row */
	t[3].sent_ns = BASE + 3 * NS_PER_MS;
	t[7].back_ns = 0; /* lost on its way back */
	probes_summary(t, N, WAY_THERE, 0, INT64_MAX, &s);
	assert_int_equal(s.lost, 2);
	assert_int_equal(s.bursts, 1);
	probes_summary(t, N, WAY_BACK, 0, INT64_MAX, &s);
	assert_int_equal(s.sent, N - 2);
	assert_int_equal(s.lost, 1);
	probes_summary(t, N, WAY_ROUND, 0, INT64_MAX, &s);
	assert_int_equal(s.lost, 3);
	assert_int_equal(s.bursts, 2);
}

static void order(void **state)
{
	struct probe_times t[N];
	struct probe_summary s;

	make(t);
	t[4].there_order = 7; /* 4 came after 5 and 6 */
	t[5].there_order = 5;
	t[6].there_order = 6;
	probes_summary(t, N, WAY_THERE, 0, INT64_MAX, &s);
	assert_int_equal(s.reordered, 2); /* RFC 4737: 5 and 6 were sent after 4, found late */
	probes_summary(t, N, WAY_BACK, 0, INT64_MAX, &s);
	assert_int_equal(s.reordered, 0);
}

static void a_part_of_the_time(void **state)
{
	struct probe_times t[N];
	struct probe_summary s;

	make(t);
	t[9].there_ns += NS_PER_S;
	probes_summary(t, N, WAY_THERE, 2 * NS_PER_MS, 9 * NS_PER_MS, &s);
	assert_int_equal(s.sent, 7);
	assert_near(s.max_s, .010, 1e-12);
	probes_summary(t, N, WAY_THERE, NS_PER_S, 2 * NS_PER_S, &s);
	assert_int_equal(s.sent, 0);
	assert_true(isnan(s.p50_s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_apart),
		cmocka_unit_test(losses_by_way),
		cmocka_unit_test(order),
		cmocka_unit_test(a_part_of_the_time),
	};

	return cmocka_run_group_tests_name("probes", tests, NULL, NULL);
}
