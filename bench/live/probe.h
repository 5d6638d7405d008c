/*
 * The probe: idle round trips from one agent to its peers, before time zero. A few pings to
 * each, spread evenly, without waiting for the answers of earlier ones; the least counts.
 */
#pragma once

#include "bench/live/outbox.h"

#define PROBE_PINGS 10

_Static_assert(PING_BYTES == WIRE_HEAD, "a ping is a frame without numbers");

struct probe {
	struct loop *loop;
	struct mesh *mesh;
	struct outbox *outbox;
	int n_peers;
	int peers[SITES_MAX];
	int64_t least_ns[SITES_MAX];
	int answers, sent;
	int64_t gap_ns, patience_ns;
	struct loop_timer timer;
};

/*
 * For the first participant of a site: measures to the first participants of all sites before
 * its own (one of two directions is enough). For others: nothing to measure.
 */
void probe_init(struct probe *p, struct loop *loop, struct mesh *mesh, struct outbox *outbox);
void probe_begin(struct probe *p);
void probe_pong(struct probe *p, int peer, int64_t rtt_ns);
