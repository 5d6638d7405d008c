/*
 * Capture: packets of chosen sites, each direction apart, by libpcap in a process of its own. It
 * keeps them as nanosecond pcap files whose times are the scenario's, and counts their bytes as
 * they are on the wire: the second instrument beside the relay's own counters.
 *
 * What passes a site's device are super-packets; how many wire segments one is follows from its
 * headers and the MTU, and not from what the relay was told.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "emu/link.h"
#include "emu/measure/child.h"

#define CAPTURE_BIN_NS (100 * NS_PER_MS) /* scenario's time */
#define CAPTURE_BINS 36000		 /* an hour; later bytes are in the totals only */
#define CAPTURE_SAMPLES 16384

/* Pure: what a packet is on the wire. */
struct capture_packet {
	int segments;
	int64_t wire_bytes; /* IP bytes of all segments and `overhead` for each */
	uint64_t key; /* of a TCP segment's addresses, ports, sequence number, time stamp; 0 */
};
/* head: the first `kept` of its `bytes` IP bytes. -EINVAL: not IP, or too little is there. */
int capture_weigh(
	struct capture_packet *out, const uint8_t *head, size_t kept, size_t bytes, int overhead);

/* A packet that both ends may have seen. */
struct capture_sample {
	uint64_t key;
	int64_t at_ns; /* CLOCK_REALTIME */
};

/* What one direction of one site's device carried. Shared with its process. */
struct capture_counts {
	_Atomic uint64_t packets, segments, wire_bytes;
	uint64_t bin_bytes[CAPTURE_BINS];
	uint32_t n_samples;
	struct capture_sample samples[CAPTURE_SAMPLES];
	uint64_t kernel_drops; /* known when it has ended */
	uint64_t kept_packets;
	bool full, ended; /* full: the limit was reached */
};

struct capture_spec {
	const char *dir; /* exists; files are SITE-up.pcap and SITE-down.pcap */
	bool sites[SITES_MAX];
	int snaplen;
	int64_t limit_bytes;
	double dilation;
	int overhead[SITES_MAX][DIRECTIONS];
};

struct capture;

/* From here on every packet is seen. STATUS_MACHINE: no permission, no device, ... in one line. */
int capture_start(struct capture **out, const struct topology *t, const struct capture_spec *spec,
	struct error *err);
/* Scenario time zero is t0_ns (CLOCK_MONOTONIC); packets before it have time 0 in the files. */
void capture_zero(struct capture *c, int64_t t0_ns);
/* Takes what is still in the kernel's rings, closes the files. */
int capture_finish(struct capture *c, struct error *err);
struct capture *capture_free(struct capture *c); /* accepts NULL, returns NULL */

/* NULL: that direction is not captured. */
const struct capture_counts *capture_counts(const struct capture *c, int site, enum direction d);

/*
 * One-way delays of sampled packets from one captured site to another, as both ends saw them: at
 * most n, in the scenario's time, since time zero. Returns how many.
 */
struct capture_delay {
	double at_s, delay_s;
};
size_t capture_delays(
	const struct capture *c, int from, int to, struct capture_delay *out, size_t n);
