/*
 * The group: the learners of a synchronous strategy, who can exchange only when all are there
 * and hold the same state.
 *
 * It is whole until a learner goes down. When all are back, each says in a word what it holds:
 * whether it has state at all (a restarted one has none), and how far that state is. From the
 * same words all draw the same conclusion: the position to go on from is the least or the
 * greatest of those who have state (the strategy's rule). Who is not there fetches what it lacks
 * from the lowest learner that is, and says so in another word; once every word is at the
 * position the group is whole again. If nobody has state the job begins again at position 0.
 *
 * Words carry the epoch. One from a larger epoch than the own is kept until the own catches
 * up; those of a smaller one count for nothing, since their sender says it again when it has
 * learnt of the crash. So a crash at any moment, of a donor too, only begins this anew.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench/runtime.h"

enum group_rule {
	GROUP_LEAST,	/* everyone can go back to an earlier position by itself */
	GROUP_GREATEST, /* who is behind fetches what it missed */
};

/* What an event meant, any of: */
enum group_change {
	GROUP_BROKEN = 1 << 0,	/* no exchange can go on: forget what is under way */
	GROUP_FETCHES = 1 << 1, /* this learner has asked a donor for what it lacks */
	GROUP_FETCHED = 1 << 2, /* and now stands at group.own.position */
	GROUP_WHOLE = 1 << 3,	/* exchanges may begin, all from group.target */
};

struct group_word {
	bool said;
	uint64_t epoch;
	bool has_state;
	int64_t position;
};

struct group {
	struct rt *rt;
	enum group_rule rule;
	/* Bytes that bring a learner with state from one position to a later one. */
	int64_t (*missed_bytes)(const struct job *job, int64_t from, int64_t to);
	uint64_t epoch;
	bool down[LEARNERS_MAX];
	int n_down;
	bool whole;
	int donor;	  /* being fetched from; -1 */
	int fetched_from; /* the last one fetched from; -1 */
	int64_t target;	  /* where the group went on last */
	struct group_word own, word[LEARNERS_MAX];
};

/* missed_bytes may be NULL with GROUP_LEAST. */
void group_init(struct group *g, struct rt *rt, enum group_rule rule,
	int64_t (*missed_bytes)(const struct job *job, int64_t from, int64_t to));
/* The strategy has come further while the group was whole. */
void group_advance(struct group *g, int64_t position);
/* Takes every event first; returns what changed. */
unsigned group_event(struct group *g, const struct rt_event *event);
/* The event is a ring's message of the group's epoch: not one from before a crash. */
bool group_owns_ring(const struct group *g, const struct rt_event *event);
/* REPORT_RECOVERED, if this learner fetched from somebody. */
void group_report_recovered(const struct group *g);
