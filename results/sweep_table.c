/*
 * A sweep's and a seek's results as text: a table for a terminal or a pipe, with the columns that
 * have something in them, and CSV in base units.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/grid.h"
#include "results/show.h"
#include "results/sweep_record.h"
#include "results/text.h"

static const char *colour_of(const char *text)
{
	if (!strcmp(text, "fails") || !strcmp(text, "none"))
		return "\033[31m";
	return strcmp(text, "invalid") && strcmp(text, "partial") ? "" : "\033[33m";
}

/* The metrics that some case knows. */
static size_t list_metrics(const struct sweep_record *s, const char **names)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_cases; i++)
		for (size_t k = 0; k < s->cases[i]->n_metrics; k++) {
			const struct sweep_metric *m = &s->cases[i]->metrics[k];
			size_t at = 0;

			while (at < n && strcmp(names[at], m->name))
				at++;
			if (at == n && n < GRID_COLUMNS_MAX - 4 && !isnan(m->value))
				names[n++] = m->name;
		}
	return n;
}

static bool any_seek(const struct sweep_record *s)
{
	for (size_t i = 0; i < s->n_cases; i++)
		if (s->cases[i]->n_seeks)
			return true;
	return false;
}

static const char *note_of(const struct sweep_case *c)
{
	if (c->because && *c->because)
		return c->because;
	return c->n_notes ? c->notes[0] : "";
}

static void table_of_seeks(const struct sweep_record *s, FILE *out, bool colour)
{
	struct grid g = {.columns = 4};

	g.heads[0] = "case";
	g.heads[1] = s->cases[0]->seeks[0]->key;
	g.heads[2] = "outcome";
	g.heads[3] = "";
	grid_begin(&g, s->n_cases);
	for (size_t i = 0; i < s->n_cases; i++) {
		const struct seek_record *k = s->cases[i]->seeks[0];

		*grid_cell(&g, i, 0) = text_line(s->cases[i]->name);
		*grid_cell(&g, i, 1) = memory_string(k->text ? k->text : "\xe2\x80\x93");
		*grid_cell(&g, i, 2) = memory_string(k->outcome);
		*grid_cell(&g, i, 3) =
			text_line(strcmp(k->outcome, "found") && k->because ? k->because : "");
	}
	grid_print(&g, out, colour ? colour_of : NULL);
}

void sweep_table(const struct sweep_record *s, FILE *out, bool colour)
{
	const char *metrics[GRID_COLUMNS_MAX];
	struct grid g = {0};
	size_t n;

	if (any_seek(s)) {
		table_of_seeks(s, out, colour);
		return;
	}
	n = list_metrics(s, metrics);
	g.columns = n + 3;
	g.heads[0] = "case";
	g.heads[1] = "verdict";
	for (size_t k = 0; k < n; k++)
		g.heads[2 + k] = metrics[k];
	g.heads[n + 2] = "";
	grid_begin(&g, s->n_cases);
	for (size_t i = 0; i < s->n_cases; i++) {
		const struct sweep_case *c = s->cases[i];

		*grid_cell(&g, i, 0) = text_line(*c->name ? c->name : "this scenario");
		*grid_cell(&g, i, 1) = memory_string(c->verdict);
		for (size_t k = 0; k < n; k++)
			*grid_cell(&g, i, 2 + k) = memory_string(
				show_metric(metrics[k], sweep_metric_of(c, metrics[k])).text);
		*grid_cell(&g, i, n + 2) = text_line(note_of(c));
	}
	grid_print(&g, out, colour ? colour_of : NULL);
}

void seek_table(const struct seek_record *seek, FILE *out, bool colour)
{
	struct grid g = {.columns = 3, .heads = {seek->key, seek->metric, ""}};

	grid_begin(&g, seek->n_points);
	for (size_t i = 0; i < seek->n_points; i++) {
		const struct seek_point *p = &seek->points[i];

		*grid_cell(&g, i, 0) = memory_string(p->text);
		*grid_cell(&g, i, 1) = memory_string(show_metric(seek->metric, p->got).text);
		*grid_cell(&g, i, 2) = memory_string(p->holds ? "holds" : "fails");
	}
	grid_print(&g, out, colour ? colour_of : NULL);
}

/* CSV: RFC 4180. */

static void field(FILE *f, const char *text, bool first)
{
	_free_ char *line = text_line(text);

	if (!first)
		fputc(',', f);
	if (!strpbrk(line, ",\"")) {
		fputs(line, f);
		return;
	}
	fputc('"', f);
	for (const char *p = line; *p; p++)
		fprintf(f, *p == '"' ? "\"%c" : "%c", *p);
	fputc('"', f);
}

static void number(FILE *f, double value)
{
	if (isfinite(value))
		fprintf(f, ",%.15g", value);
	else
		fputc(',', f);
}

/* A matrix value: a number in base units where it is one. */
static void set_field(FILE *f, const struct sweep_axis *axis, const struct sweep_case *c)
{
	const char *text = sweep_value(c, axis->key);
	double value = text ? sweep_number(axis->kind, text) : NAN;

	if (isnan(value))
		field(f, text ? text : "", false);
	else
		number(f, value);
}

static void heads(FILE *f, const struct sweep_record *s, const char *const *metrics, size_t n)
{
	fputs("case", f);
	for (size_t i = 0; i < s->n_axes; i++)
		field(f, s->axes[i].key, false);
	fputs(",used_strategy,rtt_s,verdict", f);
	for (size_t i = 0; i < n; i++)
		field(f, metrics[i], false);
	fputs(any_seek(s) ? ",outcome,found,not_enough\n" : "\n", f);
}

char *sweep_csv(const struct sweep_record *s)
{
	const char *metrics[GRID_COLUMNS_MAX];
	size_t n = list_metrics(s, metrics), size;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return memory_string("");
	heads(f, s, metrics, n);
	for (size_t i = 0; i < s->n_cases; i++) {
		const struct sweep_case *c = s->cases[i];

		field(f, c->name, true);
		for (size_t k = 0; k < s->n_axes; k++)
			set_field(f, &s->axes[k], c);
		field(f, c->strategy ? c->strategy : "", false);
		number(f, c->rtt_s);
		field(f, c->verdict, false);
		for (size_t k = 0; k < n; k++)
			number(f, sweep_metric_of(c, metrics[k]));
		if (c->n_seeks) {
			field(f, c->seeks[0]->outcome, false);
			number(f, c->seeks[0]->found);
			number(f, c->seeks[0]->next);
		}
		fputc('\n', f);
	}
	fclose(f);
	return text;
}
