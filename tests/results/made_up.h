/* A run that never was: a folder of plausible numbers, in every size, for charts and reports. */
#pragma once

#include <stdbool.h>

#include "results/record.h"

struct made_up {
	int learners, cases;
	bool syncers;	/* a syncer beside each learner */
	bool faults;	/* a crash and a blackout */
	bool trace;	/* delays that change, and an outage every 15 s */
	bool exchanges; /* some finished */
	double seconds;
	const char *name; /* of sites: "site" makes site-1, ... */
	const char *title;
};

/* Makes the folder, run.json included. The record is the caller's to free. */
struct record *made_up_run(const char *dir, const struct made_up *m);
