/*
 * How long connecting may take, from what the links do to the packets that connect.
 *
 * A connection is there when a SYN, its answer and our hello have come through; TCP sends a lost
 * SYN again after 1, 2, 4 ... s. On links that lose much, an attempt must leave time for that,
 * and there is a time after which it is better to say that the link is not one to connect over.
 */
#pragma once

#include "bench/scenario/scenario.h"

struct patience {
	int64_t attempt_ns; /* a pair's attempt that takes longer begins again */
	int64_t connect_ns; /* for everybody, all attempts; at least what lossless links need */
};

/*
 * Real time. An attempt has 6 round trips, the time that all handshakes take on the narrowest
 * link, and 2^n - 1 s, in which n SYNs are sent: so many that all connections of the worst pair
 * get through with a chance of 90 %, at least 2 and at most 6. All together have five attempts
 * as they would be without loss, or three as they are, the latter no longer than the run's limit.
 */
struct patience patience_for(const struct scenario *s);

/* The share of segments lost from one site to the other, at time zero: both links' losses. */
double patience_loss(const struct scenario *s, int from, int to);
