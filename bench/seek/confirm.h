/*
 * A found value held against real packets: it, and the values 5 % either side, are run over
 * emulated links as `narrowlink run` runs them, and the model's results stand beside theirs.
 */
#pragma once

#include "bench/seek/seek.h"

#define CONFIRM_STEP .05   /* to either side */
#define CONFIRM_POINTS .02 /* ratios agree within 2 points, */
#define CONFIRM_SHARE .05  /* times and rates within 5 % */
#define CONFIRM_SEEDS 5	   /* of the model, to show how far one run may be from another */

struct confirm_options {
	const char *engine; /* of the links: "auto" or a backend's name */
	const char *file;   /* recorded, so that a run can be repeated */
	bool quiet;
};

/*
 * Adds a check per value to the seek. Each run is a process of its own, since a run isolates its
 * process for good, and has its own folder in results/runs. STATUS_MACHINE: runs cannot be made
 * here; STATUS_INVALID: one was invalid or cut short.
 */
int confirm_run(struct seek_record *seek, const struct seek_source *source,
	const struct seek_options *options, const struct confirm_options *confirm,
	struct error *err);

/*
 * The model's value as this run of packets should be held against: with the seed of s, and TCP's
 * own timers as at the run's dilation. Its least and greatest over CONFIRM_SEEDS seeds stand beside
 * it, since one run is one draw; they do not change what agrees. s is changed.
 */
int confirm_model(struct seek_check *check, struct scenario *s, double dilation,
	const struct seek_options *options, struct error *err);

/* Whether two values of a metric agree; NaN never does. */
bool confirm_agrees(const char *metric, double model, double packets);
/* Whether all checks do; false without any. */
bool confirm_all(const struct seek_record *seek);
