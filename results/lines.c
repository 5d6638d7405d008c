/*
 * A file of whole lines; see lines.h. The size up to which the file is whole is kept by itself:
 * what a short write leaves behind it is cut off.
 */
#include "results/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

#define ROOM (64 << 10)

struct lines {
	int fd;
	off_t whole; /* the file's size: whole lines only */
	size_t used;
	int64_t oldest_ns; /* when the oldest gathered line came */
	bool failed;
	int error; /* not yet returned by lines_flush */
	char gathered[ROOM];
};

int lines_create(struct lines **out, int dir_fd, const char *name, struct error *err)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct lines *l;

	if (fd < 0)
		return error_sys(err, -errno, "cannot create %s", name);
	l = memory_zero(1, sizeof *l);
	l->fd = fd;
	*out = l;
	return 0;
}

static void fail(struct lines *l, int error)
{
	l->failed = true;
	l->used = 0;
	if (!l->error)
		l->error = error;
}

/* How many of the n bytes are whole lines. */
static size_t whole_lines(const char *text, size_t n)
{
	const char *end = n ? memrchr(text, '\n', n) : NULL;

	return end ? (size_t)(end - text) + 1 : 0;
}

static void write_out(struct lines *l, const char *text, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pwrite(l->fd, text + done, n - done, l->whole + (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			fail(l, -errno);
			break;
		}
		done += (size_t)got;
	}
	l->whole += (off_t)whole_lines(text, done);
	if (l->failed && ftruncate(l->fd, l->whole))
		l->error = l->error ? l->error : -errno;
}

static void write_gathered(struct lines *l)
{
	size_t n = l->used;

	l->used = 0;
	write_out(l, l->gathered, n);
}

void lines_add(struct lines *l, const char *line, size_t n)
{
	int64_t now = clock_now_ns();

	if (l->failed)
		return;
	if (l->used + n > ROOM || (l->used && now - l->oldest_ns >= NS_PER_S))
		write_gathered(l);
	if (l->failed)
		return;
	if (n > ROOM) {
		write_out(l, line, n);
		return;
	}
	if (!l->used)
		l->oldest_ns = now;
	memcpy(l->gathered + l->used, line, n);
	l->used += n;
}

int lines_flush(struct lines *l)
{
	int r;

	if (!l->failed)
		write_gathered(l);
	if (!l->failed && fsync(l->fd))
		fail(l, -errno);
	r = l->error;
	l->error = 0;
	return r;
}

struct lines *lines_free(struct lines *l)
{
	if (!l)
		return NULL;
	if (!l->failed)
		write_gathered(l);
	close(l->fd);
	free(l);
	return NULL;
}
