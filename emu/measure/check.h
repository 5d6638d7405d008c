/*
 * A check: one thing that a link was told to be, what it was measured to be, and within which
 * limits the two are the same. Pure arithmetic on what the instruments say.
 */
#pragma once

#include "emu/measure/flow.h"
#include "emu/measure/path.h"
#include "emu/measure/probes.h"

enum check_kind {
	CHECK_DELAY,	/* s, one way, median */
	CHECK_RTT,	/* s, median */
	CHECK_LOSS,	/* share of segments */
	CHECK_BURST,	/* segments, mean run of lost ones */
	CHECK_REORDER,	/* share of probes */
	CHECK_RATE_UDP, /* bit/s on the wire */
	CHECK_RATE_TCP,
	CHECK_MATHIS, /* bit/s of payload, one reno connection */
	CHECK_QUEUE,  /* s that a full queue adds */
	CHECK_KINDS
};
const char *check_name(enum check_kind kind);  /* "one_way_delay" */
const char *check_title(enum check_kind kind); /* "one-way delay" */

enum check_result { CHECK_HOLDS, CHECK_OFF, CHECK_UNKNOWN };
const char *check_result_name(enum check_result result); /* "holds", "off", "unmeasured" */

/* In the scenario's units: what was measured with a dilation is taken back by it. */
struct check {
	int from, to;
	enum check_kind kind;
	enum check_result result;
	double want, got;
	double low, high; /* got within them holds; CHECK_LOSS: the measurement's 99 % interval */
	double min, p99;  /* of delays; else NaN */
	double n;	  /* of probes; else NaN */
	char why[256];	  /* CHECK_UNKNOWN: the reason; CHECK_OFF: what is off */
};

/* What is the same for all checks of a path. */
struct check_context {
	const struct path *path, *back; /* there and back */
	double dilation;
};

/*
 * Delay, loss, burst and reordering of one way, by probes on the idle link; RTT once for both.
 * The delay's limits are 1 % or 0.5 ms of real time, whichever is more, and half of what jitter may
 * do to a median. Loss has its 99 % Wilson interval; where losses hang together the number of
 * independent probes is less (n (1 - c) / (1 + c)). It is off outside its 99.99 % interval: there
 * are many checks in a run, and one in a hundred would be off by chance.
 *
 * What this machine adds is not the link's: a delay is not judged that is longer by no more than
 * probes were sent late (the median of both), nor a loss that a socket without room for
 * `dropped` datagrams explains.
 */
void check_delay(struct check *c, const struct check_context *x, const struct probe_summary *s);
void check_rtt(struct check *c, const struct check_context *x, const struct probe_summary *s);
void check_loss(struct check *c, const struct check_context *x, const struct probe_summary *s,
	uint64_t dropped);
void check_burst(struct check *c, const struct check_context *x, const struct probe_summary *s);
void check_reorder(struct check *c, const struct check_context *x, const struct probe_summary *s);

/* What else is known of the time in which a flow ran. */
struct flow_watch {
	double idle_s;		     /* median one-way delay of the idle link, real time */
	struct probe_summary filled; /* probes beside the flow, while it counted */
	double busy;		     /* of the busiest processor, 0 to 1 */
	double receiver_drops;	     /* datagrams that the receiving socket had no room for */
	double beside_bps;	     /* what the probes themselves took of the wire */
};

/*
 * Rates hold within 1 %, the queue within 5 % or two full packets and 0.5 ms of real time. A rate
 * is only judged when it was the link that limited it: datagrams were sent at more than the rate,
 * or a queue stood before the link all the time. A process that does not run counts afterwards
 * what came before: a rate is not judged that differs by no more than the probes beside it
 * were late at most, as a share of the time.
 */
void check_rate_udp(struct check *c, const struct check_context *x, const struct flow_spec *spec,
	const struct flow_result *r, const struct flow_watch *w);
void check_rate_tcp(struct check *c, const struct check_context *x, const struct flow_result *r,
	const struct flow_watch *w);
void check_mathis(struct check *c, const struct check_context *x, const struct flow_result *r,
	const struct flow_watch *w, double measured_s);
void check_queue(struct check *c, const struct check_context *x, double added_s);
/* One that could not be measured. */
void check_unknown(struct check *c, const struct check_context *x, enum check_kind kind,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
