/*
 * A rig for the backends' tests and benchmarks: sites with links all alike, processes in the
 * sites that send and receive, and results that come back through shared memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/backend.h"

struct rig {
	const struct backend
		*backend; /* backend_relay unless the test says otherwise before rig_up */
	struct topology *topology;
	struct link_plan *plan;
	struct backend_run *run;
	int n_sites;
};

/* What the links of a rig are; zero fields take the defaults: queue 1 s, no core delay. */
struct rig_link {
	int64_t rate_bps, delay_ns, jitter_ns, queue_bytes, queue_ns, core_ns;
	double loss, burst_loss, burst_length;
};

/* Sets a plan's links, every site's and both directions alike, overhead Ethernet. */
void rig_plan(struct link_plan *plan, int n_sites, const struct rig_link *link);

/*
 * Brings n sites up on the rig's backend; ends the program with the reason if that fails. TCP's
 * window is window_bytes per connection, 0 for 4 MiB. plan may be changed between rig_new and
 * rig_up.
 */
void rig_new(struct rig *rig, int n_sites, const struct rig_link *link);
void rig_up(struct rig *rig, const char *congestion, int64_t window_bytes);
void rig_topology(struct rig *rig, const char *congestion, int64_t window_bytes); /* no links */
void rig_down(struct rig *rig);

struct link_stats rig_stats(const struct rig *rig, int site, enum direction d);

/* A socket that lives in a site, of this process; bound to the site's address when port > 0. */
int rig_socket(const struct rig *rig, int site, int family, int type, int protocol, int port);

/* Runs f in a process inside a site; returns its pid. */
pid_t rig_spawn(const struct rig *rig, int site, void (*f)(void *), void *argument);

/* Waits for a process of rig_spawn; false if it did not end with status 0. */
bool rig_wait(pid_t pid);
void rig_kill(pid_t pid);

/* Memory that processes share, zeroed; never freed. */
void *rig_share(size_t bytes);

/* A site's address; *length is its size. */
struct sockaddr_storage rig_address(int site, int family, int port, unsigned *length);
