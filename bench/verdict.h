/*
 * From an observation to a case's record: totals, wire rates, fidelity, expectations and the
 * verdict with the sentence that gives its reason.
 */
#pragma once

#include "bench/headroom.h"
#include "bench/host.h"
#include "bench/observe.h"
#include "bench/plan.h"
#include "results/record.h"

/* What else is known when a case has ended. */
struct verdict_input {
	const struct plan *plan;
	const struct outcome *outcome;
	const struct fault *faults;
	size_t n_faults;
	const struct host_tcp *tcp;		/* NULL: unknown */
	double relay_cpu;			/* share of one core over the run; NaN if unknown */
	const struct headroom_result *headroom; /* NULL: unknown */
	bool simulated; /* there was no link whose fidelity could be judged */
	bool partial;	/* cut short by a signal or an error */
	const char *why_partial;
	bool not_begun; /* cut short before time zero, by what makes the case invalid */
};

/* Fills c from the scenario alone: set values, assumptions, what the plan says. */
void verdict_plan(struct record_case *c, const struct scenario *s, const struct plan *plan);

/* Fills the rest. The observation must have ended. */
void verdict_make(
	struct record_case *c, const struct observation *o, const struct verdict_input *in);

/* What a case's record says of a metric, in its base unit; NaN: unknown. */
double metric_value(const struct record_case *c, enum metric metric);

/* Holds the case's figures against the scenario's expectations; plan may be NULL for a fleet. */
void verdict_expect(struct record_case *c, const struct scenario *s, const struct plan *plan);

/* The exit status all cases together lead to. */
enum exit_status verdict_status(const struct record *record);
