/*
 * The network of the model: flows over access links. One flow for each ordered pair of
 * participants that talk; it stands for their TCP connections (transport.connections), which
 * share its messages as live striping does. Those that have something to send share the links by
 * weighted max-min (share.h); each then follows its course of TCP rounds (course.h) until its place
 * on the links changes. docs/model.md says what follows from what.
 */
#pragma once

#include "bench/model/pipe.h"
#include "bench/model/tcp.h"

struct flows_config {
	const struct scenario *scenario;
	const struct link_plan *links; /* dilation 1 */
	struct outcome *out;	       /* bytes and links are counted there */
};

struct flows;

/* world is initialised afterwards, with flows_network(). */
struct flows *flows_new(struct world *world, const struct flows_config *config);
struct network *flows_network(struct flows *flows);
/* At time zero: loads the links and follows their changes. */
void flows_start(struct flows *flows);
struct flows *flows_free(
	struct flows *flows); /* before world_release; accepts NULL, returns NULL */

/* Brings the counters of links and participants up to a time at which nothing happens. */
void flows_count(struct flows *flows, int64_t at_ns);

/* One way for a segment now, queues included, and the round trip of two sites without them. */
int64_t flows_one_way_ns(const struct flows *flows, int from_site, int to_site);
int64_t flows_round_trip_ns(const struct flows *flows, int site, int other);
