/* News that wait for room in the socket; see outbox.h. */
#include "bench/live/outbox.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/memory.h"

void outbox_init(struct outbox *o, int fd)
{
	*o = (struct outbox){.fd = fd};
}

void outbox_release(struct outbox *o)
{
	free(o->waiting);
	o->waiting = NULL;
}

bool outbox_pending(const struct outbox *o)
{
	return o->sent < o->count;
}

int outbox_flush(struct outbox *o)
{
	while (outbox_pending(o)) {
		const struct news *news = &o->waiting[o->sent];

		if (send(o->fd, news, news_size(news), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			return errno == EAGAIN || errno == ENOBUFS ? 0 : -errno;
		o->sent++;
	}
	o->sent = o->count = 0;
	return 0;
}

void outbox_put(struct outbox *o, const struct news *news)
{
	if (o->count == o->room) {
		o->room = o->room ? 2 * o->room : 16;
		o->waiting = memory_resize(o->waiting, o->room, sizeof *o->waiting);
	}
	o->waiting[o->count++] = *news;
}

void outbox_drain(struct outbox *o)
{
	struct pollfd pfd = {.fd = o->fd, .events = POLLOUT};

	while (outbox_flush(o) == 0 && outbox_pending(o))
		if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
			return;
}
