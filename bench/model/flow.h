/*
 * One flow: its place on the links, what it may send, what of it is lost, how its windows grow.
 * Messages and the sharing of links among flows are in flows.c.
 */
#pragma once

#include "bench/model/course.h"
#include "bench/model/flows.h"
#include "bench/model/share.h"

#define FLOW_BACKOFF_MAX 9 /* doublings of the timeout: Linux ends at 120 s */

enum phase {
	IDLE,	 /* nothing to send */
	ACTIVE,	 /* on its course */
	STALLED, /* the link is down; until the next timeout */
};

struct flow {
	struct share_flow share;
	struct flows *flows;
	int from, to; /* participants */
	int data[2];  /* pipes: up, down */
	int acks[2];
	uint32_t entity;
	enum phase phase;
	size_t place;		       /* among those that are active */
	struct parcel *first, **end;   /* messages; the first is being sent */
	int64_t framed_bytes, framing; /* of such a message */
	double total, behind;	       /* bytes of the first, framing included, and of the others */
	double unjudged;	       /* served, and its losses are not drawn yet */
	int64_t base_ns;	       /* round trip without queues */
	bool placed;		       /* has its place since it became active */
	struct slice slice;
	struct course course, planned; /* true at a time past; and at due_ns */
	enum course_end end_kind;      /* of planned */
	int64_t due_ns;
	int64_t last_ns;    /* when it last sent; < 0: never */
	int64_t arrival_ns; /* of its last message */
	int64_t signal_ns;  /* of its last message without payload */
	double slowest;	    /* connection's window to the mean */
	uint64_t draws;
	struct world_event timeout; /* STALLED */
	int backoff;
	double uneven; /* its connections are: 0 not at all, 1 as losses leave them */
	bool split;    /* its connections differ: they are conn, not course.tcp */
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
	bool ideal;
	bool dirty, fired; /* since the last settling: shares are to be made; something was due */
	int n_pipes, n;	   /* participants */
	int connections;
	double window_limit; /* segments, of a connection */
	struct pipe *pipes;  /* site * 2 + direction */
	struct share_link *shares;
	struct flow **flow; /* [from * n + to]; NULL: they have not talked */
	struct flow **made;
	size_t n_made;
	struct share_flow **active;
	size_t n_active;
	struct world_event due; /* the first of the active flows' */
	int64_t chunk_max[SITES_MAX];
	struct delivery *spare, *deliveries;
};

struct flow *flow_new(struct flows *n, int from, int to);

int flows_site_of(const struct flows *n, int participant);
void flow_measure(struct flow *f); /* sets base_ns */
/* One way between two sites, without queues. */
int64_t flows_way_ns(const struct flows *n, int from, int to);
/* What its acknowledgements take at least: the queues before them, but not before its data. */
int64_t flow_rtt_ns(const struct flow *f);
int64_t flow_timeout_ns(const struct flow *f); /* for a retransmission, the first */
bool flow_path_down(const struct flow *f, int64_t at_ns);
/* In ideal mode: when what is sent passes, from at_ns on; TIME_NEVER: never again. */
int64_t flow_path_up_ns(const struct flow *f, int64_t at_ns);

void flow_set_phase(struct flow *f, enum phase phase);
/* All its connections begin anew, cold. */
void flow_open(struct flow *f);
/* A message of `bytes` is the first now. */
void flow_load(struct flow *f, double bytes);
/* Its place on the links is another from now on. */
void flow_place(struct flow *f, const struct slice *slice);
/* Sees how its course ends, from where it is. */
void flow_plan(struct flow *f);
/* Goes on to now, or to where its plan has come. */
void flow_advance(struct flow *f);
void flow_arrive(struct flow *f);
/* Bytes that it has served at a time, beyond what is counted. */
double flow_ahead(const struct flow *f, int64_t at_ns);
/* Draws the fate of what was served since the last time; returns how many segments were lost. */
double flow_judge(struct flow *f);
/* A round of a flow that steps is over. */
void flow_turn(struct flow *f);
/* It was idle and has something to send: what is left of its window, or a new round. */
void flow_wake(struct flow *f);
/* How much of a queue it has of those that share it: anew for each message. */
void flow_draw_weight(struct flow *f);
/* After a timeout. */
void flow_restart(struct flow *f);
/* The link is down: it tries again after its timeout. */
void flow_stall(struct flow *f);
