/*
 * Live runs without faults: every byte accounted for, states that sum to the wall time, agents
 * that are where and what they should be.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/live/exchange.h"
#include "tests/live/world.h"

static void payload_is_exact(int sites, int steps, int64_t parameters)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;
	uint64_t sent = 0, received = 0, framing_sent = 0, framing_received = 0;
	int r;

	world_up(&w, sites, &strategy_exchange);
	w.s.job.steps = steps;
	w.s.job.parameters = parameters;
	r = world_run(&w, NULL, 0, &watch, &result);
	if (r < 0)
		fail_msg("%s", w.err.text);
	assert_int_equal(result.end, END_DONE);
	assert_int_equal(result.n_participants, sites);
	for (int i = 0; i < sites; i++) {
		assert_int_equal(watch.steps[i], steps);
		assert_int_equal(result.bytes[i].payload_sent, steps * (sites - 1) * parameters);
		assert_int_equal(result.bytes[i].local_sent, 0);
		sent += result.bytes[i].payload_sent;
		received += result.bytes[i].payload_received;
		framing_sent += result.bytes[i].framing_sent;
		framing_received += result.bytes[i].framing_received;
	}
	assert_int_equal(sent, (uint64_t)steps * sites * (sites - 1) * parameters);
	assert_int_equal(received, sent);
	assert_true(framing_sent > 0 && framing_received > 0);
	world_down(&w);
}

static void three_sites(void **state)
{
	payload_is_exact(3, 10, 1234567);
}

static void eight_sites(void **state)
{
	payload_is_exact(8, 5, 300001);
}

static void one_byte_messages(void **state)
{
	payload_is_exact(3, 20, 1);
}

/* The sum of a participant's states against the time between zero and its end. */
static void ledger_sums_to_wall(void **state)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;

	world_up(&w, 3, &strategy_exchange);
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	assert_false(watch.out_of_order);
	for (int i = 0; i < 3; i++) {
		double wall = (double)ledger_wall_ns(&watch.ledgers[i]);

		assert_true(watch.done_at[i] > 0 && watch.done_at[i] <= result.wall_ns);
		assert_near(wall, (double)watch.done_at[i], 0.005 * (double)watch.done_at[i]);
		/* ten steps of exactly 20 ms, however late the process was scheduled */
		assert_int_equal(watch.ledgers[i].in_ns[STATE_COMPUTE], 200000000);
	}
	world_down(&w);
}

/* Times in the scenario are those without dilation; real time is three times as long. */
static void dilation_scales(void **state)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;
	int64_t began;

	world_up(&w, 2, &strategy_exchange);
	w.s.dilation = 3;
	began = clock_now_ns();
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	assert_int_equal(watch.ledgers[0].in_ns[STATE_COMPUTE], 200000000);
	assert_true(result.wall_ns >= 200000000);
	assert_true(clock_now_ns() - began >= 600000000);
	world_down(&w);
}

/* Sharded: the syncer of one's own site is reached over the site's own address. */
static void same_site_is_local(void **state)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;

	world_up(&w, 2, &strategy_exchange);
	w.s.job.syncer = SYNCER_SHARDED;
	w.s.job.n_learners = 2;
	w.s.job.steps = 0; /* the test is about connecting: 4 participants on 2 sites */
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	assert_int_equal(result.n_participants, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(result.bytes[i].payload_sent, 0);
		assert_true(result.bytes[i].framing_sent > 0);
	}
	world_down(&w);
}

static void idle_rtt_is_measured(void **state)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;

	world_up(&w, 3, &strategy_exchange);
	w.s.job.steps = 1;
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			if (i == j) {
				assert_int_equal(result.idle_rtt_ns[i][j], -1);
				continue;
			}
			assert_true(result.idle_rtt_ns[i][j] > 0);
			assert_int_equal(result.idle_rtt_ns[i][j], result.idle_rtt_ns[j][i]);
		}
	assert_int_equal(result.idle_rtt_ns[0][3], -1);
	world_down(&w);
}

static void limit_ends_the_run(void **state)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;

	world_up(&w, 2, &strategy_exchange);
	w.s.job.steps = 1000000;
	w.s.limit_ns = 300000000;
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	assert_int_equal(result.end, END_LIMIT);
	assert_int_equal(result.wall_ns, 300000000);
	assert_true(watch.last_at[0] <= 300000000 && watch.last_at[1] <= 300000000);
	world_down(&w);
}

static int stop_at_third(struct watch *w, int64_t at_ns)
{
	return w->ticks == 3;
}

static void tick_stops_the_run(void **state)
{
	struct world w;
	struct watch watch = {.on_tick = stop_at_third};
	struct outcome result;

	world_up(&w, 2, &strategy_exchange);
	w.s.job.steps = 1000000;
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	assert_int_equal(result.end, END_STOPPED);
	assert_int_equal(watch.ticks, 3);
	assert_int_equal(world_pid_named("nl:oslo"), 0);
	world_down(&w);
}

struct inspected {
	unsigned long long effective, permitted;
	char host[64];
};

static void read_status(int pid, struct inspected *out)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		sscanf(line, "CapEff: %llx", &out->effective);
		sscanf(line, "CapPrm: %llx", &out->permitted);
	}
	fclose(f);
}

/* Looks at an agent from outside, while it runs. */
static int inspect(struct watch *w, int64_t at_ns)
{
	struct inspected *out = w->context;
	char command[128];
	int pid = world_pid_named("nl:oslo");
	FILE *f;

	if (at_ns < 0)
		return 0;
	assert_true(pid > 0);
	read_status(pid, out);
	snprintf(command, sizeof command, "nsenter -t %d -u hostname", pid);
	f = popen(command, "re");
	assert_non_null(f);
	if (fgets(out->host, sizeof out->host, f))
		out->host[strcspn(out->host, "\n")] = '\0';
	pclose(f);
	return 1;
}

static void agents_are_bare(void **state)
{
	struct inspected seen = {.effective = 1, .permitted = 1};
	struct world w;
	struct watch watch = {.on_tick = inspect, .context = &seen};
	struct outcome result;

	world_up(&w, 2, &strategy_exchange);
	w.s.job.steps = 1000000;
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	assert_true(seen.effective == 0 && seen.permitted == 0);
	assert_string_equal(seen.host, "oslo");
	world_down(&w);
}

/* Stopped from the fourth tick on, for the ticks that the test says; the others run on. */
static int stop_oslo(struct watch *w, int64_t at_ns)
{
	const int *ticks = w->context;
	int pid = world_pid_named("nl:oslo");

	if (w->ticks == 4)
		assert_int_equal(kill(pid, SIGSTOP), 0);
	if (w->ticks == 4 + *ticks)
		assert_int_equal(kill(pid, SIGCONT), 0);
	return w->ticks > 30;
}

/*
 * An agent that does not run for 2.3 s is told, once, and nobody else; shorter stops are not. One
 * that stands still when the run ends is told then.
 */
static void a_stopped_agent_is_named(void **state)
{
	static const struct {
		int ticks, stills;
	} cases[] = {{23, 1}, {1000, 1}, {5, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int ticks = cases[i].ticks;
		struct watch watch = {.on_tick = stop_oslo, .context = &ticks};
		struct outcome result;
		struct world w;

		world_up(&w, 3, &strategy_exchange);
		w.s.job.steps = 1000000;
		assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
		assert_int_equal(watch.stills[1], cases[i].stills);
		assert_true(watch.stills[0] == 0 && watch.stills[2] == 0);
		if (cases[i].stills)
			assert_true(watch.still_ns >= 2 * NS_PER_S);
		assert_int_equal(world_pid_named("nl:oslo"), 0);
		world_down(&w);
	}
}

/* This process does nothing for 2.5 s, as if it had been stopped, or waited for a disk. */
static int stand_still(struct watch *w, int64_t at_ns)
{
	if (w->ticks == 6)
		usleep(2500000);
	return w->ticks > 40;
}

/* The agents ran on, and none is blamed. */
static void a_controller_that_stood_still_blames_itself(void **state)
{
	struct watch watch = {.on_tick = stand_still};
	struct outcome result;
	struct world w;

	world_up(&w, 3, &strategy_exchange);
	w.s.job.steps = 1000000;
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(watch.stills[i], 0);
	assert_int_equal(watch.absences, 1);
	assert_true(watch.absent_ns >= 2500 * NS_PER_MS);
	assert_true(watch.absent_until_ns >= watch.absent_ns);
	world_down(&w);
}

static void count_slowly(void *user, int p, int64_t at_ns, const struct rt_report *report)
{
	struct watch *w = user;

	w->steps[p] += report->kind == REPORT_EXCHANGE;
	usleep(200); /* a few hundred take longer than the controller waits between two looks */
}

/* Exchanges that finish after the end are told, all of them, however slow the reader is. */
static void late_exchanges_are_all_read(void **state)
{
	struct observer observer = watch_observer;
	struct watch watch = {0};
	struct outcome result;
	struct world w;

	world_up(&w, 2, &strategy_afterthought);
	w.s.job.steps = 1000;
	observer.user = &watch;
	observer.report = count_slowly;
	watch_begin(&watch, &w.s.job);
	assert_int_equal(live_run(&w.s, w.t, NULL, 0, NULL, &observer, &result, &w.err), 0);
	assert_int_equal(result.end, END_DONE);
	assert_int_equal(watch.steps[0], 1000);
	assert_int_equal(watch.steps[1], 1000);
	world_down(&w);
}

static int stop_oslo_at_once(struct watch *w, int64_t at_ns)
{
	int pid = world_pid_named("nl:oslo");

	if (w->ticks == 1)
		assert_int_equal(kill(pid, SIGSTOP), 0);
	return 0;
}

/* Before the start it would be waited for in vain; connecting has a bound of 15 s here. */
static void an_agent_that_never_runs_ends_the_wait(void **state)
{
	struct watch watch = {.on_tick = stop_oslo_at_once};
	struct outcome result;
	struct world w;

	world_up(&w, 2, &strategy_exchange);
	world_site_command(&w, 1, "ip link set " SITE_DEVICE " down");
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), -ETIMEDOUT);
	assert_int_equal(w.err.status, STATUS_INVALID);
	assert_non_null(
		strstr(w.err.text, "could not connect within 15 s of real time: the agent of "
				   "oslo has not run for 1"));
	assert_int_equal(watch.n_up, 0);
	assert_int_equal(watch.n_pairs, 1);
	world_down(&w);
}

static void tcp_is_sampled(void **state)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;

	world_up(&w, 2, &strategy_exchange);
	w.s.job.steps = 40;
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), 0);
	assert_true(watch.tcp_samples >= 2);
	assert_true(watch.tcp.rtt_ns > 0 && watch.tcp.min_rtt_ns > 0);
	assert_true(watch.tcp.min_rtt_ns <= watch.tcp.rtt_ns);
	assert_true(watch.tcp.cwnd_segments >= 3); /* three connections */
	world_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_sites),
		cmocka_unit_test(eight_sites),
		cmocka_unit_test(one_byte_messages),
		cmocka_unit_test(ledger_sums_to_wall),
		cmocka_unit_test(dilation_scales),
		cmocka_unit_test(same_site_is_local),
		cmocka_unit_test(idle_rtt_is_measured),
		cmocka_unit_test(limit_ends_the_run),
		cmocka_unit_test(tick_stops_the_run),
		cmocka_unit_test(agents_are_bare),
		cmocka_unit_test(a_stopped_agent_is_named),
		cmocka_unit_test(a_controller_that_stood_still_blames_itself),
		cmocka_unit_test(an_agent_that_never_runs_ends_the_wait),
		cmocka_unit_test(tcp_is_sampled),
		cmocka_unit_test(late_exchanges_are_all_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
