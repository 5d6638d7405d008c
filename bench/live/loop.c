/* epoll and a heap of deadlines; see loop.h. */
#include "bench/live/loop.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define BATCH 64

int loop_open(struct loop *loop, void (*settle)(struct loop *loop))
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	*loop = (struct loop){.epoll_fd = fd, .now_ns = clock_now_ns(), .settle = settle};
	return 0;
}

void loop_close(struct loop *loop)
{
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	loop->epoll_fd = -1;
	heap_release(&loop->timers);
}

static int control(struct loop *loop, int op, int fd, uint32_t events, struct loop_source *source)
{
	struct epoll_event event = {.events = events, .data.ptr = source};

	return epoll_ctl(loop->epoll_fd, op, fd, &event) < 0 ? -errno : 0;
}

int loop_add(struct loop *loop, int fd, uint32_t events, struct loop_source *source)
{
	return control(loop, EPOLL_CTL_ADD, fd, events, source);
}

int loop_change(struct loop *loop, int fd, uint32_t events, struct loop_source *source)
{
	return control(loop, EPOLL_CTL_MOD, fd, events, source);
}

void loop_timer_cancel(struct loop *loop, struct loop_timer *timer)
{
	if (timer->node.index)
		heap_remove(&loop->timers, &timer->node);
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t at_ns)
{
	loop_timer_cancel(loop, timer);
	heap_push(&loop->timers, &timer->node, at_ns);
}

static int wait_ready(struct loop *loop, struct epoll_event *events)
{
	const struct heap_node *next = heap_peek(&loop->timers);
	struct timespec ts, *timeout = NULL;
	int64_t ns;
	int n;

	if (next) {
		ns = next->at_ns - clock_now_ns();
		if (ns < 0)
			ns = 0;
		ts = (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
		timeout = &ts;
	}
	n = epoll_pwait2(loop->epoll_fd, events, BATCH, timeout, NULL);
	return n < 0 ? -errno : n;
}

static void fire_due(struct loop *loop)
{
	struct heap_node *node;

	while ((node = heap_peek(&loop->timers)) && node->at_ns <= loop->now_ns) {
		struct loop_timer *timer = container_of(node, struct loop_timer, node);

		heap_pop(&loop->timers);
		timer->fire(timer);
		loop->settle(loop);
	}
}

int loop_once(struct loop *loop)
{
	struct epoll_event events[BATCH];
	int n = wait_ready(loop, events);

	if (n == -EINTR)
		n = 0;
	if (n < 0)
		return n;
	loop->now_ns = clock_now_ns();
	fire_due(loop);
	for (int i = 0; i < n; i++) {
		struct loop_source *source = events[i].data.ptr;

		source->ready(source, events[i].events);
		loop->settle(loop);
	}
	return 0;
}
