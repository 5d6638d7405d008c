/*
 * How far a run is, for the person who waits: on a terminal one line that is rewritten twice a
 * second, elsewhere a plain line every ten seconds, nothing when quiet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *out;
	bool terminal, quiet;
	int64_t printed_ns; /* CLOCK_MONOTONIC of the last line; 0: none yet */
	bool open;	    /* a line without its end stands on the terminal */
};

struct progress_state {
	const char *case_name;
	size_t case_index, n_cases;
	double at_s, expected_s; /* scenario time so far, and in all if nothing breaks */
	double dilation;
	bool simulated;	    /* nobody knows how long the rest takes */
	double useful_work; /* NaN: nothing accounted yet */
	double wire_bps;    /* largest direction over the last second; NaN: no links */
};

void progress_begin(struct progress *p, FILE *out, bool quiet);
/* Before the case's time zero: so many of its pairs are connected. */
void progress_connecting(struct progress *p, const struct progress_state *s, int n_up, int n_pairs);
void progress_update(struct progress *p, const struct progress_state *s);
/* As often, where work is counted: "17 of 48, NAME". */
void progress_count(struct progress *p, size_t done, size_t n, const char *name);
/* A sentence on a line of its own. */
void progress_say(struct progress *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void progress_end(struct progress *p);
