/* Processes that measure; see child.h. */
#include "emu/measure/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

#define TEXT_MAX (16 << 20)
#define FAILED_TO_BEGIN 125

/* The terminal's signals are for the program, which then ends this process. */
static void set_signals(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE};
	sigset_t none;

	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Libraries print where they like; what counts goes through fd. */
static void be_quiet(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
}

static int begin(const struct topology *t, int site, int (*prepare)(void *argument), void *argument,
	pid_t parent, struct error *err)
{
	int r = topology_enter(t, site, err);

	set_signals();
	prctl(PR_SET_NAME, "nl-measure");
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (!r && prepare)
		r = prepare(argument);
	if (!r)
		r = topology_drop_capabilities(err);
	/* after the change of credentials, which clears it */
	if (!r && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		r = -errno;
	return !r && getppid() != parent ? -ESRCH : r;
}

int child_start(struct child *c, const struct topology *t, int site, int (*prepare)(void *argument),
	child_body *body, void *argument, struct error *err)
{
	struct error child_err = {0};
	pid_t parent = getpid();
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_sys(err, -errno, "cannot start a measurement");
	c->pid = fork();
	if (c->pid == 0) {
		close(pair[0]);
		if (begin(t, site, prepare, argument, parent, &child_err)) {
			if (write(pair[1], child_err.text, strlen(child_err.text)) < 0)
				_exit(1);
			_exit(FAILED_TO_BEGIN);
		}
		be_quiet();
		_exit(body(argument, pair[1]));
	}
	close(pair[1]);
	if (c->pid < 0) {
		c->pid = 0;
		close(pair[0]);
		return error_sys(err, -errno, "cannot start a measurement");
	}
	c->fd = pair[0];
	return 0;
}

/* 0 at the end of file, -ETIMEDOUT, -EINTR when stop_fd says so, or another negative errno. */
static int read_until(int fd, char *text, size_t *n, int64_t deadline_ns, const int *stop_fd)
{
	struct pollfd p[] = {
		{.fd = fd, .events = POLLIN}, {.fd = stop_fd ? *stop_fd : -1, .events = POLLIN}};

	for (;;) {
		int64_t left_ns = deadline_ns - clock_now_ns();
		ssize_t got;

		if (left_ns <= 0)
			return -ETIMEDOUT;
		if (poll(p, 2, (int)(left_ns / NS_PER_MS) + 1) <= 0)
			continue;
		if (p[1].revents)
			return -EINTR;
		got = read(fd, text + *n, TEXT_MAX - *n);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return 0;
		*n += got > 0 ? (size_t)got : 0;
		if (*n == TEXT_MAX)
			return -EFBIG;
	}
}

static int judge_end(int status, const char *text, const char *what, struct error *err)
{
	if (WIFSIGNALED(status))
		return error_set(err, -ECHILD, STATUS_MACHINE, "%s was killed by signal %d (%s)",
			what, WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		return error_set(err, -ECHILD, STATUS_MACHINE, "%s failed%s%.*s", what,
			*text ? ": " : "", (int)strcspn(text, "\n"), text);
	return 0;
}

int child_finish(struct child *c, char **out, int64_t deadline_ns, const int *stop_fd,
	const char *what, struct error *err)
{
	_free_ char *text = memory_zero(TEXT_MAX + 1, 1);
	size_t n = 0;
	int status, r = read_until(c->fd, text, &n, deadline_ns, stop_fd);

	if (r < 0) {
		child_kill(c);
		if (r == -EINTR)
			return error_set(err, r, STATUS_INVALID, "interrupted");
		if (r == -ETIMEDOUT)
			return error_set(err, r, STATUS_MACHINE,
				"%s did not end in time and was stopped", what);
		return error_sys(err, r, "cannot read what %s says", what);
	}
	waitpid(c->pid, &status, 0);
	close(c->fd);
	*c = (struct child){.fd = -1};
	r = judge_end(status, text, what, err);
	if (r < 0)
		return r;
	*out = memory_string(text);
	return 0;
}

void child_kill(struct child *c)
{
	if (c->pid <= 0)
		return;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->fd);
	*c = (struct child){.fd = -1};
}
