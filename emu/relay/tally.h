/*
 * The tally: what the links have carried, together with the time for which that is true.
 *
 * Counters that somebody else reads while they grow say nothing about when: a reader that loses
 * its processor between its clock and the counters, or a relay that loses its own, makes a rate
 * out of the wrong time, and a link seems to carry more than it can. So the relay writes down
 * both, once a millisecond and before it sleeps; while it sleeps, what it wrote stays true until
 * the next thing is due, and a reader may say so.
 *
 * One writer, any number of readers in other processes, no locks: two pages by turns.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/backend.h"

struct tally_count {
	uint64_t sent_bytes, delivered_bytes; /* as in struct link_stats */
};

struct tally_page {
	int64_t at_ns;	  /* the counts are those of this time */
	int64_t until_ns; /* and up to this one, unless packets come */
	struct tally_count counts[SITES_MAX][DIRECTIONS];
};

struct tally {
	_Atomic uint32_t version; /* of the newest page, pages[version % 2]; 0: none yet */
	_Atomic bool asleep;	  /* no packet has been taken in since that page was written */
	struct tally_page pages[2];
};

/* The writer's: a page to fill in, which readers see at tally_end. */
struct tally_page *tally_begin(struct tally *t);
void tally_end(struct tally *t);
void tally_asleep(struct tally *t, bool asleep);

/* The time, at most now_ns(), for which *out is true; before the first page now, and nothing. */
int64_t tally_read(const struct tally *t, int site, enum direction d, int64_t (*now_ns)(void),
	struct tally_count *out);
