/*
 * One flow and its rounds: what it may send, what of it is lost, how its windows grow. Messages and
 * the sharing of links among flows are in flows.c.
 */
#pragma once

#include "bench/model/flows.h"
#include "bench/model/share.h"

#define FLOW_BYTE 1e-6	   /* less than this is nothing left */
#define FLOW_BACKOFF_MAX 9 /* doublings of the timeout: Linux ends at 120 s */

enum phase {
	IDLE,	 /* nothing to send */
	SENDING, /* has a rate */
	WAITING, /* the window is used up; until the round's acknowledgements come */
	STALLED, /* the link is down; until the next timeout */
};

struct flow {
	struct share_flow share;
	struct world_event event;
	struct flows *flows;
	int from, to;  /* participants */
	int data[2];   /* pipes: up, down */
	int acks[2];
	uint32_t entity;
	enum phase phase;
	struct parcel *first, **end; /* messages; the first is being sent */
	double total, left;	     /* bytes of the first, framing included; and not served yet */
	double behind;		     /* bytes of the others */
	double window;		     /* bytes, all connections */
	double budget, served;	     /* of this round: may still be sent, was served */
	double unjudged;	     /* served, and its losses are not drawn yet */
	int rounds;		     /* round trips that this round stands for */
	bool burst;		     /* the whole window comes at once */
	int64_t since_ns;	     /* served is true at */
	int64_t round_ns, full_ns;   /* the round's begin, and when its window was used up */
	int64_t queued_ns;	     /* in queues at its begin */
	int64_t peak_ns;	     /* in the queue that its windows make; < 0: not known yet */
	int64_t last_ns;	     /* when it last sent; < 0: never */
	int64_t arrival_ns;	     /* of its last message */
	int64_t signal_ns;	     /* of its last message without payload */
	uint64_t draws, episodes[2]; /* of its pipes, that it has had its losses of */
	int backoff;
	size_t place; /* among those that send */
	struct tcp_conn conn[];
};

struct delivery {
	struct world_event event;
	struct flows *flows;
	struct parcel *parcel;
	struct delivery *next, *made; /* spare ones; all of them */
};

struct flows {
	struct network network;
	struct world *world;
	struct flows_config config;
	enum tcp_kind kind;
	bool ideal, dirty;
	int n_pipes, n; /* participants */
	int connections;
	double window_limit; /* segments, of a connection */
	struct pipe *pipes;  /* site * 2 + direction */
	struct share_link *shares;
	struct flow **flow; /* [from * n + to]; NULL: they have not talked */
	struct flow **made;
	size_t n_made;
	struct share_flow **sending;
	size_t n_sending;
	int64_t chunk_max[SITES_MAX];
	struct delivery *spare, *deliveries;
};

int flows_site_of(const struct flows *n, int participant);
/* One way between two sites, without queues. */
int64_t flows_way_ns(const struct flows *n, int from, int to);
/* What its acknowledgements take at least: the queues before them, but not before its data. */
int64_t flow_rtt_ns(const struct flow *f);
/* What stands in the queues of two pipes. */
int64_t flow_queues_ns(const struct flow *f, const int pipes[2]);
bool flow_path_down(const struct flow *f, int64_t at_ns);
void flow_set_phase(struct flow *f, enum phase phase);
/* Serves what its rate has carried since the last time. */
void flow_advance(struct flow *f);
/* Draws the fate of what was served since the last time; returns how many segments were lost. */
double flow_judge(struct flow *f);
/* No connection is in slow start. */
bool flow_steady(const struct flow *f);
/* When its message or its round will be served, at its rate. */
void flow_set_event(struct flow *f);
void flow_begin_round(struct flow *f, bool burst);
/* Losses of the round, and what its acknowledgements make of the windows. */
void flow_end_round(struct flow *f);
/* The link is down: it tries again after its timeout. */
void flow_stall(struct flow *f);
/* It was idle and has something to send: what is left of its window, or a new round. */
void flow_wake(struct flow *f);
