/*
 * How busy this machine's processors were meanwhile, and whether a site's sockets dropped datagrams
 * for want of room: what tells a slow machine from a slow link.
 */
#pragma once

#include "emu/topology.h"

#define BUSY_CPUS 1024

struct busy {
	int n;
	uint64_t all[BUSY_CPUS], idle[BUSY_CPUS];
	double drops;
};

void busy_begin(struct busy *b, const struct topology *t, int site);
/* *share: of the busiest processor, 0 to 1, NaN if unknown; *drops: datagrams, NaN if unknown. */
void busy_end(
	const struct busy *b, const struct topology *t, int site, double *share, double *drops);

/*
 * The processors' ticks so far, of /proc/stat: each one's (at most BUSY_CPUS) all and idle;
 * *softirq of all together (may be NULL). Returns how many; 0 if unknown.
 */
int busy_ticks(uint64_t all[BUSY_CPUS], uint64_t idle[BUSY_CPUS], uint64_t *softirq);
