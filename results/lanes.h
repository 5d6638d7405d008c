/*
 * What each participant of one case was doing when, from events.csv: a lane of spans per
 * participant, few enough to draw.
 */
#pragma once

#include <stddef.h>

#include "base/state.h"
#include "results/series.h"

struct lane_span {
	double from_s, until_s;
	enum state state;
};

struct lane {
	char *participant;
	size_t n_spans;
	struct lane_span *spans; /* in order of time, without gaps */
};

struct lanes {
	double until_s; /* the case's last event of any kind, or what lanes_end said */
	size_t n_lanes;
	struct lane *lanes; /* in the order in which they appear */
};

/* NULL when no participant of this case entered a state. Events after latest_s are passed over. */
struct lanes *lanes_load(const char *folder, int case_index, double latest_s);
/* The case ended at until_s, if that is later than its last event: so long last the last states. */
void lanes_end(struct lanes *l, double until_s);
struct lanes *lanes_free(struct lanes *l); /* accepts NULL, returns NULL */

/*
 * Leaves at most spans_max spans in each lane: a longer one is cut into spans_max equal pieces,
 * each in the state that took most of it; but down and recover, which are short and what one
 * looks for, take a piece as soon as they fall into it.
 */
void lanes_merge(struct lanes *l, int spans_max);
