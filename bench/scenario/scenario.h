/*
 * A scenario: what a user's YAML file says, resolved: every quantity in base units, every
 * default filled in, every rule checked. Whatever holds a struct scenario may rely on it.
 *
 * A file with a matrix is several scenarios, one per combination: its cases.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "bench/fault.h"
#include "bench/model/renewal.h"
#include "bench/runtime.h"
#include "emu/link.h"
#include "emu/topology.h"

struct scenario_site {
	char name[SITE_NAME_MAX];
	int link; /* index into links */
	double accelerators;
	double speed;
};

/* Ideal: a link carries its rate in payload and nothing else is in the way. The model's only. */
enum transport_tcp { TRANSPORT_REAL, TRANSPORT_IDEAL };

struct scenario_transport {
	enum transport_tcp tcp;
	int connections; /* k per peer */
	char congestion[16];
	int64_t buffer_bytes; /* per connection, resolved from `auto` (twice the largest BDP) */
	bool buffers_auto;
	bool slow_start_after_idle;
	int64_t silence_ns; /* a peer not heard from for so long is reported as silent */
};

/* How the links are measured before a case; words in root.c. */
enum calibration_form { CALIBRATION_SHORT, CALIBRATION_FULL, CALIBRATION_OFF };

/* Which sites' packets are captured. */
struct scenario_capture {
	bool sites[SITES_MAX];
	int64_t snaplen_bytes; /* kept of each packet */
	int64_t limit_bytes;   /* of all files together; 0: there is no capture */
};

enum expect_op { EXPECT_GE, EXPECT_LE, EXPECT_GT, EXPECT_LT };
enum metric {
	METRIC_USEFUL_WORK,
	METRIC_COMPUTE_UTILISATION,
	METRIC_AVAILABILITY,
	METRIC_WIRE_RATE,    /* bit/s: the largest mean rate of any site's direction */
	METRIC_EXCHANGE_P50, /* s */
	METRIC_EXCHANGE_P99, /* s */
	METRIC_GOODPUT,	     /* of a fleet: means over its seeds */
	METRIC_UPTIME,
	METRIC_COUNT,
};
const char *metric_name(enum metric metric);
const char *expect_op_name(enum expect_op op); /* ">=" ... */

struct expectation {
	enum metric metric;
	enum expect_op op;
	double value; /* base unit: ratio as 0..1, bit/s, s */
};

/* "useful_work >= 90 %". STATUS_INPUT with one sentence, without a position. */
int expectation_parse(struct expectation *out, const char *text, struct error *err);
/* The same as text; returns buf. */
char *expectation_format(char *buf, size_t size, const struct expectation *e);
/* NaN, what is unknown, never holds. */
bool expectation_holds(const struct expectation *e, double got);

struct scenario {
	char *path; /* as given on the command line */
	char *title;
	uint64_t seed;
	struct fleet fleet; /* chips > 0: a fleet; of what is below it has expect and set only */
	double dilation;    /* >= 1 */
	bool dilation_auto; /* the run chooses it, by what the machine carries */
	int n_sites;	    /* those listed, plus the star syncer's own if there is one */
	struct scenario_site sites[SITES_MAX];
	size_t n_links;
	struct link_profile *links; /* owned; names owned */
	struct link_trace **traces; /* owned */
	size_t n_traces;
	int64_t core_delay_ns[SITES_MAX][SITES_MAX];
	const struct strategy *strategy;
	struct job job;
	struct scenario_transport transport;
	int calibration; /* enum calibration_form */
	struct scenario_capture capture;
	int64_t limit_ns; /* the run ends here whatever happens; default in the docs */
	size_t n_faults;
	struct fault_rule *faults;
	size_t n_expect;
	struct expectation *expect;
	/* A case's own matrix values, e.g. {"workload.strategy",
	 * "diloco"}; empty without matrix. */
	size_t n_set;
	struct scenario_set {
		char *key, *value;
	} * set;
	char *case_name; /* "" without matrix, else "diloco, 300 ms" */
};

/* A fleet instead of sites, links and a workload: strategy is NULL. */
bool scenario_is_fleet(const struct scenario *s);

/* All cases of a file. */
struct scenario_file {
	char *path;
	char *text; /* the file as read: copied into the run folder */
	size_t n_cases;
	struct scenario **cases;
};

/*
 * Reads and validates. overrides are "key=value" strings from the command line (may be NULL if
 * n is 0). Every error has file:line:column, the marked line, and what would be right;
 * STATUS_INPUT.
 */
int scenario_load(struct scenario_file **out, const char *path, const char *const *overrides,
	size_t n_overrides, struct error *err);
/* The same from memory; path is for messages and for finding trace files beside it. */
int scenario_load_text(struct scenario_file **out, const char *path, const char *text,
	size_t length, const char *const *overrides, size_t n_overrides, struct error *err);
struct scenario_file *scenario_file_free(struct scenario_file *file); /* accepts NULL */

/* From now on this is the only thing that is expected. */
void scenario_expect(struct scenario *s, const struct expectation *e);

/* Canonical print: every key, base spelling of every unit; loading it gives an equal scenario. */
int scenario_print(const struct scenario *s, FILE *out);
