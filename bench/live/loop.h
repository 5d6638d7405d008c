/*
 * The event loop of an agent and of the controller: epoll for file descriptors, a heap for
 * deadlines in nanoseconds. Timers that are due fire before descriptors are served, one thing at
 * a time; after each, `settle` runs so that its consequences are dealt with before the next.
 */
#pragma once

#include <sys/epoll.h>

#include "base/clock.h"
#include "base/heap.h"

/* A descriptor's owner embeds one; ready is called with the EPOLL* bits. */
struct loop_source {
	void (*ready)(struct loop_source *source, uint32_t events);
};

struct loop_timer {
	struct heap_node node;
	void (*fire)(struct loop_timer *timer);
};

struct loop {
	int epoll_fd;
	struct heap timers;
	int64_t now_ns; /* CLOCK_MONOTONIC when the loop last woke up */
	void (*settle)(struct loop *loop);
};

int loop_open(struct loop *loop, void (*settle)(struct loop *loop)); /* 0 or a negative errno */
void loop_close(struct loop *loop);

int loop_add(struct loop *loop, int fd, uint32_t events, struct loop_source *source);
int loop_change(struct loop *loop, int fd, uint32_t events, struct loop_source *source);

void loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t at_ns); /* replaces */
void loop_timer_cancel(struct loop *loop, struct loop_timer *timer);

/*
 * Waits until a descriptor is ready, a timer is due or a signal came, and serves all of that.
 * A source whose descriptor was closed meanwhile may still be called: it checks its own state.
 */
int loop_once(struct loop *loop);
