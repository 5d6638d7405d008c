/*
 * What a direction loses on the way, segment by segment: independent loss and Gilbert-Elliott
 * bursts as draws keyed by (seed, direction, number of the segment), so that the relay and the
 * model lose the same segment numbers of a direction.
 *
 * Gilbert-Elliott (E. N. Gilbert, Bell Syst. Tech. J. 39 (1960) 1253) with a bad state that
 * loses everything and a good one that loses nothing: a burst ends with probability r = 1 / mean
 * burst after each segment, and begins with p = loss r / (1 - loss), so that the share of
 * segments in the bad state, p / (p + r), is the mean loss.
 */
#pragma once

#include "emu/link.h"

struct loss_chain {
	uint64_t seed;
	uint32_t entity;  /* site * 2 + direction */
	uint64_t segment; /* number of the next */
	bool bad;	  /* the Gilbert-Elliott chain's state */
};

void loss_init(struct loss_chain *c, uint64_t seed, uint32_t entity);

static inline bool loss_possible(const struct link_state *s)
{
	return s->down || s->loss > 0 || s->burst_loss > 0;
}

/* The fate of the next segment, which leaves in state s: DROP_CAUSES if it goes on. */
enum drop_cause loss_next(struct loss_chain *c, const struct link_state *s);
