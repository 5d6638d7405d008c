/*
 * An agent's news on their way to the controller. Usually the socket takes them at once; when
 * the controller is slow they wait here, and the agent does not wait for it.
 */
#pragma once

#include "bench/live/news.h"

struct outbox {
	int fd;
	struct news *waiting; /* waiting[sent .. count) */
	size_t sent, count, room;
};

void outbox_init(struct outbox *o, int fd);
void outbox_release(struct outbox *o);

void outbox_put(struct outbox *o, const struct news *news); /* copied */
bool outbox_pending(const struct outbox *o);
/* Sends what waits, as far as the socket takes it; negative when the controller is gone. */
int outbox_flush(struct outbox *o);
/* Waits until everything is sent, or the controller is gone. */
void outbox_drain(struct outbox *o);
