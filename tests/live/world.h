/*
 * A small world for tests of the live runtime: sites on one bridge (veth, no emulated link), a
 * scenario written by hand, and an observer that keeps what it is told.
 */
#pragma once

#include "bench/ledger.h"
#include "bench/live/live.h"
#include "tests/test.h"

#define WORLD_SITES 8

struct world {
	struct topology *t;
	struct scenario s;
	struct link_profile link;
	int n_sites;
	struct error err;
};

/* What an observer saw. */
struct watch {
	struct ledger ledgers[PARTICIPANTS_MAX];
	int n;
	enum state states[PARTICIPANTS_MAX];
	int downs[PARTICIPANTS_MAX], recovers[PARTICIPANTS_MAX], recovered[PARTICIPANTS_MAX];
	int64_t down_at[PARTICIPANTS_MAX], recover_at[PARTICIPANTS_MAX];
	int64_t recovered_at[PARTICIPANTS_MAX];
	int64_t done_at[PARTICIPANTS_MAX];
	int steps[PARTICIPANTS_MAX];
	int fault_begins, fault_ends;
	int silent[PARTICIPANTS_MAX], heard[PARTICIPANTS_MAX];
	int stills[PARTICIPANTS_MAX];
	int64_t still_ns; /* the longest */
	int absences;
	int64_t absent_ns, absent_until_ns; /* the last */
	int n_up, n_pairs;		    /* as last told before time zero */
	int tcp_samples;
	struct tcp_sample tcp;
	int64_t last_at[PARTICIPANTS_MAX];
	bool out_of_order;
	int ticks;
	int64_t last_tick;
	int (*on_tick)(struct watch *w, int64_t at_ns); /* may be NULL */
	void *context;
	int64_t t0_ns; /* as told to links_start */
};

/* The callbacks of a watch; user is to be set to it. */
extern const struct observer watch_observer;
void watch_begin(struct watch *w, const struct job *job);
void watch_end(struct watch *w, int64_t wall_ns); /* ledgers that are not finished are */

/* Skips the test where sites cannot be made. Isolates the process once, at the first call. */
void world_up(struct world *w, int n_sites, const struct strategy *strategy);
void world_down(struct world *w);

/* live_run with a watch; the ledgers are finished at the end. */
int world_run(struct world *w, const struct fault *faults, size_t n, struct watch *watch,
	struct outcome *result);

/* Runs a command inside a site; asserts that it succeeds. */
void world_site_command(struct world *w, int site, const char *command);

/* The pid of the caller's child with this name (comm); 0 if there is none. */
int world_pid_named(const char *name);
