/* The relay's engine under a clock of the test's own: exact times, no device. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/relay/engine.h"

#define SIM_DELIVERED_MAX 400000

/* What came out. */
struct sim_delivery {
	int64_t due_ns;
	int site, from, first, count;
	uint32_t frame_bytes;
	uint32_t tag; /* of sim_send */
};

struct sim {
	struct link_plan *plan;
	struct pool *pool;
	struct engine *engine;
	struct link_stats (*stats)[DIRECTIONS];
	int64_t now_ns;
	int n_sites, n_delivered;
	bool refuses; /* the sites' devices take nothing */
	struct sim_delivery *delivered;
};

/* The plan (see rig_plan) may be changed between the two. */
void sim_new(struct sim *sim, int n_sites);
void sim_begin(struct sim *sim, uint64_t pool_bytes);
void sim_end(struct sim *sim);

/* A TCP super-packet with `segments` full segments of 1448 bytes (1514 on the wire), or a UDP
 * packet of ip_bytes, from one site to another at the current time. tag returns with it. */
void sim_send_tcp(struct sim *sim, int from, int to, int segments, uint32_t tag);
void sim_send_udp(struct sim *sim, int from, int to, int ip_bytes, uint32_t tag);

/* Lets time pass: everything due until then happens at its time. Checks that nothing is late. */
void sim_run(struct sim *sim, int64_t until_ns);

/* Fails the test unless in = drops + delivered for every direction (nothing in flight). */
void sim_check_conservation(const struct sim *sim);
