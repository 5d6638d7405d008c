/* Facts about the machine, read from uname, sysconf and /proc. */
#include "bench/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/version.h"

void host_describe_tool(struct record *record)
{
	record->tool_version = memory_string(NARROWLINK_VERSION);
	record->tool_git = memory_string(NARROWLINK_GIT);
}

void host_describe(struct record *record)
{
	struct utsname u;
	time_t now = time(NULL);
	struct tm tm;
	char utc[32];

	if (uname(&u) == 0) {
		record->kernel = memory_format("%s %s", u.sysname, u.release);
		record->machine = memory_string(u.machine);
	}
	record->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	record->hz = (int)sysconf(_SC_CLK_TCK);
	strftime(utc, sizeof utc, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	record->started_utc = memory_string(utc);
}

/* Column `name` of the TcpExt pair of lines (names, values); 0 if there is none. */
static uint64_t column(const char *names, const char *values, const char *name)
{
	_free_ char *n = memory_string(names), *v = memory_string(values);
	char *n_next = NULL, *v_next = NULL;
	const char *n_word = strtok_r(n, " \n", &n_next), *v_word = strtok_r(v, " \n", &v_next);

	while (n_word && v_word) {
		if (!strcmp(n_word, name))
			return strtoull(v_word, NULL, 10);
		n_word = strtok_r(NULL, " \n", &n_next);
		v_word = strtok_r(NULL, " \n", &v_next);
	}
	return 0;
}

static void add_netstat(struct host_tcp *sum)
{
	_fclose_ FILE *f = fopen("/proc/self/net/netstat", "re");
	char names[8192], values[8192];

	while (f && fgets(names, sizeof names, f) && fgets(values, sizeof values, f)) {
		if (strncmp(names, "TcpExt:", 7))
			continue;
		sum->prune_called += column(names, values, "PruneCalled");
		sum->ofo_drop += column(names, values, "TCPOFODrop");
		sum->memory_pressures += column(names, values, "TCPMemoryPressures");
	}
}

int host_tcp(const struct topology *t, struct host_tcp *out, struct error *err)
{
	struct host_tcp sum = {0};
	int r;

	for (int i = 0; i < t->n_sites; i++) {
		r = topology_enter(t, i, err);
		if (r < 0)
			return r;
		add_netstat(&sum);
	}
	r = topology_leave(t, err);
	if (r < 0)
		return r;
	*out = sum;
	return 0;
}

int host_congestion(const char *name, struct error *err)
{
	const char *site = "probe";
	struct topology_tcp tcp = {.receive_buffer = 1 << 16, .send_buffer = 1 << 16};
	struct topology *t = NULL;
	int r;

	snprintf(tcp.congestion, sizeof tcp.congestion, "%s", name);
	r = topology_up(&t, 1, &site, &tcp, err);
	topology_down(t);
	return r;
}

int64_t host_tcp_memory_limit(void)
{
	_fclose_ FILE *f = fopen("/proc/sys/net/ipv4/tcp_mem", "re");
	int64_t low, pressure, high;

	if (!f || fscanf(f, "%" SCNd64 " %" SCNd64 " %" SCNd64, &low, &pressure, &high) != 3)
		return -1;
	return high * sysconf(_SC_PAGESIZE);
}

double host_cpu_s(int pid)
{
	_free_ char *path = memory_format("/proc/%d/stat", pid);
	_fclose_ FILE *f = fopen(path, "re");
	char line[1024];
	const char *after;
	unsigned long user, sys;

	if (!f || !fgets(line, sizeof line, f) || !(after = strrchr(line, ')')))
		return NAN;
	/* after ")": state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime
	 * stime */
	if (sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		    &sys) != 2)
		return NAN;
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}
