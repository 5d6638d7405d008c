/*
 * A TCP connection as its window, in segments, advanced once per round trip. What Linux does,
 * where it decides how long a transfer takes: slow start, HyStart, reno, cubic (RFC 9438), bbr
 * as a window that losses leave alone, and the restart after idle time (RFC 2861).
 * Sources and what is calibrated: docs/model.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TCP_PAYLOAD 1448    /* of a full segment: MTU less IPv4, TCP and its timestamps */
#define TCP_FIRST_WINDOW 10 /* segments; RFC 6928 */
#define TCP_RTO_MIN_NS INT64_C(200000000)

/*
 * Times here are TCP's own: of the kernel's clock, which a dilated run does not slow. A time of the
 * scenario is k times as long for TCP at dilation k (docs/fidelity.md).
 */

enum tcp_kind { TCP_RENO, TCP_CUBIC, TCP_BBR };

struct tcp_conn {
	double cwnd, ssthresh; /* segments; ssthresh is infinite until something ends slow start */
	bool found;	       /* HyStart has ended slow start once; it does not look again */
	/* cubic */
	double last_max, origin, to_origin_s,
		reno;	    /* W_max, the plateau, K, the reno-friendly window */
	int64_t epoch_ns;   /* when this growth began; < 0: not yet */
	int64_t reduced_ns; /* the last reduction: at most one per round trip */
	double bandwidth;   /* bbr: the largest of late, segments per ns */
	int full_rounds;    /* bbr: since it grew by a quarter */
};

/* What a round was like. */
struct tcp_round {
	int64_t now_ns, rtt_ns;
	int64_t base_rtt_ns; /* without queues */
	int64_t queued_ns;   /* in queues when the round began */
	int64_t train_ns;    /* over which its acknowledgements came; < 0: with gaps */
	double acked;	     /* segments of this connection */
	double rounds;	     /* how many round trips it stands for */
	double limit;	     /* the window's, by buffers, segments */
};

void tcp_open(struct tcp_conn *c);
bool tcp_slow_start(const struct tcp_conn *c);
/* A round in the scenario's time as one in TCP's, at dilation k. */
struct tcp_round tcp_dilate(struct tcp_round round, double k);
/* All of a round was acknowledged and the window was in use: it grows. */
void tcp_grow(struct tcp_conn *c, enum tcp_kind kind, const struct tcp_round *round);
/* Segments of the last round were lost; both times on any one clock, always the same. */
void tcp_lose(struct tcp_conn *c, enum tcp_kind kind, int64_t now_ns, int64_t rtt_ns);
/* Everything was lost and a timeout told. */
void tcp_timeout(struct tcp_conn *c, enum tcp_kind kind);
/* It was idle for longer than the timeout and forgets its window (slow_start_after_idle). */
void tcp_restart(struct tcp_conn *c, int64_t idle_ns, int64_t rto_ns);
/* Time passed in which it did not send: cubic's clock stood still. */
void tcp_pause(struct tcp_conn *c, int64_t idle_ns);
