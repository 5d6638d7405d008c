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

static void compare_cell(struct comparison *c, size_t row, size_t column)
{
	const struct published_table *t = c->table;
	const struct published_row *r = &t->rows[row];
	struct compared_cell *cell = &c->cells[row * t->n_columns + column];

	cell->theirs = r->value[column];
	cell->exact = cell->low = cell->high = NAN;
	if (t->quantity == PUBLISHED_RATE)
		compare_rate(cell, t, &r->job, t->columns[column]);
	else
		cell->ours = goodput(&r->fleet, t->columns[column]);
	cell->ratio = cell->ours / cell->theirs;
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

int compare_table(struct comparison **out, const struct published_table *table, struct error *err)
{
	const struct method *method = method_of(table);
	struct comparison *c = memory_zero(1, sizeof *c);

	*c = (struct comparison){.table = table, .how = method->how, .why = method->why};
	c->cells = memory_zero(table->n_rows * table->n_columns, sizeof *c->cells);
	for (size_t r = 0; r < table->n_rows; r++)
		for (size_t k = 0; k < table->n_columns; k++)
			compare_cell(c, r, k);
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
