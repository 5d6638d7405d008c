/*
 * A recorded ping trace, read anew and not by the emulator's own reader, and pinged again: probes
 * sent over a link that plays it. What each of them is to meet is the recording's round trip at the
 * moment at which it was really sent, so that one which a busy machine sends late is held against
 * what the link was then.
 */
#pragma once

#include <stdbool.h>

#include "emu/measure/probes.h"
#include "tests/emu/relay/rig.h"

#define ROWS_MAX 100000

struct ping {
	double at_s, rtt_s; /* when it was sent; rtt: NaN for one that was lost */
};

struct pings {
	int n;
	struct ping ping[ROWS_MAX];
};

/* Columns timestamp, `relative` (s) and `rtt` (ms); 0, or -1 if there are less than 100 rows. */
int recording_read(const char *path, struct pings *heard);
double pings_spacing(const struct pings *p); /* median */
/* A part of it, in [from, until) of its time, as a file in the same form; -1: not written. */
int recording_cut(const struct pings *heard, double from_s, double until_s, const char *path);
/* With the lost ones, evenly where they are missing. */
void recording_fill(const struct pings *heard, double gap_s, struct pings *out);
/* The round trip of one that is sent at at_s: between two that were heard straight from one to the
 * other. */
double recording_rtt(const struct pings *heard, double at_s);

double pings_quantile(const struct pings *p, double q); /* of the round trips that there were */
int pings_lost(const struct pings *p);

/* A link that plays a file, k times slower. */
struct player {
	struct rig rig;
	struct link_trace *trace;
	double dilation;
	int64_t t0_ns;
	int n;
	struct probes probes[2];
};

/* Raises the links, and begins in half a second; ends the program when it cannot. */
void player_up(struct player *p, const char *path, double dilation);
void player_ping(struct player *p, const struct pings *sent);
/* When each was really sent, and its round trip; of the pings in the order in which they began. */
void player_result(struct player *p, int ping, struct pings *out);
void player_down(struct player *p);
