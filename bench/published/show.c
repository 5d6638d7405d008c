/*
 * A comparison as text: for each published row theirs, ours and the ratio under each other, then
 * what that comes to, how ours was made and what is known of the differences.
 */
#include "bench/published/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "results/published/words.h"

#define NAME_WIDTH 28
#define WIDTH 10
#define LINE 96

static const char strategies_text[] = "the least rate at which this program's strategies reach the "
				      "utilisation in simulated time: "
				      "over an ideal link without delay, and over real TCP (the "
				      "default transport: 4 connections, "
				      "cubic, buffers of twice the bandwidth-delay product up to 1 "
				      "GiB, a queue of 50 ms) with this "
				      "round trip. A dash: a hundred times the ideal rate is not "
				      "enough, since the exchange waits "
				      "for round trips, or for windows that end at 1 GiB.";

static void print_words(const char *label, const char *text, FILE *out)
{
	int at = fprintf(out, "  %s: ", label);

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (at + n > LINE)
			at = fprintf(out, "\n    ") - 1;
		at += fprintf(out, "%.*s%s", n, text, text[n] ? " " : "");
		text += n + (text[n] == ' ');
	}
	fputc('\n', out);
}

static void print_header(const struct published_table *t, FILE *out)
{
	fprintf(out, "%s: %s\n", t->name, t->title);
	print_words(t->kind == PUBLISHED_SIMULATION ? "simulated" : "measured", t->source, out);
	fprintf(out, "\n  %-*s", NAME_WIDTH, published_unit(t));
	for (size_t c = 0; c < t->n_columns; c++)
		fprintf(out, "%*s", WIDTH, published_column(t, c).text);
	fputc('\n', out);
}

static void print_line(const char *label, const struct comparison *c, size_t row,
	double (*pick)(const struct compared_cell *cell), FILE *out)
{
	fprintf(out, "    %-*s", NAME_WIDTH - 2, label);
	for (size_t k = 0; k < c->table->n_columns; k++)
		fprintf(out, "%*s", WIDTH,
			published_number(c->table, pick(comparison_cell(c, row, k))).text);
	fputc('\n', out);
}

static double pick_theirs(const struct compared_cell *cell)
{
	return cell->theirs;
}

static double pick_ours(const struct compared_cell *cell)
{
	return cell->ours;
}

static void print_ratios(const struct comparison *c, size_t row, FILE *out)
{
	fprintf(out, "    %-*s", NAME_WIDTH - 2, "ratio");
	for (size_t k = 0; k < c->table->n_columns; k++)
		fprintf(out, "%*.3f", WIDTH, comparison_cell(c, row, k)->ratio);
	fputc('\n', out);
}

static double pick_engine(const struct compared_cell *cell)
{
	return cell->engine;
}

static double pick_tcp_0(const struct compared_cell *cell)
{
	return cell->tcp[0];
}

static double pick_tcp_1(const struct compared_cell *cell)
{
	return cell->tcp[1];
}

static double pick_tcp_2(const struct compared_cell *cell)
{
	return cell->tcp[2];
}

static double pick_exact(const struct compared_cell *cell)
{
	return cell->exact;
}

static void print_needs(const struct comparison *c, size_t row, FILE *out)
{
	if (c->table->on_grid)
		print_line("ours, not on the grid", c, row, pick_exact, out);
	print_line("strategies, ideal link", c, row, pick_engine, out);
	print_line("strategies, TCP at 30 ms", c, row, pick_tcp_0, out);
	print_line("strategies, TCP at 100 ms", c, row, pick_tcp_1, out);
	print_line("strategies, TCP at 600 ms", c, row, pick_tcp_2, out);
}

static void print_rows(const struct comparison *c, FILE *out)
{
	for (size_t r = 0; r < c->table->n_rows; r++) {
		fprintf(out, "  %s, %s\n", c->table->rows[r].group, c->table->rows[r].name);
		print_line("theirs", c, r, pick_theirs, out);
		print_line("ours", c, r, pick_ours, out);
		print_ratios(c, r, out);
		if (c->tcp)
			print_needs(c, r, out);
	}
}

/* The cells that are further away, with what the rounding of the inputs alone could do. */
static void print_far(const struct comparison *c, FILE *out)
{
	const struct published_table *t = c->table;

	for (int i = 0; i < c->n_cells; i++) {
		const struct compared_cell *cell = &c->cells[i];
		const struct published_row *row = &t->rows[i / (int)t->n_columns];

		if (abs(cell->steps) > 1)
			fprintf(out,
				"    %s, %s at %s: %+d steps; %s to %s with any step time that is "
				"printed %g s\n",
				row->group, row->name,
				published_column(t, (size_t)i % t->n_columns).text, cell->steps,
				published_number(t, cell->low).text,
				published_number(t, cell->high).text, row->job.step_s);
	}
}

static void print_sum(const struct comparison *c, FILE *out)
{
	fprintf(out, "\n  %d cells, ratios %.3f to %.3f", c->n_cells, c->ratio_low, c->ratio_high);
	if (c->table->on_grid)
		fprintf(out, "; on their grid (x1.207) %d alike, %d within one step", c->n_exact,
			c->n_within);
	else if (c->table->quantity == PUBLISHED_GOODPUT ||
		 c->table->quantity == PUBLISHED_UTILISATION)
		fprintf(out, "; at most %.1f points apart", 100 * c->most_off);
	fputc('\n', out);
	if (c->table->on_grid)
		print_far(c, out);
}

void comparison_print(const struct comparison *c, FILE *out)
{
	print_header(c->table, out);
	print_rows(c, out);
	print_sum(c, out);
	print_words("ours", c->how, out);
	print_words("differences", c->why, out);
	if (c->tcp)
		print_words("strategies", strategies_text, out);
	fputc('\n', out);
}
