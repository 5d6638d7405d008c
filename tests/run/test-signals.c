/*
 * Which signals are taken: those that would end the program, and not those that whoever started it
 * had told it to ignore, as nohup does.
 */
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bench/signals.h"
#include "tests/test.h"

static bool blocked(int signal)
{
	sigset_t now;

	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &now), 0);
	return sigismember(&now, signal) == 1;
}

/* The number of the signal that has come, 0 if none has. */
static int taken(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

static void all_three_are_taken(void **state)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct error err = {0};
	int fd = signals_take(&err);

	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		assert_true(blocked(ends[i]));
		assert_int_equal(raise(ends[i]), 0);
		assert_int_equal(taken(fd), ends[i]);
	}
	signals_give_back(fd);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		assert_false(blocked(ends[i]));
}

static void an_ignored_one_is_left_out(void **state)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		void (*before)(int) = signal(ends[i], SIG_IGN);
		struct error err = {0};
		int fd = signals_take(&err), other = ends[(i + 1) % 3];

		assert_true(fd >= 0);
		assert_true(signals_ignored(ends[i]));
		assert_false(signals_ignored(other));
		assert_int_equal(raise(ends[i]), 0);
		assert_int_equal(taken(fd), 0);
		assert_int_equal(raise(other), 0);
		assert_int_equal(taken(fd), other);
		signals_give_back(fd);
		assert_true(signals_ignored(ends[i]));
		signal(ends[i], before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_three_are_taken),
		cmocka_unit_test(an_ignored_one_is_left_out),
	};

	/* whatever the tests were started with */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
