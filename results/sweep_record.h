/*
 * What a seek found and what a sweep's cases gave, as plain data: filled by the bench, written,
 * read, tabled and drawn here. Base units; NaN is unknown and is written as null.
 *
 * Files hold nothing that differs between two runs of the same: no time, no machine, no process.
 * Whoever writes them writes the same bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "results/record.h"

struct sweep_metric {
	char *name;
	double value;
};

struct seek_point {
	char *text; /* as written: "0.917 Gbit/s" */
	double value, got;
	bool holds;
};

/* The model beside real packets, at one value. */
struct seek_check {
	char *text, *verdict, *folder; /* of the run */
	double value, model, packets;
	double least, greatest; /* the model's, over seeds: how far one run may be from another */
	double dilation;	/* of the run, and of TCP in the model */
	bool agrees;
};

struct seek_record {
	char *key, *kind; /* "links.wan.rate", "rate" */
	char *condition;  /* "useful_work >= 90 %" */
	char *metric, *op;
	double want;
	bool largest;
	double low, high, tolerance;
	char *outcome;	    /* "found", "bound" (the bound itself is enough), "none" */
	char *text;	    /* found, as written; NULL: none */
	double found, next; /* next: the nearest value known not to be enough */
	char *because;	    /* one sentence for people */
	size_t n_notes;
	char **notes;
	size_t n_points;
	struct seek_point *points; /* in order of value */
	size_t n_checks;
	struct seek_check *checks;
};

struct sweep_case {
	char *name;
	size_t n_set;
	struct record_set *set;
	char *strategy;
	double rtt_s; /* longest idle round trip of two sites */
	char *id;     /* of what was computed: equal cases have equal ids */
	char *verdict, *because;
	size_t n_notes;
	char **notes;
	size_t n_metrics;
	struct sweep_metric *metrics;
	size_t n_seeks; /* 1 in a sweep that seeks, else 0 */
	struct seek_record **seeks;
};

struct sweep_axis {
	char *key, *kind; /* kind: as numeric_kind_name, or "word" */
};

struct sweep_record {
	char *tool_version, *tool_git;
	char *title, *scenario_path;
	size_t n_axes;
	struct sweep_axis *axes; /* the keys of the matrix */
	size_t n_notes;
	char **notes;
	size_t n_cases;
	struct sweep_case **cases;
};

struct seek_record *seek_record_new(void);
struct seek_record *seek_record_free(struct seek_record *seek); /* accepts NULL, returns NULL */
struct sweep_case *sweep_case_new(void);
struct sweep_case *sweep_case_free(struct sweep_case *c);
struct sweep_record *sweep_record_new(void);
struct sweep_record *sweep_record_free(struct sweep_record *sweep);

/* Strings are copied. What is returned stays in its place until the next one is added. */
struct seek_point *seek_add_point(struct seek_record *seek, double value, const char *text);
struct seek_check *seek_add_check(struct seek_record *seek, double value, const char *text);
void seek_note(struct seek_record *seek, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sweep_add_metric(struct sweep_case *c, const char *name, double value);
void sweep_add_axis(struct sweep_record *sweep, const char *key, const char *kind);
void sweep_set_value(struct sweep_case *c, const char *key, const char *value);
void sweep_case_note(struct sweep_case *c, const char *text);
void sweep_note(struct sweep_record *sweep, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sweep_add_case(struct sweep_record *sweep, struct sweep_case *c); /* takes it */

const char *sweep_value(const struct sweep_case *c, const char *key); /* NULL: not varied */
double sweep_metric_of(const struct sweep_case *c, const char *name); /* NaN: not there */
/* A matrix value as a number in base units; NaN if it is none. */
double sweep_number(const char *kind, const char *text);

/* Schemas "narrowlink/seek/1", "narrowlink/sweep/1": the text of the file, the caller's to free. */
int seek_record_json(char **out, const struct seek_record *seek, struct error *err);
int sweep_record_json(char **out, const struct sweep_record *sweep, struct error *err);
/*
 * A finished case, "narrowlink/sweep-case/1": without its name and matrix values, which are the
 * scenario's. Reading: -ENOENT without an error when there is no such file; STATUS_INPUT when it
 * is not one.
 */
int sweep_case_write(const struct sweep_case *c, const char *path, struct error *err);
int sweep_case_read(struct sweep_case **out, const char *path, struct error *err);

/* Tables: a row per case or point. The CSV is the caller's to free. */
char *sweep_csv(const struct sweep_record *sweep);
void sweep_table(const struct sweep_record *sweep, FILE *out, bool colour);
void seek_table(const struct seek_record *seek, FILE *out, bool colour);
