/*
 * A process inside a site that measures something and says what in a text on a pipe, so that a
 * library with globals and exit paths can do no harm and a parent keeps the time limit.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "emu/topology.h"

struct child {
	pid_t pid; /* 0: none */
	int fd;	   /* of what it says */
};

/* What it does; fd takes the text. Returns the exit status. Without capabilities. */
typedef int child_body(void *argument, int fd);

/*
 * Starts one. Before it gives up its capabilities, while it is in the site already, it calls
 * `prepare` (may be NULL), whose non-zero result ends it.
 */
int child_start(struct child *c, const struct topology *t, int site, int (*prepare)(void *argument),
	child_body *body, void *argument, struct error *err);

/*
 * Reads what it says until it ends, at deadline_ns (monotonic) at the latest, and reaps it. *text
 * is the caller's to free, and set on success only. -ETIMEDOUT: it was killed; -EINTR: likewise, as
 * stop_fd, if not NULL, became readable: the user wants the end (STATUS_INVALID); -ECHILD: it ended
 * badly, with the text's first line in err if there is one. what is for the message.
 */
int child_finish(struct child *c, char **text, int64_t deadline_ns, const int *stop_fd,
	const char *what, struct error *err);

void child_kill(struct child *c); /* and reaps it; nothing if there is none */
