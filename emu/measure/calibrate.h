/*
 * Calibration: are the links what they were told to be? Sites and links are raised for it alone,
 * measured by probes and libiperf flows, and taken down again, so that the run's own start with
 * nothing in them, no counter moved and no random number drawn.
 */
#pragma once

#include "emu/measure/check.h"

/* How thorough. */
struct calibrate_effort {
	int64_t probe_ns;	/* how long probes are sent, real time */
	int64_t measure_ns;	/* how long a flow counts once it is settled */
	int64_t settle_most_ns; /* a flow that takes longer to settle is not measured */
	bool both;		/* UDP and TCP, not only the one that settles sooner */
	bool one;		/* one direction only, where both are alike: it goes through both */
	bool queue;		/* fill the queue by TCP where datagrams cannot */
};
extern const struct calibrate_effort calibrate_brief; /* in a run: a few seconds */
extern const struct calibrate_effort calibrate_usual; /* the command: about 10 s a link */
extern const struct calibrate_effort calibrate_thorough;

/* A way and its way back. */
struct calibrate_way {
	int from, to;
	bool flows; /* rates and queue too; otherwise probes only */
};

struct calibrate_setup {
	const struct backend *backend;
	const struct link_plan *plan;
	int n_sites;
	const char *names[SITES_MAX];
	const struct calibrate_effort *effort;
	const int *stop_fd; /* not NULL: readable when the user wants the end */
	int n_ways;
	struct calibrate_way ways[SITES_MAX];
};

/* A probe's delay for the chart: of the first way, scenario's time. */
struct calibrate_sample {
	double at_s, there_s, back_s; /* NaN: lost */
};

struct calibration {
	size_t n_checks;
	struct check *checks;
	size_t n_samples;
	struct calibrate_sample *samples;
	char iperf[32]; /* its version; "" if it was not used */
};

/*
 * Measures. The process must be isolated (topology_isolate). The calibration is the caller's to
 * release, whatever is returned: what was measured before an error is in it. An error is one
 * line: an instrument failed, not the link; or it was interrupted (-EINTR, STATUS_INVALID).
 */
int calibrate(struct calibration *out, const struct calibrate_setup *setup, struct error *err);
void calibration_release(struct calibration *c);
/* How many checks came out so. */
size_t calibration_count(const struct calibration *c, enum check_result result);
