/* Workers that are handed one task after another; see pool.h. */
#include "bench/sweep/pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

struct worker {
	pid_t pid; /* 0: not started, or gone */
	int fd;	   /* a packet is a task's number, or the error of one that is done */
	size_t task;
	bool busy;
};

struct pool {
	const struct pool_work *work;
	struct worker *workers;
	int jobs;
};

int pool_processors(void)
{
	cpu_set_t set;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (!sched_getaffinity(0, sizeof set, &set))
		return CPU_COUNT(&set);
	return n > 0 ? (int)n : 1;
}

/* In a worker: until the other end is closed. */
static void __attribute__((noreturn)) serve(const struct pool_work *work, int fd)
{
	size_t task;

	while (recv(fd, &task, sizeof task, 0) == sizeof task) {
		struct error err = {0};

		if (work->run(work->user, task, &err) < 0 && err.status == STATUS_HOLDS)
			error_set(&err, -EIO, STATUS_MACHINE, "failed without a reason");
		if (send(fd, &err, sizeof err, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

static void __attribute__((noreturn)) child(const struct pool *p, int fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (int i = 0; i < p->jobs; i++)
		if (p->workers[i].pid)
			close(p->workers[i].fd);
	serve(p->work, fd);
}

static int start(const struct pool *p, struct worker *w, struct error *err)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_sys(err, -errno, "cannot start a process");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		child(p, ends[1], parent);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error_sys(err, -errno, "cannot start a process");
	}
	*w = (struct worker){.pid = pid, .fd = ends[0]};
	return 0;
}

static int end(struct worker *w)
{
	int status = 0;

	close(w->fd);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
	return status;
}

/* A worker said that its task is done, or is gone. */
static void collect(const struct pool *p, struct worker *w)
{
	struct error err;
	ssize_t n = recv(w->fd, &err, sizeof err, 0);

	if (n < 0 && errno == EINTR)
		return;
	w->busy = false;
	if (n != sizeof err) {
		int status = end(w);

		err = (struct error){0};
		if (WIFSIGNALED(status))
			error_set(&err, -EIO, STATUS_MACHINE,
				"its process was ended by signal %d (%s)", WTERMSIG(status),
				strsignal(WTERMSIG(status)));
		else
			error_set(&err, -EIO, STATUS_MACHINE, "its process ended with status %d",
				WEXITSTATUS(status));
	}
	p->work->done(p->work->user, w->task, &err);
}

/* Until at least one that is busy has something to say. */
static void wait_some(const struct pool *p)
{
	_free_ struct pollfd *fds = memory_zero((size_t)p->jobs, sizeof *fds);

	for (int i = 0; i < p->jobs; i++)
		fds[i] = (struct pollfd){
			.fd = p->workers[i].busy ? p->workers[i].fd : -1, .events = POLLIN};
	if (poll(fds, (nfds_t)p->jobs, -1) <= 0)
		return;
	for (int i = 0; i < p->jobs; i++)
		if (fds[i].revents)
			collect(p, &p->workers[i]);
}

static struct worker *idle(const struct pool *p)
{
	for (int i = 0; i < p->jobs; i++)
		if (!p->workers[i].busy)
			return &p->workers[i];
	return NULL;
}

static bool any_busy(const struct pool *p)
{
	for (int i = 0; i < p->jobs; i++)
		if (p->workers[i].busy)
			return true;
	return false;
}

static int hand_out(const struct pool *p, size_t task, struct error *err)
{
	struct worker *w;
	int r;

	while (!(w = idle(p)))
		wait_some(p);
	for (int attempt = 0; attempt < 2; attempt++) {
		r = w->pid ? 0 : start(p, w, err);
		if (r)
			return r;
		w->task = task;
		w->busy = send(w->fd, &task, sizeof task, MSG_NOSIGNAL) == sizeof task;
		if (w->busy)
			return 0;
		end(w); /* somebody ended it while it was idle */
	}
	return error_set(err, -EPIPE, STATUS_MACHINE, "a process ends as soon as it is started");
}

int pool_run(const struct pool_work *work, size_t n, int jobs, struct error *err)
{
	_free_ struct worker *workers = memory_zero((size_t)jobs, sizeof *workers);
	const struct pool p = {.work = work, .workers = workers, .jobs = jobs};
	int r = 0;

	for (size_t task = 0; task < n && !r; task++)
		r = hand_out(&p, task, err);
	while (any_busy(&p))
		wait_some(&p);
	for (int i = 0; i < jobs; i++)
		if (workers[i].pid)
			end(&workers[i]);
	return r;
}
