/*
 * Processors and processes while a run goes on, from /proc; see headroom.h. The processes are this
 * one's children but for the relay, whose own lateness says more.
 */
#include "bench/headroom.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/host.h"

#define WINDOW_NS (500 * NS_PER_MS) /* of a hundredth of a second's ticks, fifty a processor */
#define IDLE_LEAST 0.01

static double reaped_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* How long a process has waited for a processor; false when it is gone or nobody counts. */
static bool waited_ns(int pid, uint64_t *out)
{
	_free_ char *path = memory_format("/proc/%d/schedstat", pid);
	_fclose_ FILE *f = fopen(path, "re");

	return f && fscanf(f, "%*u %" SCNu64, out) == 1;
}

static void note_child(struct headroom *h, int pid)
{
	uint64_t ns;
	int i = 0;

	if (pid == h->relay_pid || !waited_ns(pid, &ns))
		return;
	while (i < h->n_children && h->children[i].pid != pid)
		i++;
	if (i == HEADROOM_CHILDREN)
		return;
	if (i == h->n_children) {
		h->n_children++;
		h->children[i].pid = pid;
		h->children[i].first_ns = ns;
	}
	h->children[i].last_ns = ns;
}

static int parent_of(const char *pid)
{
	_free_ char *path = memory_format("/proc/%s/stat", pid);
	_fclose_ FILE *f = fopen(path, "re");
	int parent = 0;

	/* pid (name) state ppid: our children's names have no parenthesis */
	if (f && fscanf(f, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	return parent;
}

static void note_children(struct headroom *h)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			parent_of(entry->d_name) == getpid())
			note_child(h, atoi(entry->d_name));
	if (dir)
		closedir(dir);
}

void headroom_begin(struct headroom *h, int relay_pid)
{
	*h = (struct headroom){.relay_pid = relay_pid};
	h->began_ns = h->window_ns = clock_now_ns();
	h->relay_s = relay_pid ? host_cpu_s(relay_pid) : NAN;
	h->children_s = reaped_s();
	h->n_cpus = busy_ticks(h->all, h->idle, &h->softirq);
	note_children(h);
}

/* Was any processor idle since the window began? */
static bool saturated(struct headroom *h)
{
	uint64_t all[BUSY_CPUS], idle[BUSY_CPUS], sum = 0, unused = 0;
	int n = busy_ticks(all, idle, NULL);

	for (int i = 0; i < n && i < h->n_cpus; i++) {
		sum += all[i] - h->all[i];
		unused += idle[i] - h->idle[i];
	}
	h->n_cpus = n;
	memcpy(h->all, all, sizeof all);
	memcpy(h->idle, idle, sizeof idle);
	return sum > 0 && (double)unused < IDLE_LEAST * (double)sum;
}

void headroom_tick(struct headroom *h)
{
	int64_t now_ns = clock_now_ns(), length_ns = now_ns - h->window_ns;

	if (length_ns < WINDOW_NS)
		return;
	h->window_ns = now_ns;
	h->watched_s += (double)length_ns / NS_PER_S;
	if (saturated(h))
		h->saturated_s += (double)length_ns / NS_PER_S;
	note_children(h);
}

void headroom_end(struct headroom *h, struct headroom_result *out)
{
	double elapsed_s = (double)(clock_now_ns() - h->began_ns) / NS_PER_S;
	uint64_t all[BUSY_CPUS], idle[BUSY_CPUS], softirq = 0, most_ns = 0;

	busy_ticks(all, idle, &softirq);
	for (int i = 0; i < h->n_children; i++)
		if (h->children[i].last_ns - h->children[i].first_ns > most_ns)
			most_ns = h->children[i].last_ns - h->children[i].first_ns;
	*out = (struct headroom_result){
		.relay = h->relay_pid ? (host_cpu_s(h->relay_pid) - h->relay_s) / elapsed_s : NAN,
		.agents = (reaped_s() - h->children_s) / elapsed_s,
		.softirq =
			(double)(softirq - h->softirq) / (double)sysconf(_SC_CLK_TCK) / elapsed_s,
		.saturated = h->watched_s > 0 ? h->saturated_s / h->watched_s : NAN,
		.waited = h->n_children ? (double)most_ns / NS_PER_S / elapsed_s : NAN,
	};
}
