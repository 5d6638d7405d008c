/*
 * A saturating flow between two sites by libiperf: an instrument that shares nothing with the
 * links it measures.
 *
 * libiperf has global variables, ends its process where it pleases and runs one test at a time: a
 * server and a client are a process each (flow_child.c is the only code that calls it). What
 * counts is what the receiver counted.
 */
#pragma once

#include "emu/measure/child.h"

struct flow_spec {
	int from, to; /* sites */
	int port;
	bool udp;
	int streams;
	int64_t rate_bps;    /* UDP: payload sent per second, all streams together; TCP: 0 */
	char congestion[16]; /* TCP; "" leaves the site's */
	int64_t settle_ns;   /* of the receiver's time: not counted (slow start, filling a queue) */
	int64_t measure_ns;  /* counted after it */
	int64_t patience_ns; /* beyond both, until it is given up: ten round trips */
	const int *stop_fd;  /* as child_finish has it; NULL: nobody may end it */
};

struct flow_result {
	double seconds;	     /* that were counted, at the receiver */
	double received_bps; /* payload in that time */
	double sent_bps;     /* payload that the sender sent, over its whole time */
	double retransmits;  /* TCP */
	char version[32];    /* libiperf's */
};

struct flow {
	struct flow_spec spec;
	struct child server, client;
	char from[24], to[24]; /* addresses */
	int64_t deadline_ns;
};

#define FLOW_DATAGRAM 1472 /* UDP payload of a full packet */

/* Starts server and client; flow_finish or flow_stop must follow a success. */
int flow_start(
	struct flow *f, const struct topology *t, const struct flow_spec *spec, struct error *err);
/* Waits for the end. STATUS_MACHINE when the library fails, in one line. */
int flow_finish(struct flow *f, struct flow_result *out, struct error *err);
void flow_stop(struct flow *f);

/* What is to be read of the receiver's and the sender's JSON. Exposed for tests. */
int flow_read(const char *server_json, const char *client_json, const struct flow_spec *spec,
	struct flow_result *out, struct error *err);

/* The processes' bodies; argument is the struct flow. */
int flow_serve(void *flow, int fd);
int flow_send(void *flow, int fd);
