/*
 * What a link plan says of the way from one site to another before time zero: its sites' links,
 * up and down, and the core between them, as one. Real time: the plan's, which is dilated.
 */
#pragma once

#include "emu/backend.h"

struct path {
	int from, to;
	int64_t delay_ns, jitter_ns; /* one way, without serialisation; jitter: sum of both */
	/* The narrower of the two directions, the up one of equals. */
	int64_t rate_bps, queue_bytes;
	int overhead_bytes;
	double loss;	    /* mean, of all causes, of both directions */
	double loss_events; /* per segment, a burst counted once */
	double burst;	    /* mean run of lost segments; NaN where several causes mix */
	double correlation; /* of a segment's loss with the next one's; 0: independent */
	int64_t probe_ns;   /* one way of a packet of PROBE_IP_BYTES: serialisation included */
};

void path_make(struct path *p, const struct link_plan *plan, int from, int to);

/* The time that a full queue adds, s. */
double path_queue_s(const struct path *p);

/*
 * The rate of one reno connection under random loss, payload bit/s: MSS / RTT x sqrt(3/2) /
 * sqrt(loss events per segment). M. Mathis et al., ACM CCR 27(3), 1997, with an acknowledgement
 * for every segment, which is how Linux counts.
 */
double path_mathis_bps(const struct path *p, double rtt_s);
