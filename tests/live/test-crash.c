/*
 * What breaks: agents killed on schedule and from outside, links that fall silent, a connection
 * slower than the others, and the controller itself.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/live/exchange.h"
#include "tests/live/world.h"

#define MS INT64_C(1000000)

/* A gossip run of three sites for about two seconds. */
static void gossip_world(struct world *w, int sites)
{
	world_up(w, sites, &strategy_gossip);
	w->s.job.steps = 100;
	w->s.job.parameters = 20000;
}

static void run_or_fail(struct world *w, const struct fault *faults, size_t n, struct watch *watch,
	struct outcome *result)
{
	if (world_run(w, faults, n, watch, result) < 0)
		fail_msg("%s", w->err.text);
}

static void check_crashed(const struct watch *watch, int p, const struct fault *fault)
{
	const struct ledger *l = &watch->ledgers[p];

	assert_int_equal(watch->downs[p], 1);
	assert_int_equal(watch->recovers[p], 1);
	assert_int_equal(watch->recovered[p], 1);
	/* never early; how late is the machine's business */
	assert_true(watch->down_at[p] >= fault->at_ns);
	assert_true(watch->recover_at[p] >= fault->at_ns + fault->for_ns);
	assert_true(l->in_ns[STATE_RECOVER] > 0);
	assert_true(watch->done_at[p] > watch->recover_at[p]);
}

/* It comes back, fetches the state from a peer over the network, and all finish. */
static void crash_and_restart(void **state)
{
	const struct fault fault = {FAULT_CRASH, 1, 500 * MS, 300 * MS};
	struct world w;
	struct watch watch = {0};
	struct outcome result;
	uint64_t sent = 0;

	gossip_world(&w, 3);
	run_or_fail(&w, &fault, 1, &watch, &result);
	assert_int_equal(result.end, END_DONE);
	assert_false(watch.out_of_order);
	assert_int_equal(watch.fault_begins, 1);
	assert_int_equal(watch.fault_ends, 1);
	check_crashed(&watch, 1, &fault);
	/* steps before the kill and all of them again after */
	assert_true(watch.steps[1] > 100 && watch.steps[1] < 200);
	assert_int_equal(watch.steps[0], 100);
	assert_int_equal(watch.downs[0] + watch.downs[2], 0);
	/* the state was sent once, by one of the others, on top of at most 100 messages to two */
	for (int i = 0; i < 3; i += 2)
		sent += result.bytes[i].payload_sent;
	assert_true(sent > 1000000);
	assert_true(sent <= 1000000 + 4 * 100 * 20000);
	world_down(&w);
}

/* Each comes back although the other is down then: neither waits for the other. */
static void two_crashes_at_once(void **state)
{
	const struct fault faults[] = {
		{FAULT_CRASH, 1, 400 * MS, 300 * MS}, {FAULT_CRASH, 2, 400 * MS, 3000 * MS}};
	struct world w;
	struct watch watch = {0};
	struct outcome result;

	gossip_world(&w, 3);
	run_or_fail(&w, faults, 2, &watch, &result);
	assert_int_equal(result.end, END_DONE);
	check_crashed(&watch, 1, &faults[0]);
	check_crashed(&watch, 2, &faults[1]);
	/* site 1 was at work again before site 2 was repaired */
	assert_true(watch.recovered_at[1] < watch.recover_at[2]);
	world_down(&w);
}

/* The same participant, again and again. */
static void crashes_in_a_row(void **state)
{
	const struct fault faults[] = {{FAULT_CRASH, 0, 300 * MS, 100 * MS},
		{FAULT_CRASH, 0, 500 * MS, 100 * MS}, {FAULT_CRASH, 0, 610 * MS, 100 * MS}};
	struct world w;
	struct watch watch = {0};
	struct outcome result;

	gossip_world(&w, 3);
	run_or_fail(&w, faults, 3, &watch, &result);
	assert_int_equal(result.end, END_DONE);
	assert_int_equal(watch.downs[0], 3);
	assert_int_equal(watch.recovers[0], 3);
	assert_true(watch.recovered[0] >= 1);
	assert_false(watch.out_of_order);
	world_down(&w);
}

/* A crashed participant's states sum to the wall time as well. */
static void ledger_of_a_crash(void **state)
{
	const struct fault fault = {FAULT_CRASH, 2, 300 * MS, 200 * MS};
	struct world w;
	struct watch watch = {0};
	struct outcome result;
	double wall;

	gossip_world(&w, 3);
	run_or_fail(&w, &fault, 1, &watch, &result);
	for (int i = 0; i < 3; i++) {
		wall = (double)ledger_wall_ns(&watch.ledgers[i]);
		assert_near(wall, (double)watch.done_at[i], 0.005 * (double)watch.done_at[i]);
	}
	assert_int_equal(
		watch.ledgers[2].in_ns[STATE_DOWN], watch.recover_at[2] - watch.down_at[2]);
	world_down(&w);
}

static int kill_oslo(struct watch *w, int64_t at_ns)
{
	int pid = world_pid_named("nl:oslo");

	if (at_ns >= 0 && w->ticks > 3)
		kill(pid, *(int *)w->context);
	return 0;
}

static void killed_from_outside(int signal_number, const char *how)
{
	struct world w;
	struct watch watch = {.on_tick = kill_oslo, .context = &signal_number};
	struct outcome result = {.wall_ns = 77};

	world_up(&w, 3, &strategy_exchange);
	w.s.job.steps = 1000000;
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), -ECHILD);
	assert_int_equal(w.err.status, STATUS_MACHINE);
	assert_non_null(strstr(w.err.text, "oslo (learner)"));
	assert_non_null(strstr(w.err.text, how));
	assert_non_null(strstr(w.err.text, "no fault of the scenario"));
	assert_int_equal(result.wall_ns, 77);
	assert_int_equal(world_pid_named("nl:berlin"), 0);
	assert_int_equal(world_pid_named("nl:rome"), 0);
	world_down(&w);
}

static void agent_is_killed(void **state)
{
	killed_from_outside(SIGKILL, "was killed by signal 9 (Killed)");
}

/* What a terminal sends to the whole group is not for agents. */
static int interrupt_oslo(struct watch *w, int64_t at_ns)
{
	int pid = world_pid_named("nl:oslo");

	if (at_ns >= 0) {
		kill(pid, SIGINT);
		kill(pid, SIGTERM);
		kill(pid, SIGHUP);
	}
	return w->ticks == 6;
}

static void terminal_signals_are_ignored(void **state)
{
	struct world w;
	struct watch watch = {.on_tick = interrupt_oslo};
	struct outcome result;

	world_up(&w, 2, &strategy_exchange);
	w.s.job.steps = 1000000;
	run_or_fail(&w, NULL, 0, &watch, &result);
	assert_int_equal(result.end, END_STOPPED);
	world_down(&w);
}

/* A site whose device is down at the start: no verdict; both ends and the reason are named. */
static void unreachable_site(void **state)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;

	world_up(&w, 2, &strategy_exchange);
	world_site_command(&w, 1, "ip route del default; ip link set wan0 down");
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), -ETIMEDOUT);
	assert_int_equal(w.err.status, STATUS_INVALID);
	assert_non_null(strstr(w.err.text, "could not connect within 15 s of real time: "));
	assert_non_null(strstr(w.err.text, "oslo"));
	assert_non_null(strstr(w.err.text, "berlin"));
	world_down(&w);
}

/* Somebody in the site has the port already: a socket made there, and kept open here. */
static int take_port(struct world *w, int site, uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd;

	assert_int_equal(topology_enter(w->t, site, &w->err), 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(topology_leave(w->t, &w->err), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void port_is_taken(void **state)
{
	struct world w;
	struct watch watch = {0};
	struct outcome result;
	int fd;

	world_up(&w, 2, &strategy_exchange);
	fd = take_port(&w, 1, 20001);
	assert_int_equal(world_run(&w, NULL, 0, &watch, &result), -EIO);
	close(fd);
	assert_non_null(strstr(w.err.text, "oslo (learner): cannot listen on port 20001"));
	world_down(&w);
}

static int silence_oslo(struct watch *w, int64_t at_ns)
{
	struct world *world = w->context;

	if (at_ns >= 500 * MS && !w->fault_begins++)
		world_site_command(world, 1,
			"tc qdisc add dev wan0 root tbf rate 1kbit burst 10 "
			"limit 10");
	if (w->silent[0] && w->silent[1] && w->silent[2] && !w->fault_ends++)
		world_site_command(world, 1, "tc qdisc del dev wan0 root");
	return w->heard[0] && w->heard[2] && w->heard[1] == w->silent[1];
}

/* Nothing leaves oslo for a while: the others notice, and notice the end. No connection breaks. */
static void silence_is_noticed(void **state)
{
	struct world w;
	struct watch watch = {.on_tick = silence_oslo, .context = &w};
	struct outcome result;

	world_up(&w, 3, &strategy_gossip);
	w.s.job.steps = 1000000;
	w.s.job.parameters = 1000;
	w.s.transport.silence_ns = 1000 * MS;
	run_or_fail(&w, NULL, 0, &watch, &result);
	assert_int_equal(result.end, END_STOPPED);
	assert_true(watch.silent[0] >= 1 && watch.silent[2] >= 1);
	/* oslo hears nobody once the others' windows are full of what it cannot acknowledge */
	assert_true(watch.silent[1] >= 1);
	world_down(&w);
}

static int write_pids(struct watch *w, int64_t at_ns)
{
	int pids[3] = {world_pid_named("nl:berlin"), world_pid_named("nl:oslo"),
		world_pid_named("nl:rome")};

	if (at_ns >= 0 && !w->fault_begins++)
		if (write(*(int *)w->context, pids, sizeof pids) != sizeof pids)
			_exit(1);
	return 0;
}

/* The controller, in a process of its own. */
static _Noreturn void be_controller(int fd)
{
	struct world w;
	struct watch watch = {.on_tick = write_pids, .context = &fd};
	struct outcome result;

	world_up(&w, 3, &strategy_exchange);
	w.s.job.steps = 1000000;
	world_run(&w, NULL, 0, &watch, &result);
	_exit(1);
}

static bool all_gone(const int *pids)
{
	for (int i = 0; i < 3; i++)
		if (kill(pids[i], 0) == 0 || errno != ESRCH)
			return false;
	return true;
}

static void controller_is_killed(void **state)
{
	int fds[2], pids[3] = {0};
	pid_t controller;

	assert_int_equal(pipe(fds), 0);
	controller = fork();
	if (!controller) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_controller(fds[1]);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], pids, sizeof pids), sizeof pids);
	close(fds[0]);
	for (int i = 0; i < 3; i++)
		assert_true(pids[i] > 0);
	kill(controller, SIGKILL);
	assert_int_equal(waitpid(controller, NULL, 0), controller);
	for (int i = 0; i < 1000 && !all_gone(pids); i++)
		usleep(10000);
	assert_true(all_gone(pids));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controller_is_killed),
		cmocka_unit_test(crash_and_restart),
		cmocka_unit_test(two_crashes_at_once),
		cmocka_unit_test(crashes_in_a_row),
		cmocka_unit_test(ledger_of_a_crash),
		cmocka_unit_test(agent_is_killed),
		cmocka_unit_test(terminal_signals_are_ignored),
		cmocka_unit_test(port_is_taken),
		cmocka_unit_test(silence_is_noticed),
		cmocka_unit_test(unreachable_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
