/*
 * Figures others have published, re-entered with their sources, to hold ours against.
 *
 * A table is rows of one number per column. What a row's numbers are for (a job, a measured set
 * up) stands beside them as far as it was published. Only figures; nobody's text.
 */
#pragma once

#include <stddef.h>

#define PUBLISHED_COLUMNS 5

enum published_kind { PUBLISHED_SIMULATION, PUBLISHED_MEASUREMENT };

/* What the numbers of a table are, and so what of ours is held against them. */
enum published_quantity {
	PUBLISHED_RATE,	       /* bit/s that reach the column's compute utilisation */
	PUBLISHED_GOODPUT,     /* share of time, 0..1, with the column's number of chips */
	PUBLISHED_UTILISATION, /* share of time, 0..1; the column is a number */
	PUBLISHED_EXCHANGE,    /* s an exchange takes */
	PUBLISHED_INTERVAL,    /* s from the end of an exchange to the end of the next */
};

/* The published numbers are points of 10^(-1..3) Gbit/s, 50 of them, printed with one decimal. */
#define PUBLISHED_GRID_POINTS 50

/* How a published simulation lays an exchange into the backward pass; see bench/published/ideal.h.
 */
enum published_layout {
	PUBLISHED_EVEN,	   /* each exchange in `buckets` parts, ready evenly over the pass */
	PUBLISHED_STRIDED, /* fragment p of P is layers p, p + P, p + 2P, ... of `buckets` */
};

struct published_job {
	const char *strategy; /* as in a scenario */
	double parameters;
	int bits;			/* per exchanged parameter */
	double step_s, step_rounding_s; /* as printed, and half a unit of its last digit */
	int replicas;
	int period, fragments, overlap; /* H, P, tau */
	int buckets;			/* layers, or what the simulation cuts into */
	enum published_layout layout;
};

/* A row of a goodput table. */
struct published_fleet {
	double mtbi_s; /* mean time between interruptions of one chip */
	int learners;  /* 1: all chips depend on each other */
	int elastic;   /* goes on with what is left, or waits for repair */
};

struct published_row {
	const char *group, *name;	 /* "1B", "data-parallel" */
	struct published_job job;	 /* PUBLISHED_RATE */
	struct published_fleet fleet;	 /* PUBLISHED_GOODPUT */
	const char *scenario;		 /* measurements: the file of scenarios/published/ */
	int first_case;			 /* of it, in the first column; the others follow */
	double value[PUBLISHED_COLUMNS]; /* NaN: not published */
};

struct published_table {
	const char *name; /* on the command line */
	const char *title, *source;
	enum published_kind kind;
	enum published_quantity quantity;
	int on_grid;	    /* numbers are points of the grid above */
	const char *column; /* what the columns are */
	size_t n_columns;
	double columns[PUBLISHED_COLUMNS];
	size_t n_rows;
	const struct published_row *rows;
};

/* NULL past the end; NULL when there is none of this name. */
const struct published_table *published_at(size_t i);
const struct published_table *published_find(const char *name);

/* Grid point i, bit/s. */
double published_grid_bps(int i);
/* Steps from the point nearest to a printed number (by ratio) to point i; 0: the same. */
int published_grid_steps(int i, double printed_bps);
