/*
 * Probes: numbered UDP datagrams from one site to another and back, time-stamped four times as
 * TWAMP does (RFC 5357): when sent and when there, when answered and when back. All clocks are
 * one machine's, so each way's delay is known by itself. Arrival is the kernel's time stamp: what
 * a process waits for its processor does not count.
 */
#pragma once

#include "emu/measure/child.h"

#define PROBE_BYTES 32			  /* UDP payload */
#define PROBE_IP_BYTES (PROBE_BYTES + 28) /* IPv4 */

struct probe_spec {
	int from, to;
	int port;
	int n;
	int64_t gap_ns;	      /* between two of them */
	const int64_t *at_ns; /* not NULL: when each is sent, monotonic; gap_ns is unused */
	int64_t patience_ns;  /* for the last one's answer */
	const int *stop_fd;   /* as child_finish has it; NULL: nobody may end it */
};

/* Of one probe, CLOCK_REALTIME, since the kernel stamps with it; 0: did not happen. */
struct probe_times {
	int64_t sent_ns, there_ns, answered_ns, back_ns;
	int64_t due_ns;			  /* when it was to be sent */
	uint32_t there_order, back_order; /* the how many-th to arrive, from 1 */
};

enum probe_way { WAY_THERE, WAY_BACK, WAY_ROUND };

struct probes {
	struct probe_spec spec;
	struct probe_times *times; /* n of them, shared with the processes */
	uint32_t *dropped;	   /* [WAY_THERE, WAY_BACK]: by a socket without room; shared too */
	struct child sender, reflector;
	struct in_addr address; /* of the far site */
	int fd;			/* of each process, in itself */
};

int probes_start(struct probes *p, const struct topology *t, const struct probe_spec *spec,
	struct error *err);
/*
 * Waits until the last answer came, or patience is over: since the last one was sent, and since a
 * far end that is late answered.
 */
int probes_finish(struct probes *p, struct error *err);
/* Ends them now: those that are not sent, or are under way, count for nothing. */
void probes_stop(struct probes *p);
void probes_free(struct probes *p); /* stops what still runs */

struct probe_summary {
	uint64_t sent, lost;
	uint64_t bursts;		   /* runs of lost ones */
	uint64_t reordered;		   /* arrived after one that was sent later (RFC 4737) */
	double min_s, p50_s, p99_s, max_s; /* NaN if none arrived */
	double late_p50_s,
		late_max_s; /* sent after their time: how late this machine's timers are */
};

/*
 * Of the probes sent in [from, until) of the first one's time. WAY_BACK: of those that were
 * answered. WAY_ROUND: delays without the far end's own time.
 */
void probes_summary(const struct probe_times *times, int n, enum probe_way way, int64_t from_ns,
	int64_t until_ns, struct probe_summary *out);
/* One probe's delay, -1 if it is not known. */
int64_t probe_delay_ns(const struct probe_times *t, enum probe_way way);
