/*
 * The sections of a scenario that are more than a table of keys. Each has its parse, which the
 * root table calls in order, and its print.
 */
#pragma once

#include "bench/scenario/keys.h"

/* Groups of keys, by what a strategy has a use for. */
enum use {
	USE_BITS = 1 << 0,	/* workload.bits, checkpoint: gradients every step */
	USE_OUTER = 1 << 1,	/* outer.period, outer.bits */
	USE_FRAGMENTS = 1 << 2, /* outer.fragments, outer.overlap */
	USE_SYNCER = 1 << 3,	/* outer.syncer, quorum, grace, late; tokens */
	USE_BUCKETS = 1 << 4,	/* workload.buckets: sent during the backward pass */
	USE_SITES = 1 << 5,	/* sites with links and a workload ... */
	USE_FLEET = 1 << 6,	/* ... or a fleet */
	USE_ELASTIC = 1 << 7,	/* fleet.replica, scale_down, scale_up */
};

/* What the language has to know about a strategy: the keys it uses, and its defaults. */
struct traits {
	const struct strategy *strategy;
	unsigned uses;
	int bits;
	int64_t period;
	int fragments, overlap, buckets;
};
const struct traits *traits_of(const struct strategy *strategy);

extern const struct key root_keys[];
extern const struct key workload_keys[], core_keys[];
extern const struct key count_keys[], site_keys[]; /* of sites alike, and of one listed */

int links_parse(struct loader *l, const struct node *value, void *scenario);
void links_print(struct printer *p, const struct key *key, const void *scenario);
/* Index of the link a text names, taken over from the catalogue if need be. */
int links_find(struct loader *l, const struct node *value, int *out);
struct link_profile *links_free(struct link_profile *links, size_t n); /* returns NULL */
void links_describe(FILE *out);

int sites_parse(struct loader *l, const struct node *value, void *scenario);
void sites_print(struct printer *p, const struct key *key, const void *scenario);
int core_parse(struct loader *l, const struct node *value, void *scenario);
void core_print(struct printer *p, const struct key *key, const void *scenario);
/* Appends the star syncer's own site. */
int sites_add_syncer(struct loader *l);
int sites_find(const struct scenario *s, const char *name); /* -1 if there is none */

int workload_parse(struct loader *l, const struct node *value, void *scenario);
void workload_print(struct printer *p, const struct key *key, const void *scenario);

/* Refuses a file that is neither a fleet nor sites with a workload, or both. */
int fleet_or_sites(struct loader *l);
int fleet_resolve(struct loader *l);
unsigned fleet_uses(const struct scenario *s);
extern const struct key fleet_keys[];

int faults_parse(struct loader *l, const struct node *value, void *scenario);
void faults_print(struct printer *p, const struct key *key, const void *scenario);
int capture_parse(struct loader *l, const struct node *value, void *scenario);
void capture_print(struct printer *p, const struct key *key, const void *scenario);
void capture_describe(FILE *out);
int expect_parse(struct loader *l, const struct node *value, void *scenario);
void expect_print(struct printer *p, const struct key *key, const void *scenario);

/* Rules between keys, and what follows from the rest: buffers, limit. */
int scenario_resolve(struct loader *l);

/* What a site sends to another: the largest rate at any time, and the largest one-way delay. */
int64_t path_rate_bps(const struct scenario *s, int from, int to);
int64_t path_delay_ns(const struct scenario *s, int from, int to);

/*
 * Every key as a row of a Markdown table: name, default, example, help. They are the
 * reference in docs/scenario.md, and a test holds it against them.
 */
void keys_describe(FILE *out, const char *prefix, const struct key *table);
void links_describe(FILE *out);
void sites_describe(FILE *out);
void workload_describe(FILE *out);
void faults_describe(FILE *out);
void expect_describe(FILE *out);
