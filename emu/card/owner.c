/* An abstract socket as a lock that knows its owner; see owner.h. */
#include "emu/card/owner.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"

#define ASKING 64 /* who may wait for an answer at once */

static socklen_t name(struct sockaddr_un *a, int index)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(a->sun_path + 1, sizeof a->sun_path - 1,
				   "narrowlink/shape/%d", index));
}

static int open_socket(int flags)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

static int taken(int index, const char *device, struct error *err)
{
	pid_t pid = owner_pid(index);

	if (pid > 0)
		return error_set(err, -EBUSY, STATUS_MACHINE,
			"%s is shaped already, by process %d; narrowlink clear %s ends that",
			device, (int)pid, device);
	return error_set(err, -EBUSY, STATUS_MACHINE,
		"%s is shaped already, by a process of another PID namespace or one that hangs; "
		"end it there",
		device);
}

int owner_take(int *fd, int index, const char *device, struct error *err)
{
	struct sockaddr_un a;
	socklen_t size = name(&a, index);
	_close_ int sock = open_socket(SOCK_NONBLOCK);

	if (sock < 0)
		return error_sys(err, -errno, "cannot take %s", device);
	if (bind(sock, (struct sockaddr *)&a, size) < 0)
		return errno == EADDRINUSE ? taken(index, device, err)
					   : error_sys(err, -errno, "cannot take %s", device);
	if (listen(sock, ASKING) < 0)
		return error_sys(err, -errno, "cannot take %s", device);
	*fd = sock;
	sock = -1;
	return 0;
}

void owner_answer(int fd)
{
	int asking;

	while ((asking = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(asking);
}

pid_t owner_pid(int index)
{
	struct sockaddr_un a;
	socklen_t size = name(&a, index), room = sizeof(struct ucred);
	const struct timeval patience = {.tv_sec = 1};
	_close_ int sock = open_socket(0);
	struct ucred who = {0};

	/* whom many ask at once has a full backlog for a moment: connect waits */
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0)
		return -1;
	if (connect(sock, (struct sockaddr *)&a, size) < 0)
		return errno == ECONNREFUSED ? 0 : -1;
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &who, &room) < 0 || !who.pid)
		return -1;
	return who.pid;
}
