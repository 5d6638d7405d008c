/*
 * A published table beside ours; see compare.h. The table of methods says which computation
 * belongs to which table, and what is known of what differs.
 */
#include "bench/published/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/published/goodput.h"
#include "bench/published/ideal.h"
#include "bench/published/simulate.h"

const double compare_rtt_s[COMPARE_RTTS] = {.03, .1, .6};

struct method {
	const char *table, *how, *why;
};

static const struct method methods[] = {
	{"web-simulator",
		"the same closed form: 128 buckets, ready evenly over the backward pass, sent one "
		"after another over an ideal link",
		"What is left is the rounding of the published figures."},
	{"streaming-diloco",
		"the closed form with a bucket per layer and strided fragments; printed is, as "
		"there, the largest of 50 points from 0.1 to 1000 Gbit/s at which utilisation is "
		"still below the target",
		"The paper's simulator is not public; this is a reconstruction. Its step times are "
		"printed with one digit: 0.1 s stands for anything from 0.05 to 0.15."},
	{"scaling-laws", "as streaming-diloco: a bucket per layer, the same grid",
		"The 10B model has the printed inputs of Streaming DiLoCo's Table 4 (10B, 48 "
		"layers, "
		"0.8 s) and up to two steps other results there, so what is printed is not all "
		"that "
		"went in. Ours are mostly a step higher: as if the steps were longer, or the "
		"payload less, by about a tenth."},
	{"decoupled-goodput",
		"1/(1 + n/M / MTBI * D), with one D for each family of rows: 75 s where everybody "
		"waits for the repair, 22 s where the rest goes on",
		"The paper's repair times are not public; D is a setting, and no single one fits "
		"every column: theirs is lower for small fleets and higher for large ones than "
		"any repair of one length gives."},
	{"diloco-measured",
		"scenarios/published/diloco-measured.yaml in simulated time: TCP, a ring",
		"Theirs is higher at small H. The published exchange of 1.51 s at 1 Gbit/s and "
		"step of "
		"25.25 ms would give 1.65 % for H = 1, less than the published 1.74 %, so that "
		"what "
		"the two tables call an exchange or a step is not quite the same; and ours takes "
		"longer for the exchange (diloco-measured-sync)."},
	{"diloco-measured-sync",
		"scenarios/published/diloco-measured-sync.yaml in simulated time: TCP, a ring",
		"1.5 times 123 MB take 1.48 s at 1 Gbit/s, 1.55 s with headers. The rest is each "
		"stage's start: a burst on a connection that was idle. A token bucket also lets a "
		"burst through above its rate, which a link does not. The hosts' round trip is not "
		"published and is taken as 0.4 ms."},
	{"ft-diloco", "scenarios/published/ft-diloco.yaml in simulated time: a step, an exchange",
		"Theirs takes two to four seconds longer at either rate, so most of it is not the "
		"link but something that does not depend on it: Gloo, copies and the outer "
		"optimiser "
		"on the replicas' CPUs are what lies between."},
	{"intellect-1",
		"scenarios/published/intellect-1.yaml in simulated time: 14 nodes at 1 Gbit/s, "
		"only "
		"the distance grows",
		"What the nodes' links carried is not published. In the USA they must have had "
		"more "
		"than 1 Gbit/s; with Europe and Asia the slowest link of the ring decides, which "
		"is "
		"slower than 1 Gbit/s."},
	{"intellect-1-utilisation", "the same scenario: 2280 s of steps, then the exchange",
		"As for intellect-1: the exchange's time decides, 2280 / (2280 + exchange)."},
};

static const struct method *method_of(const struct published_table *table)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (!strcmp(methods[i].table, table->name))
			return &methods[i];
	return NULL;
}

static double as_printed(
	const struct published_table *t, const struct published_job *job, double cu)
{
	int point;

	if (!t->on_grid)
		return ideal_rate_bps(job, cu);
	point = ideal_grid_point(job, cu);
	return point < 0 ? 0 : published_grid_bps(point);
}

static void compare_rate(struct compared_cell *cell, const struct published_table *t,
	const struct published_job *job, double cu)
{
	struct published_job longer = *job, shorter = *job;

	longer.step_s += job->step_rounding_s;
	shorter.step_s -= job->step_rounding_s;
	cell->exact = ideal_rate_bps(job, cu);
	cell->ours = as_printed(t, job, cu);
	cell->low = as_printed(t, &longer, cu);
	cell->high = as_printed(t, &shorter, cu);
	if (t->on_grid)
		cell->steps = published_grid_steps(ideal_grid_point(job, cu), cell->theirs);
}

/* Columns rise: where a rate was not enough for the one before, none is for this. */
static int ask_strategies(struct compared_cell *cell, const struct published_job *job, double cu,
	const struct compared_cell *before, struct error *err)
{
	int r = simulate_rate(&cell->engine, job, cu, cell->exact, SIMULATE_IDEAL, err);

	for (int i = 0; !r && i < COMPARE_RTTS; i++)
		if (!before || !isnan(before->tcp[i]))
			r = simulate_rate(
				&cell->tcp[i], job, cu, cell->exact, compare_rtt_s[i], err);
	return r;
}

static int compare_cell(struct comparison *c, size_t row, size_t column, struct error *err)
{
	const struct published_table *t = c->table;
	const struct published_row *r = &t->rows[row];
	struct compared_cell *cell = &c->cells[row * t->n_columns + column];
	int result = 0;

	*cell = (struct compared_cell){.theirs = r->value[column],
		.exact = NAN,
		.low = NAN,
		.high = NAN,
		.engine = NAN,
		.tcp = {NAN, NAN, NAN}};
	if (t->quantity == PUBLISHED_RATE)
		compare_rate(cell, t, &r->job, t->columns[column]);
	else if (t->quantity == PUBLISHED_GOODPUT)
		cell->ours = goodput(&r->fleet, t->columns[column]);
	else
		result = simulate_measured(
			&cell->ours, t, r->scenario, r->first_case + (int)column, err);
	cell->ratio = cell->ours / cell->theirs;
	if (c->tcp)
		result = ask_strategies(
			cell, &r->job, t->columns[column], column ? cell - 1 : NULL, err);
	return result;
}

static void sum_up(struct comparison *c)
{
	c->ratio_low = INFINITY;
	c->ratio_high = 0;
	c->n_cells = (int)(c->table->n_rows * c->table->n_columns);
	for (int i = 0; i < c->n_cells; i++) {
		const struct compared_cell *cell = &c->cells[i];

		c->n_exact += cell->steps == 0;
		c->n_within += abs(cell->steps) <= 1;
		c->ratio_low = fmin(c->ratio_low, cell->ratio);
		c->ratio_high = fmax(c->ratio_high, cell->ratio);
		c->most_off = fmax(c->most_off, fabs(cell->ours - cell->theirs));
	}
}

int compare_table(
	struct comparison **out, const struct published_table *table, bool tcp, struct error *err)
{
	const struct method *method = method_of(table);
	struct comparison *c = memory_zero(1, sizeof *c);
	int r = 0;

	*c = (struct comparison){.table = table,
		.how = method->how,
		.why = method->why,
		.tcp = tcp && table->quantity == PUBLISHED_RATE};
	c->cells = memory_zero(table->n_rows * table->n_columns, sizeof *c->cells);
	for (size_t i = 0; !r && i < table->n_rows; i++)
		for (size_t k = 0; !r && k < table->n_columns; k++)
			r = compare_cell(c, i, k, err);
	if (r) {
		comparison_free(c);
		return r;
	}
	sum_up(c);
	*out = c;
	return 0;
}

struct comparison *comparison_free(struct comparison *c)
{
	if (c) {
		free(c->cells);
		free(c);
	}
	return NULL;
}

const struct compared_cell *comparison_cell(const struct comparison *c, size_t row, size_t column)
{
	return &c->cells[row * c->table->n_columns + column];
}
