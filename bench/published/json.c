/* A comparison as JSON; see show.h. */
#include <math.h>

#include "bench/published/show.h"
#include "results/published/words.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *job_json(const struct published_job *job)
{
	return json_pack("{s:s, s:f, s:i, s:f, s:f, s:i, s:i, s:i, s:i, s:i}", "strategy",
		job->strategy, "parameters", job->parameters, "bits", job->bits, "step_s",
		job->step_s, "step_rounding_s", job->step_rounding_s, "replicas", job->replicas,
		"period", job->period, "fragments", job->fragments, "overlap", job->overlap,
		"buckets", job->buckets);
}

static json_t *tcp_json(const struct compared_cell *cell)
{
	json_t *all = json_array();

	for (int i = 0; i < COMPARE_RTTS; i++)
		json_array_append_new(all, json_pack("{s:f, s:o}", "rtt_s", compare_rtt_s[i],
						   "needs", number(cell->tcp[i])));
	return all;
}

static json_t *cell_json(const struct comparison *c, size_t row, size_t column)
{
	const struct compared_cell *cell = comparison_cell(c, row, column);
	json_t *o = json_pack("{s:f, s:o, s:o, s:o}", "column", c->table->columns[column], "theirs",
		number(cell->theirs), "ours", number(cell->ours), "ratio", number(cell->ratio));

	if (c->table->quantity == PUBLISHED_RATE)
		json_object_set_new(o, "exact", number(cell->exact));
	if (c->tcp) {
		json_object_set_new(o, "engine", number(cell->engine));
		json_object_set_new(o, "tcp", tcp_json(cell));
	}
	if (c->table->on_grid) {
		json_object_set_new(o, "steps", json_integer(cell->steps));
		json_object_set_new(o, "low", number(cell->low));
		json_object_set_new(o, "high", number(cell->high));
	}
	return o;
}

static json_t *row_json(const struct comparison *c, size_t row)
{
	const struct published_row *r = &c->table->rows[row];
	json_t *cells = json_array();
	json_t *o = json_pack("{s:s, s:s}", "group", r->group, "name", r->name);

	if (c->table->quantity == PUBLISHED_RATE)
		json_object_set_new(o, "job", job_json(&r->job));
	for (size_t k = 0; k < c->table->n_columns; k++)
		json_array_append_new(cells, cell_json(c, row, k));
	json_object_set_new(o, "cells", cells);
	return o;
}

static json_t *summary_json(const struct comparison *c)
{
	json_t *o = json_pack("{s:i, s:o, s:o}", "cells", c->n_cells, "ratio_low",
		number(c->ratio_low), "ratio_high", number(c->ratio_high));

	if (c->table->on_grid) {
		json_object_set_new(o, "alike", json_integer(c->n_exact));
		json_object_set_new(o, "within_one_step", json_integer(c->n_within));
	}
	return o;
}

json_t *comparison_json(const struct comparison *c)
{
	const struct published_table *t = c->table;
	json_t *rows = json_array();

	for (size_t r = 0; r < t->n_rows; r++)
		json_array_append_new(rows, row_json(c, r));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "name", t->name,
		"title", t->title, "source", t->source, "kind",
		t->kind == PUBLISHED_SIMULATION ? "simulation" : "measurement", "unit",
		published_base_unit(t), "columns", t->column, "how", c->how, "why", c->why, "rows",
		rows, "summary", summary_json(c));
}
