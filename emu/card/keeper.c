/*
 * The process that outlives the program by as much as it takes to put things back; see keeper.h.
 * It knows of the program's end by the end of their socket, and of nothing else.
 */
#include "emu/card/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "emu/card/owner.h"
#include "emu/rtnl.h"

/* In a session of its own, so that what ends the program's does not end it. */
static void stand_alone(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
	_close_ int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_NAME, "narrowlink-keep");
	setsid();
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	if (nothing >= 0) { /* who reads the program's output need not wait for us */
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
	}
}

static int poll_ms(int64_t until_ns)
{
	int64_t left_ns = until_ns - clock_now_ns();

	return until_ns == TIME_NEVER	   ? -1
	       : left_ns <= 0		   ? 0
	       : left_ns > 3600 * NS_PER_S ? 3600 * 1000
					   : (int)(left_ns / NS_PER_MS) + 1;
}

/* Until the program has gone or asks, or the lease has ended. */
static void hold(const struct keeper_job *job, int fd)
{
	struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = job->owner_fd, .events = POLLIN}};

	while (clock_now_ns() < job->until_ns) {
		if (poll(p, 2, poll_ms(job->until_ns)) < 0 && errno != EINTR)
			return;
		if (p[0].revents)
			return;
		if (p[1].revents)
			owner_answer(job->owner_fd);
	}
}

static void keep(const struct keeper_job *job, int fd)
{
	struct nl_sock *sock = NULL;
	struct error err = {0};
	int r;

	stand_alone();
	r = rtnl_open(&sock, &err);
	if (send(fd, &err, sizeof err, MSG_NOSIGNAL) < 0 || r < 0)
		_exit(1);
	hold(job, fd);
	r = saved_put_back(job->saved, job->shaping, sock, &err);
	if (send(fd, &err, sizeof err, MSG_NOSIGNAL) < 0 && r < 0)
		log_warn("%s", err.text); /* nobody else is there to say it */
	_exit(r < 0);
}

/* An error that the keeper sends; a lack of one is an error, too. */
static int hear(int fd, struct error *err)
{
	struct error said;
	ssize_t n;

	do
		n = recv(fd, &said, sizeof said, 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof said)
		return -ECHILD;
	return said.status == STATUS_HOLDS ? 0 : error_set(err, -EIO, said.status, "%s", said.text);
}

int keeper_start(struct keeper *k, const struct keeper_job *job, struct error *err)
{
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return error_sys(err, -errno, "cannot start the process that puts things back");
	*k = (struct keeper){*job, fork(), fds[0]};
	if (k->pid == 0) {
		close(fds[0]);
		keep(job, fds[1]);
	}
	close(fds[1]);
	r = k->pid < 0 ? -errno : hear(k->fd, err);
	if (r == 0)
		return 0;
	cleanup_close(&k->fd);
	if (k->pid > 0)
		waitpid(k->pid, NULL, 0);
	return error_sys(err, r, "cannot start the process that puts things back");
}

/* The keeper is not there any more: its work is to be done here. */
static int put_back_here(const struct keeper *k, struct error *err)
{
	struct nl_sock *sock = NULL;
	int r = rtnl_open(&sock, err);

	if (r == 0)
		r = saved_put_back(k->job.saved, k->job.shaping, sock, err);
	rtnl_close(sock);
	return r < 0 ? r
		     : error_set(err, -ECHILD, STATUS_MACHINE,
			       "the process that holds the lease was killed; %s is as it was "
			       "before",
			       k->job.shaping->device.name);
}

int keeper_end(struct keeper *k, struct error *err)
{
	int r;

	shutdown(k->fd, SHUT_WR);
	r = hear(k->fd, err);
	cleanup_close(&k->fd);
	waitpid(k->pid, NULL, 0);
	return r == -ECHILD ? put_back_here(k, err) : r;
}
