/*
 * The ledger: where every accelerator-second of one participant went.
 *
 * A fold over what happened, in order of time: states, useful and lost steps, crashes. A
 * participant is in exactly one state at any instant, so its states sum to the wall time by
 * construction; the test compares that sum with a clock read by somebody else.
 *
 * Steps are counted in step-equivalents: a merge of one of P fragments makes 1/P of the steps
 * since that fragment's last merge useful. What was completed and neither merged nor lost when
 * the run ended is pending: it counts as useful if this participant's exchanges work at all
 * (at least one finished), and no more of it than can be on its way when all goes well: what is
 * older is overdue, and like the rest counts as nothing. A crash turns what was pending into lost,
 * and a rollback to a step turns what counted as useful beyond that step into lost.
 *
 * The measured window begins with REPORT_MEASURE, whose `a` is the first step that counts (the
 * warm-up's length): earlier steps do not, even if a rollback makes them be computed again.
 *
 * A learner that a fault struck before it began does not hide the time until it begins: its window
 * begins when the last of those began that were not struck and began before it; the first that was
 * struck, where all were. So does the window of one that never begins. One that was not struck has
 * a window of its own, since a slow accelerator takes longer over its warm-up and is no failure.
 * If the run ends before anybody began, the window is all of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench/runtime.h"

struct ledger {
	enum state state;
	int64_t since_ns;	    /* when the state was entered */
	int64_t in_ns[STATE_COUNT]; /* since the window began */
	bool measuring, done;	    /* it has told REPORT_MEASURE; the window has ended */
	bool struck;		    /* a fault came before it began to measure */
	bool joined;		    /* the window is one that others began */
	int64_t from_ns, until_ns;  /* the window; until_ns is set when it has ended */
	enum state from_state;	    /* as the window begins */
	int64_t first_step;	    /* the first that counts */
	double steps_completed, steps_useful, steps_lost; /* in the window */
	double settles; /* steps within which they are merged or checkpointed when all goes well */
	uint64_t exchanges; /* finished in the measured window */
};

/* settles: the strategy's; INFINITY where nothing is ever overdue. */
void ledger_start(struct ledger *l, int64_t at_ns, enum state state, double settles);
/* From at_ns on. STATE_DOWN is entered by the runtime: a strategy that is down says nothing. */
void ledger_state(struct ledger *l, int64_t at_ns, enum state state);
void ledger_report(struct ledger *l, int64_t at_ns, const struct rt_report *report);
/* A fault strikes the participant. */
void ledger_strike(struct ledger *l);
/*
 * Another learner, struck or not, began to measure: what has not begun itself counts from then
 * on, and no earlier than what has been told of it.
 */
void ledger_join(struct ledger *l, int64_t at_ns, int64_t first_step, bool struck);
/* The window ends: at rt_done, or when the run does. Later states and reports change nothing. */
void ledger_finish(struct ledger *l, int64_t at_ns);

int64_t ledger_wall_ns(const struct ledger *l);	     /* sum of in_ns */
double ledger_steps_pending(const struct ledger *l); /* overdue ones among them */
double ledger_steps_overdue(const struct ledger *l);
double ledger_steps_counted(const struct ledger *l); /* useful, and pending where it counts */

/*
 * Over several learners (n > 0), weighted by accelerators:
 * useful_work = counted steps * step time / wall; compute_utilisation = compute / (compute +
 * exposed_comm); availability = 1 - (down + recover) / wall. NaN when there was no time.
 */
struct ledger_totals {
	double useful_work, compute_utilisation, availability;
	double useful_steps, lost_steps, pending_steps, overdue_steps;
};
void ledger_totals(const struct ledger *const *ledgers, const int64_t *mean_step_ns,
	const double *accelerators, int n, struct ledger_totals *out);
