/*
 * Tests that move between namespaces: each runs in a child, since moving changes the process;
 * the parent sees the machine as it was.
 */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "emu/topology.h"
#include "tests/test.h"

#define SKIP 77

/* In a child: fails the child, which fails the test. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define CHECK_OK(call, err)                                                                        \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, (err).text);            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const struct topology_tcp plain = {
	.congestion = "reno", .receive_buffer = 12345678, .send_buffer = 7654321};

static inline int in_child(void (*body)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		body();
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static inline void run(void (*body)(void))
{
	int status = in_child(body);

	if (status == SKIP)
		skip();
	assert_int_equal(status, 0);
}

static inline void isolate_or_skip(void)
{
	struct error err = {0};

	if (topology_isolate(&err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		CHECK(err.status == STATUS_MACHINE);
		exit(SKIP);
	}
}

static inline void become_nobody(void)
{
	if (!geteuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		exit(SKIP);
	prctl(PR_SET_DUMPABLE, 1); /* as an exec would: /proc/self belongs to nobody again */
}

static inline struct topology *up(int n, const struct topology_tcp *tcp)
{
	static char text[SITES_MAX][16];
	const char *names[SITES_MAX];
	struct topology *t = NULL;
	struct error err = {0};

	for (int i = 0; i < n; i++) {
		snprintf(text[i], sizeof text[i], "site%d", i);
		names[i] = text[i];
	}
	CHECK_OK(topology_up(&t, n, names, tcp, &err), err);
	return t;
}

static inline void read_text(const char *path, char *text, size_t size)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static inline bool sysctl_is(const char *name, const char *want)
{
	char path[128], text[128];

	snprintf(path, sizeof path, "/proc/sys/net/%s", name);
	read_text(path, text, sizeof text);
	if (strcmp(text, want))
		fprintf(stderr, "%s is \"%s\", want \"%s\"\n", name, text, want);
	return !strcmp(text, want);
}

static inline ino_t namespace_inode(const char *path)
{
	struct stat s;

	return stat(path, &s) < 0 ? 0 : s.st_ino;
}

static inline int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}
