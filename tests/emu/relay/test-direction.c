/* Taking a run of segments at once gives what taking one after the other gives. */
#include "tests/test.h"

#include "base/clock.h"
#include "base/random.h"
#include "emu/relay/direction.h"

static uint64_t draw(uint64_t *counter, uint64_t below)
{
	return random_u64(11, 0, RANDOM_LOSS, (*counter)++) % below;
}

/* One by one on a copy; compares what the run said. False where the run was not taken. */
static bool compare(struct direction_line *d, const struct direction_run *run, int n)
{
	struct direction_line one_by_one = *d;
	int64_t begin_ns, end_ns, queued, high = 0, first_end = 0, end = 0, now_queued;

	if (!direction_take_run(d, run, &begin_ns, &end_ns, &queued))
		return false;
	for (int i = 0; i < n; i++) {
		int64_t at_ns =
			n == 1 ? run->last_ns
			       : run->first_ns + (run->last_ns - run->first_ns) * i / (n - 1);

		assert_true(direction_take(&one_by_one, at_ns,
			i == n - 1 ? run->last_bytes : run->first_bytes, &end, &now_queued));
		high = now_queued > high ? now_queued : high;
		first_end = i == 0 ? end : first_end;
	}
	assert_near((double)begin_ns, (double)first_end, 1);
	assert_near((double)end_ns, (double)end, 2);
	assert_near((double)queued, (double)high, run->first_ns == run->last_ns ? 1 : 1514);
	return true;
}

/* Bursts at one instant, trains slower and faster than the link, idle and busy, by a fixed seed. */
static void test_run_equals_segments(void **state)
{
	const int64_t rates[] = {100000000, 840000000, 1000000000, 7777777777};
	struct link_direction profile = {.overhead_bytes = 14};
	uint64_t c = 0;
	int taken = 0;

	for (int round = 0; round < 20000; round++) {
		struct direction_line d;
		int64_t now_ns = NS_PER_S;

		profile.base =
			(struct link_state){.rate_bps = rates[draw(&c, 4)], .queue_bytes = 1000000};
		direction_init(&d, &profile, UP, 1, 0, now_ns);
		for (int k = 0; k < 4; k++) {
			int n = 1 + (int)draw(&c, 40);
			struct direction_run run = {
				.first_ns = now_ns,
				.last_ns = now_ns +
					   (n > 1 && draw(&c, 3) ? (int64_t)draw(&c, 400000) : 0),
				.first_bytes = 1514,
				.last_bytes = n == 1 ? 1514 : 67 + (int64_t)draw(&c, 1448),
				.most_ns = NS_PER_S,
			};

			run.bytes = (n - 1) * 1514 + run.last_bytes;
			taken += compare(&d, &run, n);
			now_ns += (int64_t)draw(&c, 300000);
		}
	}
	assert_true(taken > 70000);
}

/* Where it is not that simple nothing may have happened. */
static void test_refused_runs_change_nothing(void **state)
{
	struct link_step step = {.at_ns = 10000, .set = LINK_RATE, .to.rate_bps = 1000};
	struct link_direction profile = {
		.base = {.rate_bps = NS_PER_S, .queue_bytes = 10 * 1514},
		.n_steps = 1,
		.steps = &step,
	};
	struct direction_run run = {NS_PER_S, NS_PER_S, 11 * 1514, 1514, 1514, NS_PER_S};
	int64_t begin_ns, end_ns, queued;
	struct direction_line d;

	direction_init(&d, &profile, UP, 1, 0, NS_PER_S);
	assert_false(direction_take_run(&d, &run, &begin_ns, &end_ns, &queued)); /* no room */
	run.bytes = 2 * 1514;
	run.most_ns = 2 * 12112 - 1;
	assert_false(direction_take_run(&d, &run, &begin_ns, &end_ns, &queued)); /* too long */
	run.most_ns = NS_PER_S;
	direction_start(&d, NS_PER_S, NS_PER_S);
	assert_false(direction_take_run(&d, &run, &begin_ns, &end_ns, &queued)); /* rate changes */
	direction_start(&d, 2 * NS_PER_S, NS_PER_S);
	assert_true(direction_take(&d, NS_PER_S, 1514, &end_ns, &queued));
	assert_int_equal(end_ns, NS_PER_S + 12112);
	assert_int_equal(queued, 1514);
}

/* A burst that fills the queue to the byte is taken whole; with a byte less of room it is not. */
static void test_room_for_a_run(void **state)
{
	struct link_direction profile = {.base = {.rate_bps = NS_PER_S, .queue_bytes = 10 * 1514}};
	const struct direction_run run = {NS_PER_S, NS_PER_S, 10 * 1514, 1514, 1514, NS_PER_S};
	int64_t begin_ns, end_ns, queued;
	struct direction_line d;

	direction_init(&d, &profile, UP, 1, 0, NS_PER_S);
	assert_true(direction_take_run(&d, &run, &begin_ns, &end_ns, &queued));
	assert_int_equal(queued, 10 * 1514);
	assert_int_equal(end_ns, NS_PER_S + 10 * 12112);
	profile.base.queue_bytes--;
	direction_init(&d, &profile, UP, 1, 0, NS_PER_S);
	assert_false(direction_take_run(&d, &run, &begin_ns, &end_ns, &queued));
}

/* A loss belongs to a segment's number: segments that went by as a whole count as many. */
static void test_losses_are_by_number(void **state)
{
	struct link_step lossy = {.at_ns = NS_PER_MS, .set = LINK_LOSS, .to.loss = 0.5};
	const struct link_direction always = {.base = {.rate_bps = NS_PER_S, .loss = 0.5}};
	const struct link_direction later = {
		.base = {.rate_bps = NS_PER_S}, .n_steps = 1, .steps = &lossy};
	struct direction_line a, b;

	direction_init(&a, &always, UP, 1, 0, NS_PER_S);
	direction_init(&b, &later, UP, 1, 0, NS_PER_S);
	direction_start(&b, NS_PER_S, NS_PER_S);
	assert_true(direction_lossless(&b, NS_PER_S, NS_PER_S + 1000, 10));
	for (int i = 0; i < 10; i++)
		direction_leave(&a, NS_PER_S);
	for (int i = 0; i < 100; i++) /* by chance alone they agree once in 2^100 */
		assert_int_equal(direction_leave(&b, NS_PER_S + NS_PER_MS),
			direction_leave(&a, NS_PER_S + NS_PER_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_equals_segments),
		cmocka_unit_test(test_refused_runs_change_nothing),
		cmocka_unit_test(test_room_for_a_run),
		cmocka_unit_test(test_losses_are_by_number),
	};

	return cmocka_run_group_tests_name("relay direction", tests, NULL, NULL);
}
