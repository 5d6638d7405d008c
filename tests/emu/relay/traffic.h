/* TCP traffic for the benchmarks: as cheap as a sender and a receiver can be. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TRAFFIC_BINS 20000
#define TRAFFIC_BIN_NS (10 * NS_PER_MS)

/* k connections from one site to another; shared by both ends. */
struct traffic {
	int from, to, port, connections;
	bool rarely;   /* the receiver wakes at 256 KiB, not at every packet */
	bool plain;    /* send() and recv() from and into memory, as ordinary programs do */
	int64_t bytes; /* in all, per connection; 0: until killed */
	/* Results. */
	volatile int listening;
	volatile int64_t started_ns, ended_ns; /* the sender: connect to last acknowledgement */
	volatile int64_t first_ns;	       /* of the receiver's bins */
	volatile int64_t received;
	/* Of each 10 ms: the exact time of the first receive, and the total after it. */
	volatile int64_t mark_ns[TRAFFIC_BINS], mark_bytes[TRAFFIC_BINS];
};

void traffic_receive(void *traffic); /* a process's body: accepts and discards until killed */
void traffic_send(void *traffic);    /* a process's body: connects, sends, ends */

/* Payload bit/s received between two times after the first byte, by the receives nearest. */
double traffic_rate_bps(const struct traffic *t, int64_t from_ns, int64_t until_ns);
