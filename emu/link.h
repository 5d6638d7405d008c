/*
 * A link profile: what one access link does to packets, each direction apart.
 *
 * Order in a direction: byte-limited tail-drop queue -> serialiser -> propagation (order
 * preserving) -> loss. A lost segment has used capacity. Everything is decided per wire segment.
 *
 * A profile is plain data and knows its own future: changes over time (steps, periodic outages,
 * blackouts, a recorded trace) are part of it, so that a backend or a model can follow them
 * by itself and the same profile means the same link everywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define LINK_MTU 1500
#define LINK_OVERHEAD_ETHERNET 14 /* what a qdisc counts: the frame without preamble, FCS, gap */
#define LINK_OVERHEAD_IP 0
#define LINK_OVERHEAD_WIRE 38 /* Ethernet with preamble, FCS and inter-frame gap */

enum direction { UP, DOWN, DIRECTIONS }; /* UP: from the site to the core */
const char *direction_name(enum direction direction);

/* DROP_MEMORY is not the link's doing: the machine had none left. */
enum drop_cause { DROP_QUEUE, DROP_RANDOM, DROP_BURST, DROP_OUTAGE, DROP_MEMORY, DROP_CAUSES };

/* What a link is at an instant. */
struct link_state {
	int64_t rate_bps;    /* > 0; counts overhead_bytes per wire segment */
	int64_t queue_bytes; /* > 0; tail-drop limit, resolved for rate_bps when given in time */
	int64_t delay_ns;    /* one way, >= 0; it may grow, see delay_slope */
	int64_t jitter_ns;   /* uniform in delay +- jitter, order preserved; 0 <= jitter <= delay */
	double loss;	     /* independent loss per segment, 0 to 1 */
	double burst_loss;   /* Gilbert-Elliott: mean loss, 0 to below 1; 0 is none */
	double burst_length; /* Gilbert-Elliott: mean burst in segments, >= 1 */
	bool down;	     /* every segment whose serialisation ends now is lost (outage) */
	double delay_slope;  /* ns by which delay_ns grows in a ns; not 0 in a trace only */
};

/* A step: from at_ns on, the fields in `set` have the values in `to`. */
enum link_field {
	LINK_RATE = 1 << 0,
	LINK_QUEUE = 1 << 1,
	LINK_DELAY = 1 << 2,
	LINK_JITTER = 1 << 3,
	LINK_LOSS = 1 << 4,
	LINK_BURST = 1 << 5,
};
struct link_step {
	int64_t at_ns;
	unsigned set;
	struct link_state to; /* queue_ns below applies when LINK_QUEUE is set */
	int64_t queue_ns;     /* > 0: the limit in time; 0: to.queue_bytes holds */
};

/* A time at which nothing passes: [from_ns, until_ns). */
struct link_window {
	int64_t from_ns, until_ns;
};

/* The link goes down for for_ns, first at first_ns, then every every_ns. */
struct link_outage {
	int64_t first_ns, every_ns, for_ns;
};

struct link_trace_delay {
	int64_t at_ns, delay_ns;
};

/*
 * A recorded ping trace: the one-way delay at at_ns (half the recorded round trip), and the
 * windows in which probes were lost. Played from start to end, then again (period_ns).
 * Shared by the profiles that use it, owned by whoever loaded it.
 *
 * Between two probes the delay goes straight from one's to the other's. Of probes that kept their
 * order the second arrived no earlier than the first, and so does what is sent between them: the
 * delay falls by at most what time passes, and nothing waits behind what was sent before.
 *
 * UP is by the time a probe was sent. DOWN is the same, seen by that probe on its way back: each
 * time is later by the one-way delay, so that a probe sent as the recorded one was meets the
 * delay recorded for it twice, and is lost if it was lost.
 */
struct link_trace {
	char *path;
	int64_t period_ns;
	struct link_trace_side {
		size_t n_delays;
		/* sorted; DOWN's may lie after the period's end: the next one's start */
		struct link_trace_delay *delays;
		size_t n_losses;
		struct link_window *losses; /* sorted, not overlapping; likewise */
	} side[DIRECTIONS];
};

/* One direction of a link: its state at time zero, and what changes. Arrays sorted by time. */
struct link_direction {
	struct link_state base;
	int64_t queue_ns; /* > 0: the queue limit was given in time and follows the rate */
	int overhead_bytes;
	size_t n_steps;
	struct link_step *steps; /* those before 0 or at 0 are part of the state at 0 */
	size_t n_outages;
	struct link_outage *outages; /* periodic */
	size_t n_blackouts;
	struct link_window *blackouts;	/* single, sorted, not overlapping */
	const struct link_trace *trace; /* NULL: none; its delay replaces the others */
};

struct link_profile {
	const char *name;
	const char *title;  /* one line for `narrowlink profiles` */
	const char *source; /* where the numbers come from */
	struct link_direction direction[DIRECTIONS];
};

/* The catalogue. link_catalogue(i) is NULL past the end; the data is static. */
const struct link_profile *link_catalogue(size_t i);
const struct link_profile *link_catalogue_find(const char *name);

/*
 * The state of a direction at t_ns of scenario time (before 0: as at 0, but nothing down and the
 * delay at rest), and in *until_ns the time, later than t_ns, up to which it certainly stays so but
 * for the slope of its delay (TIME_NEVER if for ever): ask again then, not per packet. which
 * tells the direction's side of a trace.
 *
 * A queue given in time holds at least one full frame; jitter is at most the delay of the
 * moment, in a trace the lesser of the two between which it is. Costs a walk over the steps and
 * binary searches in the rest.
 */
void link_at(const struct link_direction *d, enum direction which, int64_t t_ns,
	struct link_state *state, int64_t *until_ns);
/* The delay that a state, if it still holds, has come to after so long. */
int64_t link_delay_after(const struct link_state *state, int64_t after_ns);

/*
 * Makes a link k times slower (k >= 1): rates divided, delays, queues in time and the times of
 * all changes multiplied; bytes in flight stay. The result owns copies of the arrays, the trace
 * too; link_direction_release frees them and is for results of this function only.
 */
void link_direction_dilate(struct link_direction *out, const struct link_direction *in, double k);
void link_direction_release(struct link_direction *d);

/*
 * Loads a recorded ping trace: CSV with a header naming the columns `relative` (seconds) and
 * `rtt` (milliseconds); probes that were lost are missing rows. STATUS_INPUT; errors name file
 * and line. docs/profiles.md describes the format.
 *
 * `relative` is when the probe was sent or, as `ping -D` prints it, when its reply came:
 * whichever gives the more even spacing of the probes. The spacing is the median one. Where
 * the next heard probe was sent n spacings after the last (n at least 1.75), those between them
 * were lost: from half a spacing after the last to half a spacing before the next.
 */
int link_trace_load(struct link_trace **out, const char *path, struct error *err);
/* The same from the text of a file; path is for messages. */
int link_trace_parse(struct link_trace **out, const char *path, const char *text, size_t size,
	struct error *err);
struct link_trace *link_trace_free(struct link_trace *trace); /* accepts NULL, returns NULL */
