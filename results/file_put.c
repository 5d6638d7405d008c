/* See file_put.h. */
#include "results/file_put.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/memory.h"

static int write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

/* The new content is on the disk before the name points at it. */
static int write_beside(const char *beside, const char *text)
{
	_close_ int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, text, strlen(text));
	return !r && fsync(fd) ? -errno : r;
}

static void sync_directory_of(const char *path)
{
	_free_ char *copy = memory_string(path);
	char *slash = strrchr(copy, '/');
	_close_ int fd = -1;

	if (slash)
		slash[slash == copy] = '\0';
	fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		fsync(fd);
}

int file_put(const char *path, const char *beside, const char *text)
{
	int r = write_beside(beside, text);

	if (!r && rename(beside, path))
		r = -errno;
	if (r) {
		unlink(beside);
		return r;
	}
	sync_directory_of(path);
	return 0;
}

int file_put_shared(const char *path, const char *text)
{
	_free_ char *beside = NULL;
	unsigned id = 0;

	if (getrandom(&id, sizeof id, 0) != sizeof id)
		return -EAGAIN;
	beside = memory_format("%s.%08x.new", path, id);
	return file_put(path, beside, text);
}
