/* Running gnuplot: one that is missing, fails, hangs, says too much, or whose parent dies. */
#include "tests/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "made_up.h"
#include "results/gnuplot.h"
#include "results/report.h"
#include "scratch.h"

/* A directory whose gnuplot is this script, first in the PATH; NULL: no gnuplot anywhere. */
static char *fake_gnuplot(const char *script)
{
	char *dir = scratch_new();
	_free_ char *path = memory_format("%s:%s", dir, getenv("PATH"));
	_free_ char *program = memory_format("%s/gnuplot", dir);

	if (script) {
		scratch_write(dir, "gnuplot", script);
		chmod(program, 0755);
	}
	setenv("PATH", script ? path : dir, 1);
	return dir;
}

static void test_gnuplot_missing(void **state)
{
	const struct made_up run = {.learners = 2, .cases = 1, .seconds = 4, .exchanges = true};
	_free_ char *old = memory_string(getenv("PATH"));
	char *dir = scratch_new(), *none = fake_gnuplot(NULL);
	_free_ char *charts = memory_format("%s/charts", dir);
	struct record *r = made_up_run(dir, &run);
	struct error err = {0};

	assert_true(chart_all(dir, r, &err) < 0);
	setenv("PATH", old, 1);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(strstr(err.text, "gnuplot-nox"));
	assert_true(scratch_has(charts, "wire.gp") && scratch_has(charts, "wire.dat"));
	assert_false(scratch_has(charts, "wire.svg"));
	assert_true(
		scratch_has(charts, "exchange.dat")); /* the first failure did not stop the rest */
	record_free(r);
	scratch_free(none);
	scratch_free(dir);
}

static void test_gnuplot_fails(void **state)
{
	_free_ char *old = memory_string(getenv("PATH"));
	char *dir = scratch_new(),
	     *fake = fake_gnuplot(
		     "#!/bin/sh\necho half > useful.svg\necho 'line 7: oh no' >&2\nexit 1\n");
	_free_ char *charts = memory_format("%s/charts", dir);
	struct record *r = record_new();
	struct error err = {0};

	record_add_case(r, "")->useful_work = .5;
	assert_true(chart_all(dir, r, &err) < 0);
	setenv("PATH", old, 1);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(strstr(err.text, "useful.gp:\nline 7: oh no"));
	assert_false(scratch_has(charts, "useful.svg"));
	record_free(r);
	scratch_free(fake);
	scratch_free(dir);
}

static void test_gnuplot_hangs(void **state)
{
	_free_ char *old = memory_string(getenv("PATH"));
	char *fake = fake_gnuplot("#!/bin/sh\nexec sleep 1000\n");
	struct error err = {0};

	assert_int_equal(gnuplot_run("/tmp", "x.gp", 1, &err), -ETIMEDOUT);
	setenv("PATH", old, 1);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_string_equal(err.text, "gnuplot took longer than 1 s for /tmp/x.gp and was ended");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and is gone */
	scratch_free(fake);
}

/* More than a pipe holds, from a child that then ends well. */
static void test_gnuplot_talks(void **state)
{
	_free_ char *old = memory_string(getenv("PATH"));
	char *fake = fake_gnuplot("#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x >&2\n");
	struct error err = {0};

	assert_int_equal(gnuplot_run("/tmp", "x.gp", 60, &err), 0);
	setenv("PATH", old, 1);
	scratch_free(fake);
}

/*
 * The fake holds a pipe open and says so through it; its parent, which waits for it, is killed.
 * The pipe's end is the end of the fake, which nobody else would have ended.
 */
static void test_gnuplot_dies_with_us(void **state)
{
	_free_ char *old = memory_string(getenv("PATH"));
	char *fake = fake_gnuplot("#!/bin/sh\necho . >&9\nexec sleep 1000\n");
	struct error err = {0};
	int ends[2];
	char byte[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], 9);
		close(ends[0]);
		close(ends[1]);
		gnuplot_run("/tmp", "x.gp", 1000, &err);
		_exit(0);
	}
	close(ends[1]);
	setenv("PATH", old, 1);
	assert_int_equal(read(ends[0], byte, sizeof byte), 2);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(read(ends[0], byte, sizeof byte), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ends[0]);
	scratch_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gnuplot_missing),
		cmocka_unit_test(test_gnuplot_fails),
		cmocka_unit_test(test_gnuplot_hangs),
		cmocka_unit_test(test_gnuplot_talks),
		cmocka_unit_test(test_gnuplot_dies_with_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
