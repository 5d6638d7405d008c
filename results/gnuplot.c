/*
 * Running gnuplot; see gnuplot.h. What it writes to stderr is read until it closes it, which it
 * does by ending; a silent child past its time is killed.
 */
#include "results/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

/* The program's end is gnuplot's: it may be told to draw for a minute. */
static int prepare(pid_t parent, const char *dir, int said)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
		dup2(said, STDERR_FILENO) < 0 || chdir(dir) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

/* In the child: gnuplot, or through `failed` the reason why it is not. */
static _Noreturn void become_gnuplot(
	pid_t parent, const char *dir, const char *script, int said, int failed)
{
	int r = prepare(parent, dir, said);

	if (!r) {
		execlp("gnuplot", "gnuplot", "--default-settings", script, NULL);
		r = -errno;
	}
	_exit(write(failed, &r, sizeof r) < 0);
}

static int spawn(pid_t *pid, const char *dir, const char *script, int said)
{
	pid_t parent = getpid();
	int ends[2], r = 0;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	*pid = fork();
	if (!*pid)
		become_gnuplot(parent, dir, script, said, ends[1]);
	r = *pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!r && read(ends[0], &r, sizeof r) == sizeof r)
		waitpid(*pid, NULL, 0);
	close(ends[0]);
	return r;
}

/* Until the other side is closed; keeps the beginning. False when the time is over. */
static bool listen_to(int fd, char *said, size_t size, int64_t until_ns)
{
	size_t used = 0;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left_ns = until_ns - clock_now_ns();
		char rest[512];
		bool fits = used + 1 < size;
		ssize_t n;

		if (left_ns <= 0)
			return false;
		if (poll(&p, 1, (int)(left_ns / NS_PER_MS) + 1) <= 0)
			continue;
		n = read(fd, fits ? said + used : rest, fits ? size - 1 - used : sizeof rest);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		if (fits)
			used += (size_t)n;
		said[used] = '\0';
	}
}

static void trim(char *s)
{
	size_t n = strlen(s);

	while (n && strchr(" \t\n", s[n - 1]))
		s[--n] = '\0';
	memmove(s, s + strspn(s, " \t\n"), n - strspn(s, " \t\n") + 1);
}

int gnuplot_run(const char *dir, const char *script, int limit_s, struct error *err)
{
	char said[1024] = "";
	int ends[2], status, r;
	bool ended;
	pid_t pid = -1;

	if (pipe2(ends, O_CLOEXEC))
		return error_sys(err, -errno, "cannot run gnuplot");
	r = spawn(&pid, dir, script, ends[1]);
	close(ends[1]);
	if (r) {
		close(ends[0]);
		if (r == -ENOENT)
			return error_set(err, r, STATUS_MACHINE,
				"gnuplot is not installed, so there are no charts; install it "
				"(apt-get install gnuplot-nox) and run `narrowlink report` on the "
				"run's folder");
		return error_sys(err, r, "cannot run gnuplot");
	}
	ended = listen_to(ends[0], said, sizeof said, clock_now_ns() + limit_s * NS_PER_S);
	close(ends[0]);
	if (!ended)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	trim(said);
	if (!ended)
		return error_set(err, -ETIMEDOUT, STATUS_MACHINE,
			"gnuplot took longer than %d s for %s/%s and was ended", limit_s, dir,
			script);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(err, -EIO, STATUS_MACHINE, "gnuplot failed on %s/%s%s%s", dir,
			script, *said ? ":\n" : "", said);
	return 0;
}
