/*
 * The way of a packet through the links, without a clock and without a device: the caller says
 * what time it is, hands packets in, and takes those that are due.
 *
 *   site's TUN -> UP: queue, serialiser, loss -> propagation (access + core + jitter)
 *              -> DOWN: queue, serialiser, loss -> propagation -> the other site's TUN
 *
 * A super-packet is one event at each place, when its last segment is there; when its first was
 * there it remembers, so that two serialisers in a row overlap as they do with real segments.
 * Every decision falls per wire segment.
 */
#pragma once

#include "emu/backend.h"
#include "emu/relay/pool.h"
#include "emu/relay/tally.h"

struct engine;

/*
 * Hands a due packet to a site. Returns the time at which that was done, or a negative number
 * if the site does not take it; or ENGINE_LATER: then engine_delivered says so when it is known,
 * for the packets of a site in their order. The packet is the engine's.
 */
#define ENGINE_LATER INT64_MAX
typedef int64_t engine_deliver(void *context, int site, struct packet *p);

/*
 * plan, pool and stats (of n_sites sites, zeroed; it may be shared memory) are borrowed. The
 * statistics count each thing at the time it happens.
 */
struct engine *engine_new(const struct link_plan *plan, int n_sites, struct pool *pool,
	struct link_stats (*stats)[DIRECTIONS], engine_deliver *deliver, void *context,
	int64_t now_ns);
struct engine *engine_free(struct engine *e); /* accepts NULL, returns NULL */

/* Scenario time zero is epoch_ns. */
void engine_start(struct engine *e, int64_t epoch_ns, int64_t now_ns);

/* A packet that was read from the site's TUN; takes it over. */
void engine_input(struct engine *e, int site, struct packet *p, int64_t now_ns);

/* Does what is due at now_ns, at most `budget` deliveries of it. */
void engine_run(struct engine *e, int64_t now_ns, int budget);

/*
 * What the links have carried by at_ns, the time of the last engine_run, to the segment; and in
 * until_ns how long that stays so if no packet comes.
 */
void engine_tally(const struct engine *e, int64_t at_ns, struct tally_page *out);

/* What became of a packet that was to be known later: as engine_deliver returns. */
void engine_delivered(struct engine *e, struct packet *p, int64_t at_ns);

/* When the next thing is due; TIME_NEVER if nothing is in flight. */
int64_t engine_next_ns(const struct engine *e);
