/*
 * The closed formulas beside the renewal model: what it must meet where they hold, and what
 * `narrowlink check` prints. Times are in seconds; an m is a mean time between interruptions of
 * whatever is meant (chip, learner), exponentially distributed.
 */
#pragma once

#include "bench/model/renewal.h"

/*
 * Share of the time that is useful work when work of tau s is followed by a checkpoint of d s,
 * an interruption loses what came after the last one, and a restart takes r s. Interruptions
 * during a restart begin it anew (Daly, FGCS 22 (2006) 303), or do not happen.
 */
double plan_daly(double tau, double d, double r, double m);
double plan_renewal(double tau, double d, double r, double m);

/* The tau that makes plan_daly largest: Young's (CACM 17 (1974) 530) and Daly's approximation. */
double plan_young_interval(double d, double m);
double plan_daly_interval(double d, double m);

/* Share of the time up when a stop takes r s: 1/(1 + r/m), or exp(-r/m) when it is repeated. */
double plan_availability(double r, double m, bool repeat);

/* Of n alike, each up for a share a of the time: that at least k are; the mean share that is up
 * and in such company. */
double plan_quorum(int n, int k, double a);
double plan_quorum_share(int n, int k, double a);

/* The k-th of n exponential times of mean 1 is done after H_n - H_(n-k) on average. */
double plan_straggler(int n, int k);

struct fleet_plan {
	double fleet_mtbf_s, learner_mtbf_s;
	double stop_s;	     /* of a learner, per interruption */
	double availability; /* of a learner */
	double goodput, uptime;
	double young_s,
		daly_s; /* best checkpoint interval; NaN: no checkpoints, or none that pays */
	double straggler;
};
/*
 * For a fleet that is elastic this is an approximation: every replica joins with a stop of its
 * own (in the model those repaired meanwhile join together).
 */
void fleet_plan_make(struct fleet_plan *plan, const struct fleet *fleet);
