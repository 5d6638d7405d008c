/*
 * The record of a run: everything run.json says, as plain data. The bench fills it, results
 * writes, reads, charts and reports it; it refers to nothing of the bench.
 *
 * Base units. NaN is "unknown" and is written as null.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/state.h"

struct record_participant {
	char *name, *role; /* role: "learner" or "syncer" */
	char *site;	   /* the name of its site; NULL is unknown */
	double ledger_s[STATE_COUNT];
	double wall_s;
	double steps_useful, steps_lost, steps_pending;
};

struct record_wire {
	char *site, *direction;
	double bytes, mean_bps, peak_1s_bps, limit_bps;
	double drop_queue, drop_random, drop_burst, drop_outage; /* segments */
	double packets, segments, queue_high_bytes;
	double lateness_p50_s, lateness_p99_s, lateness_max_s;
};

struct record_fault {
	char *kind, *target; /* "crash", "blackout"; the name of a site or participant */
	double at_s, for_s;
	bool happened; /* false: the run ended before it */
};

struct record_expect {
	char *metric, *op;
	double want, got;
	bool holds;
};

struct record_check {	 /* one thing of one way, as asked and as measured before the run */
	char *from, *to; /* names of sites */
	char *check;	 /* "one_way_delay", "rtt", "loss", "rate_udp", ... */
	char *result;	 /* "holds", "off", "unmeasured" */
	char *why;	 /* "" or why it was not measured */
	double want, got, low, high; /* s, bit/s or a share */
	double min, p99, n;
};

struct record_capture { /* one direction of a captured site */
	char *site, *direction;
	double bytes, relay_bytes; /* on the wire, by the capture and by the relay */
	double packets, kept_packets, kernel_drops;
	bool complete; /* nothing was dropped and the limit was not reached */
};

struct record_set {
	char *key, *value;
};

struct record_assumption { /* a line of the assumptions table: "N", "parameters", "12 B" */
	char *symbol, *meaning, *value;
};

struct record_needed {
	double utilisation, bps, step_s; /* rate needed on the wire; step at which the
					    given rate is enough */
};

/* A figure of a fleet over its seeds. */
struct record_spread {
	double mean, ci95; /* the mean's 95 % interval is mean +- ci95 */
	double p5, p50, p95;
	size_t n;
	double *values; /* in the order of the seeds */
};

/* Where the time of all chips went; ratios, sum to 1. */
struct record_shares {
	double useful, lost, waiting, checkpoint, reconfigure, repair;
};

struct record_fleet {
	double chips, learners, quorum;
	bool elastic;
	struct record_spread goodput, uptime;
	double goodput_predicted, uptime_predicted; /* closed formulas */
	struct record_shares shares;		    /* means over the seeds */
	double interruptions;			    /* of a run, mean */
};

struct record_case {
	char *name;
	size_t n_set;
	struct record_set *set;
	bool valid;
	size_t n_reasons; /* why it is not valid */
	char **reasons;
	size_t n_notes; /* what the reader must know: "no exchange finished in the time" */
	char **notes;
	bool partial; /* cut short by a signal or an error */
	double wall_s;
	double useful_work, compute_utilisation, availability, participation;
	double predicted_utilisation;
	char *strategy;
	size_t n_assumptions;
	struct record_assumption *assumptions;
	size_t n_needed;
	struct record_needed *needed;
	size_t n_participants;
	struct record_participant *participants;
	double exchange_n, exchange_p50_s, exchange_p90_s, exchange_p99_s, exchange_max_s;
	double exchange_predicted_s;
	size_t n_exchanges; /* every exchange time, for the distribution chart */
	double *exchange_s;
	double payload_sent_bytes, payload_expected_bytes, framing_bytes;
	size_t n_wire;
	struct record_wire *wire;
	double idle_rtt_s, idle_rtt_expected_s; /* the pair with the largest difference */
	double lateness_p99_s, relay_cpu, prune_called, retransmits;
	double agents_cpu, softirq, saturated, waited; /* processors; shares of the time */
	double window_limited, buffer_limited; /* TCP between the pair most held up by its ends */
	char *calibration; /* "short", "full", "off", "unavailable"; NULL: there was no link */
	size_t n_checks;
	struct record_check *checks;
	size_t n_captures;
	struct record_capture *captures;
	size_t n_faults;
	struct record_fault *faults;
	size_t n_expect;
	struct record_expect *expect;
	struct record_fleet *fleet; /* NULL: sites with links */
	char *verdict; /* "holds", "fails", "invalid", "partial", "none" (none expected) */
	char *because; /* one sentence for people */
};

struct record {
	char *tool_version, *tool_git;
	char *kernel, *machine; /* NULL, and 0: unknown, or it does not matter (simulated) */
	int cpus, hz;
	size_t argc;
	char **argv;
	uint64_t seed;
	char *engine;
	double dilation;
	char *title, *scenario_path;
	char *started_utc; /* 2026-01-31T12:00:00Z */
	char *resolved;	   /* canonical scenario text of the first case */
	size_t n_cases;
	struct record_case **cases;
};

struct record *record_new(void);
struct record *record_free(struct record *record); /* accepts NULL, returns NULL */

/* Whether it happened in simulated time: nothing in it was measured. */
bool record_simulated(const struct record *record);

/* A new case at the end of the record: every number unknown (NaN), valid, verdict "none". */
struct record_case *record_add_case(struct record *record, const char *name);

/*
 * Append to a case's lists; strings are copied. What is returned has its numbers unknown, for
 * the caller to fill in, and stays in its place only until the next one of its kind is added.
 */
void record_reason(struct record_case *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void record_note(struct record_case *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void record_assume(struct record_case *c, const char *symbol, const char *meaning,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
void record_set_value(struct record_case *c, const char *key, const char *value);
void record_need(struct record_case *c, double utilisation, double bps, double step_s);
void record_exchange(struct record_case *c, double seconds); /* one more in exchange_s */
/* The fleet's figures, all unknown. */
struct record_fleet *record_add_fleet(struct record_case *c);
/* A figure's values, one per seed, and what follows from them. */
void record_spread(struct record_spread *out, const double *values, size_t n);
struct record_participant *record_add_participant(
	struct record_case *c, const char *name, const char *role, const char *site);
struct record_wire *record_add_wire(struct record_case *c, const char *site, const char *direction);
struct record_fault *record_add_fault(struct record_case *c, const char *kind, const char *target);
struct record_check *record_add_check(
	struct record_case *c, const char *from, const char *to, const char *check);
void record_check_result(struct record_check *check, const char *result, const char *why);
struct record_capture *record_add_capture(
	struct record_case *c, const char *site, const char *direction);
struct record_expect *record_add_expect(struct record_case *c, const char *metric, const char *op);

/* Is it of fleets: as far as it came, its cases have no sites. */
bool record_is_fleet(const struct record *record);

/* Sets exchange_n, _p50_s, _p90_s, _p99_s and _max_s from the times in exchange_s. */
void record_exchange_summary(struct record_case *c);

/*
 * run.json, schema "narrowlink/run/1" (docs/results.md). Numbers are written with 15 significant
 * digits, whole ones up to 2^53 exactly. The file is replaced as a whole, or not at all.
 * Errors: STATUS_MACHINE (the disk is full, ...).
 */
int record_write_json(const struct record *record, const char *path, struct error *err);

/*
 * Reads one back: checks every type and count. Errors: STATUS_INPUT with the file and the place
 * in it, "run.json: cases[0].wall_s: expected a number, found a string".
 */
int record_read_json(struct record **out, const char *path, struct error *err);
/* The same from memory; path is for messages. */
int record_parse_json(
	struct record **out, const char *text, size_t length, const char *path, struct error *err);
