/*
 * The table of cases for a terminal or a pipe: columns as wide as what stands in them. Sentences
 * stand below it, since a terminal has no room for them beside the figures: why each verdict is
 * what it is, then what else must be known of each case.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/report.h"
#include "results/report_parts.h"
#include "results/show.h"
#include "results/text.h"

enum column {
	CASE,
	VERDICT,
	USEFUL,
	UTILISATION,
	AVAILABILITY,
	P50,
	P99,
	PREDICTED,
	WIRE,
	COLUMNS
};

static const char *const heads[COLUMNS] = {
	"case", "verdict", "useful", "CU", "avail.", "exch. p50", "p99", "predicted", "wire rate"};

/* The same places in a table of fleets. */
static const char *const fleet_heads[COLUMNS] = {"case", "verdict", "goodput", "\xc2\xb1 95 %",
	"p5", "p95", "formula", "uptime", "interruptions"};

struct line {
	char *cells[COLUMNS];
};

static char *wire_cell(const struct record_case *c)
{
	double limit, most = busiest_mean_bps(c, &limit);

	if (isnan(most) || isnan(limit))
		return memory_string(show(QUANTITY_RATE, most).text);
	return memory_format(
		"%s of %s", show(QUANTITY_RATE, most).text, show(QUANTITY_RATE, limit).text);
}

/* Why the verdict is what it is. */
static const char *reason_of(const struct record_case *c)
{
	const char *reason = c->partial || !c->n_reasons ? c->because : c->reasons[0];

	return reason ? reason : "";
}

static struct line make_line(const struct record_case *c)
{
	return (struct line){
		.cells = {
			[CASE] = text_line(*c->name ? c->name : "this run"),
			[VERDICT] = memory_string(c->verdict),
			[USEFUL] = memory_string(show_percent(c->useful_work).text),
			[UTILISATION] = memory_string(show_percent(c->compute_utilisation).text),
			[AVAILABILITY] = memory_string(show_percent(c->availability).text),
			[P50] = memory_string(show(QUANTITY_TIME, c->exchange_p50_s).text),
			[P99] = memory_string(show(QUANTITY_TIME, c->exchange_p99_s).text),
			[PREDICTED] =
				memory_string(show(QUANTITY_TIME, c->exchange_predicted_s).text),
			[WIRE] = wire_cell(c),
		}};
}

static char *percent(double ratio)
{
	return memory_string(show_percent(ratio).text);
}

static struct line make_fleet_line(const struct record_case *c)
{
	static const struct record_fleet none;
	const struct record_fleet *f = c->fleet ? c->fleet : &none;
	bool known = f->goodput.n > 0;

	return (struct line){
		.cells = {
			[CASE] = text_line(*c->name ? c->name : "this run"),
			[VERDICT] = memory_string(c->verdict),
			[USEFUL] = percent(known ? f->goodput.mean : NAN),
			[UTILISATION] =
				known ? memory_format("%.2f", 100 * f->goodput.ci95) : percent(NAN),
			[AVAILABILITY] = percent(known ? f->goodput.p5 : NAN),
			[P50] = percent(known ? f->goodput.p95 : NAN),
			[P99] = percent(known ? f->goodput_predicted : NAN),
			[PREDICTED] = percent(known ? f->uptime.mean : NAN),
			[WIRE] = known ? memory_format("%.0f", f->interruptions) : percent(NAN),
		}};
}

static bool is_number(int column)
{
	return column >= USEFUL;
}

static const char *colour_of(const char *verdict)
{
	if (!strcmp(verdict, "holds"))
		return "\033[32m";
	if (!strcmp(verdict, "fails"))
		return "\033[31m";
	return strcmp(verdict, "none") ? "\033[33m" : "";
}

static void print_cell(FILE *out, const char *text, int width, int column)
{
	int pad = width - text_columns(text);

	if (is_number(column))
		fprintf(out, "%*s%s", pad, "", text);
	else
		fprintf(out, "%s%*s", text, pad, "");
}

static void print_line(FILE *out, const char *const *cells, const int *widths, bool colour)
{
	for (int i = 0; i < COLUMNS; i++) {
		const char *on = colour && i == VERDICT ? colour_of(cells[i]) : "";

		fputs(i ? "  " : "", out);
		fputs(on, out);
		print_cell(out, cells[i], widths[i], i);
		fputs(*on ? "\033[0m" : "", out);
	}
	fputc('\n', out);
}

static void print_sentence(FILE *out, const char *what, const char *name, const char *text)
{
	_free_ char *line = text_line(text), *before = text_line(name);

	fprintf(out, "%s: %s%s%s\n", what, before, *before ? ": " : "", line);
}

static void print_sentences(FILE *out, const struct record *record)
{
	for (size_t k = 0; k < record->n_cases; k++) {
		const struct record_case *c = record->cases[k];

		if (*reason_of(c))
			print_sentence(out, "why", c->name, reason_of(c));
	}
	for (size_t k = 0; k < record->n_cases; k++) {
		const struct record_case *c = record->cases[k];

		for (size_t i = 0; i < c->n_reasons; i++)
			if (strcmp(c->reasons[i], reason_of(c)))
				print_sentence(out, "note", c->name, c->reasons[i]);
		for (size_t i = 0; i < c->n_notes; i++)
			print_sentence(out, "note", c->name, c->notes[i]);
	}
}

void report_table(const struct record *record, FILE *out, bool colour)
{
	_free_ struct line *lines = memory_zero(record->n_cases, sizeof *lines);
	bool fleet = record_is_fleet(record);
	const char *const *names = fleet ? fleet_heads : heads;
	int widths[COLUMNS];

	for (int i = 0; i < COLUMNS; i++)
		widths[i] = text_columns(names[i]);
	for (size_t k = 0; k < record->n_cases; k++) {
		lines[k] = fleet ? make_fleet_line(record->cases[k]) : make_line(record->cases[k]);
		for (int i = 0; i < COLUMNS; i++)
			if (text_columns(lines[k].cells[i]) > widths[i])
				widths[i] = text_columns(lines[k].cells[i]);
	}
	print_line(out, names, widths, false);
	for (size_t k = 0; k < record->n_cases; k++) {
		print_line(out, (const char *const *)lines[k].cells, widths, colour);
		for (int i = 0; i < COLUMNS; i++)
			free(lines[k].cells[i]);
	}
	print_sentences(out, record);
}
