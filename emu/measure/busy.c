/* Processors and sockets under load, from /proc; see busy.h. */
#include "emu/measure/busy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

int busy_ticks(uint64_t all[BUSY_CPUS], uint64_t idle[BUSY_CPUS], uint64_t *softirq)
{
	_fclose_ FILE *f = fopen("/proc/stat", "re");
	uint64_t v[8], sum;
	char line[512], *rest;
	int n = 0, used;

	while (f && n < BUSY_CPUS && fgets(line, sizeof line, f) && !strncmp(line, "cpu", 3)) {
		rest = line + strcspn(line, " ");
		sum = 0;
		for (int i = 0; i < 8; i++, rest += used) {
			v[i] = 0;
			used = 0;
			if (sscanf(rest, " %" SCNu64 "%n", &v[i], &used) == 1)
				sum += v[i];
		}
		if (line[3] ==
			' ') { /* of all together: user nice system idle iowait irq softirq */
			if (softirq)
				*softirq = v[6];
			continue;
		}
		all[n] = sum;
		idle[n++] = v[3] + v[4];
	}
	return n;
}

/* The pair of lines that name and count: column RcvbufErrors of Udp. */
static double receive_drops(const struct topology *t, int site)
{
	_fclose_ FILE *f = NULL;
	struct error ignored = {0};
	char names[1024], values[1024], *n_next, *v_next;
	double drops = NAN;

	if (topology_enter(t, site, &ignored) < 0)
		return NAN;
	f = fopen("/proc/thread-self/net/snmp", "re");
	while (f && fgets(names, sizeof names, f) && fgets(values, sizeof values, f)) {
		char *n = strtok_r(names, " \n", &n_next), *v = strtok_r(values, " \n", &v_next);

		if (strcmp(n ? n : "", "Udp:"))
			continue;
		for (; n && v;
			n = strtok_r(NULL, " \n", &n_next), v = strtok_r(NULL, " \n", &v_next))
			if (!strcmp(n, "RcvbufErrors"))
				sscanf(v, "%lf", &drops);
	}
	topology_leave(t, &ignored);
	return drops;
}

void busy_begin(struct busy *b, const struct topology *t, int site)
{
	b->n = busy_ticks(b->all, b->idle, NULL);
	b->drops = receive_drops(t, site);
}

void busy_end(
	const struct busy *b, const struct topology *t, int site, double *share, double *drops)
{
	struct busy now;

	now.n = busy_ticks(now.all, now.idle, NULL);
	*share = NAN;
	for (int i = 0; i < now.n && i < b->n; i++) {
		double all = (double)(now.all[i] - b->all[i]);

		if (all > 0)
			*share = fmax(*share, 1 - (double)(now.idle[i] - b->idle[i]) / all);
	}
	*drops = receive_drops(t, site) - b->drops;
}
