/*
 * sendfile from a memfd on one side, recv(MSG_TRUNC) on the other: no byte of the payload is
 * touched in user space. Or, plain, send() and recv() with a buffer of the size that iperf3 has.
 */
#include "tests/emu/relay/traffic.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/emu/relay/rig.h"

#define POOL_BYTES (4 << 20)
#define PLAIN_BYTES (128 << 10)
#define WAKE_BYTES (256 << 10)
#define CONNECTIONS_MAX 64

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(1);
}

static void note(struct traffic *t, int64_t bytes)
{
	int64_t now = clock_now_ns(), bin;

	if (t->first_ns == 0)
		t->first_ns = now;
	bin = (now - t->first_ns) / TRAFFIC_BIN_NS;
	if (bin < TRAFFIC_BINS && t->mark_ns[bin] == 0) {
		t->mark_ns[bin] = now;
		t->mark_bytes[bin] = t->received + bytes;
	}
	t->received += bytes;
}

/*
 * What is in flight when a process is killed dies with it. Otherwise its socket and its namespace
 * live on for minutes, retransmitting into nowhere, and hold memory that all namespaces share.
 */
static void leave_nothing(int fd)
{
	const struct linger at_once = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

static int listen_on(const struct traffic *t)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	unsigned length;
	struct sockaddr_storage to = rig_address(t->to, AF_INET, t->port, &length);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	leave_nothing(fd); /* inherited by what it accepts */
	must(bind(fd, (struct sockaddr *)&to, length) == 0, "bind");
	must(listen(fd, CONNECTIONS_MAX) == 0, "listen");
	return fd;
}

static void watch(int epoll_fd, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	must(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

/* Once data flows, a receiver that only counts need not wake for each packet. */
static void wake_rarely(const struct traffic *t, int fd, int64_t before, int64_t now)
{
	int lowat = WAKE_BYTES;

	if (before / WAKE_BYTES < now / WAKE_BYTES && t->rarely)
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof lowat);
}

/* Discards what is there, unread or, if plain, read. */
static ssize_t receive_some(const struct traffic *t, int fd)
{
	char buffer[PLAIN_BYTES];

	return t->plain ? recv(fd, buffer, sizeof buffer, MSG_DONTWAIT)
			: recv(fd, NULL, 1 << 30, MSG_TRUNC | MSG_DONTWAIT);
}

void traffic_receive(void *traffic)
{
	struct traffic *t = traffic;
	int listener = listen_on(t), epoll_fd = epoll_create1(0);
	struct epoll_event events[CONNECTIONS_MAX];

	watch(epoll_fd, listener, EPOLLIN);
	t->listening = 1;
	for (;;) {
		int n = epoll_wait(epoll_fd, events, CONNECTIONS_MAX, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;
			ssize_t got;

			if (fd == listener) {
				watch(epoll_fd, accept4(listener, NULL, NULL, SOCK_NONBLOCK),
					EPOLLIN);
				continue;
			}
			got = receive_some(t, fd);
			if (got > 0) {
				note(t, got);
				wake_rarely(t, fd, t->received - got, t->received);
			}
			if (got == 0 || (got < 0 && errno != EAGAIN))
				close(fd);
		}
	}
}

/* Begins a connection; it is there when the socket can be written. */
static int connect_to(const struct traffic *t)
{
	int lowat = 2 << 20, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	unsigned length;
	struct sockaddr_storage to = rig_address(t->to, AF_INET, t->port, &length);

	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat, sizeof lowat);
	leave_nothing(fd);
	must(connect(fd, (struct sockaddr *)&to, length) == 0 || errno == EINPROGRESS, "connect");
	return fd;
}

/* Waits until everything that was sent is acknowledged. */
static void drain(int fd)
{
	int left = 1;

	while (ioctl(fd, SIOCOUTQ, &left) == 0 && left > 0)
		usleep(200);
}

/* Sends what the socket takes now; returns how much. */
static int64_t send_some(const struct traffic *t, int fd, int memory, int64_t left)
{
	static const char buffer[PLAIN_BYTES];
	size_t most = t->plain ? sizeof buffer : POOL_BYTES;
	size_t bytes = left < (int64_t)most ? (size_t)left : most;
	ssize_t sent = t->plain ? send(fd, buffer, bytes, MSG_NOSIGNAL)
				: sendfile(fd, memory, &(off_t){0}, bytes);

	must(sent >= 0 || errno == EAGAIN, "send");
	return sent > 0 ? sent : 0;
}

void traffic_send(void *traffic)
{
	struct traffic *t = traffic;
	int memory = memfd_create("payload", 0), epoll_fd = epoll_create1(0);
	int fds[CONNECTIONS_MAX], open = t->connections;
	struct epoll_event events[CONNECTIONS_MAX];
	int64_t left[CONNECTIONS_MAX];

	must(ftruncate(memory, POOL_BYTES) == 0, "memfd");
	must(fallocate(memory, 0, 0, POOL_BYTES) == 0, "memfd");
	while (!t->listening)
		usleep(1000);
	t->started_ns = clock_now_ns();
	for (int i = 0; i < t->connections; i++) {
		struct epoll_event event = {.events = EPOLLOUT, .data.fd = i};

		fds[i] = connect_to(t);
		left[i] = t->bytes > 0 ? t->bytes : INT64_MAX;
		must(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fds[i], &event) == 0, "epoll_ctl");
	}
	while (open > 0) {
		int n = epoll_wait(epoll_fd, events, CONNECTIONS_MAX, -1);

		for (int e = 0; e < n; e++) {
			int i = events[e].data.fd;

			left[i] -= send_some(t, fds[i], memory, left[i]);
			if (left[i] > 0)
				continue;
			epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fds[i], NULL);
			open--;
		}
	}
	for (int i = 0; i < t->connections; i++)
		drain(fds[i]);
	t->ended_ns = clock_now_ns();
}

static int mark_after(const struct traffic *t, int64_t ns)
{
	int i = (int)(ns / TRAFFIC_BIN_NS);

	while (i < TRAFFIC_BINS - 1 && t->mark_ns[i] == 0)
		i++;
	return i;
}

double traffic_rate_bps(const struct traffic *t, int64_t from_ns, int64_t until_ns)
{
	int a = mark_after(t, from_ns), b = mark_after(t, until_ns);

	if (t->mark_ns[a] == 0 || t->mark_ns[b] <= t->mark_ns[a])
		return 0;
	return (double)(t->mark_bytes[b] - t->mark_bytes[a]) * 8e9 /
	       (double)(t->mark_ns[b] - t->mark_ns[a]);
}
