/*
 * What this machine is, for the record, and what its TCP went through.
 */
#pragma once

#include <stdint.h>

#include "emu/topology.h"
#include "results/record.h"

/* Fills tool. */
void host_describe_tool(struct record *record);
/* Fills kernel, machine, cpus, hz and the start time. */
void host_describe(struct record *record);

/* Sums of TcpExt counters over all sites' namespaces (/proc/net/netstat). */
struct host_tcp {
	uint64_t prune_called, ofo_drop, memory_pressures;
};
int host_tcp(const struct topology *t, struct host_tcp *out, struct error *err);

/*
 * Whether sites can have this congestion control, tried on a site that is gone afterwards:
 * STATUS_MACHINE with those the kernel has. After topology_isolate.
 */
int host_congestion(const char *name, struct error *err);

/*
 * net.ipv4.tcp_mem's limit ("high"), bytes. All network namespaces share it, but only the host's
 * first one shows it: -1 in others, as in a container.
 */
int64_t host_tcp_memory_limit(void);

/* CPU seconds a process has used so far; NaN if it is gone. */
double host_cpu_s(int pid);
