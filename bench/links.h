/*
 * From a scenario and its fault schedule to the links a backend builds.
 */
#pragma once

#include "bench/fault.h"
#include "bench/scenario/scenario.h"
#include "emu/backend.h"

/*
 * Fills plan: each site's own copy of its link's directions with the schedule's blackouts in
 * it, the core's delays, all slowed by the scenario's dilation. links_release frees the copies.
 */
void links_make(struct link_plan *plan, const struct scenario *s, const struct fault *faults,
	size_t n_faults);
void links_release(struct link_plan *plan, int n_sites);

/* One way between two sites when nothing is queued, without serialisation, scenario time. */
int64_t links_one_way_ns(const struct scenario *s, int from, int to);

/*
 * Round trip of a segment of payload_bytes (below one MTU) and its answer of the same size on
 * idle links: both ways' delay, and the serialisation of 52 bytes of IPv4 and TCP headers with
 * timestamps more, four times.
 */
int64_t links_round_trip_ns(const struct scenario *s, int from, int to, int payload_bytes);
