/*
 * A run folder: results/runs/<UTC time>-<scenario>-<id>/, never overwritten. It is created at
 * the start, fed while the run goes on, and readable at any moment: samples.csv and events.csv
 * grow by whole lines, run.json is replaced as a whole.
 *
 * A full disk: the first failed write is kept as the folder's error, later writes do nothing, and
 * what was written stays readable (a torn last line is cut off).
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "results/record.h"

struct folder;

/*
 * Creates the folder: `out` names it (it must not exist, or be empty), NULL chooses
 * results/runs/<UTC time>-<name>-<id>/ below the working directory.
 */
int folder_create(struct folder **out, const char *dir, const char *name, struct error *err);
const char *folder_path(const struct folder *f);

/* A file with this content, e.g. scenario.yaml. */
int folder_put(struct folder *f, const char *file, const char *text, struct error *err);

/*
 * samples.csv: case,t_s,site,direction,wire_bps,queue_bytes... one row per link direction and
 * tick; tcp.csv: case,t_s,participant,peer,rtt_s,min_rtt_s,cwnd_segments,retransmits,delivery_bps;
 * events.csv: case,t_s,participant,event,a,b,c,amount (states as event "state:compute").
 */
struct folder_sample {
	int case_index;
	double t_s;
	const char *site, *direction;
	double wire_bps, limit_bps, delivered_bps, drop_segments, delay_s;
	int down;
};
struct folder_tcp {
	int case_index;
	double t_s;
	const char *participant, *peer;
	double rtt_s, min_rtt_s, cwnd_segments, retransmits, delivery_bps;
};
struct folder_event {
	int case_index;
	double t_s;
	const char *participant, *event; /* participant may be a site's name, for a blackout */
	double a, b, c, amount;          /* NaN: empty */
};
void folder_sample(struct folder *f, const struct folder_sample *s);
void folder_tcp(struct folder *f, const struct folder_tcp *s);
void folder_event(struct folder *f, const struct folder_event *e);

/* Flushes, writes run.json. Returns the first error of any write since the last call. */
int folder_flush(struct folder *f, const struct record *record, struct error *err);
/* Closes the files. */
struct folder *folder_free(struct folder *f);
