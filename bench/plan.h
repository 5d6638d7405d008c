/*
 * The plan: what a scenario's arithmetic says before a packet is sent. `check` prints it, and a
 * run's report holds the measurements against it. Formulas: docs/formulas.md.
 */
#pragma once

#include <stdio.h>

#include "bench/scenario/scenario.h"

#define PLAN_TARGETS 5
extern const double plan_targets[PLAN_TARGETS]; /* compute utilisation .50 .80 .90 .95 .99 */

struct plan {
	double factor;		/* f */
	int64_t period;		/* H: 1 for data-parallel */
	int64_t payload_bytes;	/* S of one exchange of everything */
	int64_t exchange_bytes; /* sent per learner and exchange (largest), payload */
	int64_t syncer_bytes;	/* sent by the busiest syncer participant, payload; 0 if none */
	int64_t exchanges_per_period; /* P, or 1 */
	double wire_ratio; /* bytes on the wire per payload byte: 1514/1448 by default, 1 ideally */
	/*
	 * The link that decides, since it needs most for its rate: a learner's, or a star syncer's.
	 * Its rate, and what it needs on the wire: R >= f N b CU / (H T) * wire_ratio.
	 */
	int tight_site;
	double tight_rate_bps;
	double needed_bps[PLAN_TARGETS];
	double rate_bps;    /* the narrowest direction of any learner's link */
	double goodput_bps; /* what it carries in payload: rate / wire_ratio */
	/* A star syncer's link carries M S each way: what it needs at 100 %, has; 0 if none. */
	double syncer_needed_bps, syncer_rate_bps;
	/* T (at speed 1) at which every link is just enough for the target. */
	int64_t boundary_step_ns[PLAN_TARGETS];
	/*
	 * The lesser of rate / needed at 100 %, at most 1, and I / (I + stall): I = H T / P between
	 * two exchanges. An exchange stalls for what exchange_bound_ns has over the time that hides
	 * it (tau T, or the backward pass of 2 T / 3), shared by those in flight. No TCP, no loss.
	 */
	double predicted_utilisation;
	int64_t one_way_ns;	   /* largest between two participants' sites, without jitter */
	int64_t exchange_bound_ns; /* strategy's bound at goodput and one_way; a star's with M at
				      once */
	double aggregate_bps;	   /* sum over sites of what they send at the predicted pace */
	int64_t expected_wall_ns;  /* for the run's steps at predicted utilisation, no faults */
};

void plan_make(struct plan *plan, const struct scenario *s);

/* Says, a sentence each, which scheduled faults lie beyond the expected end or in the warm-up. */
typedef void plan_say(void *user, const char *sentence);
void plan_check_faults(
	const struct plan *plan, const struct scenario *s, plan_say *say, void *user);
/* Likewise of links that change or are out at times: how often, and what is left on average. */
void plan_check_links(const struct plan *plan, const struct scenario *s, plan_say *say, void *user);
/* Likewise when real packets take more than a day, dilation counted. */
void plan_check_time(const struct plan *plan, const struct scenario *s, plan_say *say, void *user);
