/*
 * A course: how far a flow will have come at a time, if its place on the links stays what it is.
 * A flow's connections are all alike here, and what they do is a function of the window, the rate
 * they may send at and the round trip; so rounds cost no events, and a message's end is known when
 * it begins. What changes the place (others come and go, a link changes) brings the course up
 * to that moment and lets it go on from there.
 */
#pragma once

#include "bench/model/tcp.h"

#define COURSE_BYTE 1e-6 /* less than this is nothing left */

/* A flow's place on the links. */
struct slice {
	double rate;	 /* bytes per ns at which it may send */
	double room;	 /* its part of the queue, bytes; infinite: none is modelled */
	double burst;	 /* what of the queue is free when all of a window comes at once */
	int64_t rtt_ns;	 /* without what it has in the queue itself */
	int64_t base_ns; /* without any queue */
	double limit;	 /* a connection's window, segments */
	int connections;
	enum tcp_kind kind;
	double dilation;
	bool shared; /* it has no use for seeing what its window does while others decide its rate
		      */
	bool steps;  /* somebody has to see each round */
};

struct course {
	int64_t at_ns;	   /* true at */
	int64_t round_ns;  /* when the round began */
	int64_t full_ns;   /* when its window was used up */
	int64_t resume_ns; /* waiting: until then */
	int64_t late_ns;   /* what the round's losses add to it */
	double left;	   /* of the message, bytes */
	double window;	   /* of all connections, bytes */
	double sent;	   /* since the round began */
	double train;	   /* of it, without a pause */
	double lost;	   /* of the round before, by the queue, bytes */
	double dropped;	   /* by the queue, segments, ever */
	bool waiting;
	struct tcp_conn tcp; /* each connection */
};

enum course_end {
	COURSE_TIME,	/* it is the time */
	COURSE_MESSAGE, /* nothing is left */
	COURSE_ROUND,	/* of a slice that steps: a round is over; course_turn is to follow */
};

/* Goes on from at_ns to until_ns, or to what ends before; at_ns tells when. */
enum course_end course_run(struct course *c, const struct slice *s, int64_t until_ns);
/* A round is over: the window grows, and another round begins. */
void course_turn(struct course *c, const struct slice *s);
/* The window takes as long as a round trip or longer: the link is the limit. */
bool course_full(const struct course *c, const struct slice *s);
/* What stands in the queue on average, bytes. */
double course_queued(const struct course *c, const struct slice *s);
/* The queue drops what it does not take of the next round, and the window shrinks; or false. */
bool course_overflow(struct course *c, const struct slice *s, bool slow_start);
/* All of a window comes at once; what the queue does not take of it is dropped. */
void course_burst(struct course *c, const struct slice *s, double waiting);
void course_set_window(struct course *c, int connections);
