/*
 * A run folder: results/runs/<UTC time>-<scenario>-<id>/, never overwritten. It is created at
 * the start, fed while the run goes on, and readable at any moment: samples.csv and events.csv
 * grow by whole lines, run.json is replaced as a whole.
 *
 * A full disk: a table whose write failed is cut back to its last whole line and takes no more
 * rows; run.json stays as it was. What was written stays readable. Flush once right after
 * creating, so that a folder has a run.json whatever happens later.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "results/record.h"

struct folder;

/*
 * Creates the folder and its tables. dir names it (it must not exist, or be empty; its parents
 * are created); NULL chooses results/runs/<UTC time>-<name>-<id>/ below the working directory,
 * name (NULL: "run") reduced to what suits a file name. Errors: STATUS_INPUT when dir is taken, too
 * long or below a file, STATUS_MACHINE when it cannot be created. From here on the process ignores
 * SIGXFSZ, so that a file size limit is an error like a full disk.
 */
int folder_create(struct folder **out, const char *dir, const char *name, struct error *err);
/* A folder's name as it is shown and kept: without the slashes at its end. The caller's to free. */
char *folder_name(const char *dir);
/* As mkdir -p, for a folder that is no run's. STATUS_INPUT or STATUS_MACHINE. */
int folder_make(const char *dir, struct error *err);
const char *folder_path(const struct folder *f);

/* A file with this content, e.g. scenario.yaml. */
int folder_put(struct folder *f, const char *file, const char *text, struct error *err);

/*
 * Rows; the columns are the members in their order, case counted from 0, NaN an empty field.
 *
 * samples.csv: one row per link direction and tick, about the time since that direction's row
 * before; tcp.csv: a participant's connections to one peer; events.csv: states as
 * "state:compute", faults as "fault:blackout" at their beginning and "fault_end:blackout", else
 * the report's name. Rows of a table come in order of time within a case.
 */
struct folder_sample {
	int case_index;
	double t_s;
	const char *site, *direction;
	double wire_bps, limit_bps, delivered_bps, drop_segments;
	double delay_s; /* the link's one-way delay now */
	int down;	/* 1 in an outage */
};
struct folder_tcp {
	int case_index;
	double t_s;
	const char *participant, *peer;
	double rtt_s, min_rtt_s, cwnd_segments, retransmits, delivery_bps;
	double busy_s, window_limited_s, buffer_limited_s;
};
struct folder_event {
	int case_index;
	double t_s;
	const char *participant, *event; /* participant may be a site's name, for a blackout */
	double a, b, c, amount;		 /* NaN: empty */
};
void folder_sample(struct folder *f, const struct folder_sample *s);
void folder_tcp(struct folder *f, const struct folder_tcp *s);
void folder_event(struct folder *f, const struct folder_event *e);

/*
 * Writes and syncs the tables, then replaces run.json (record NULL: leaves it). Returns the first
 * error since the last call; all that still can be written is.
 */
int folder_flush(struct folder *f, const struct record *record, struct error *err);
/* Writes what is left and closes the files; accepts NULL, returns NULL. */
struct folder *folder_free(struct folder *f);
