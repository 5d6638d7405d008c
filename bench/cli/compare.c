/* narrowlink compare A B: what changed between two runs, and whether any of it is worse. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "bench/cli/command.h"
#include "bench/cli/run_folder.h"
#include "bench/compare/compare.h"
#include "results/grid.h"
#include "results/show.h"
#include "results/text.h"

static const char compare_help[] =
	"Options:\n"
	"  --points P   shares of time (useful work, utilisation, availability, goodput,\n"
	"               uptime) are worse when they fell by more than P points; default 2\n"
	"  --percent P  times of exchanges are worse when they grew by more than P %; default 5\n"
	"  --json       the comparison as JSON: ratios, bit/s, seconds\n\n"
	"A and B are run folders, whatever engines made them. Prints the settings that differ and\n"
	"every figure side by side. Cases are matched by their names; of two runs with one case "
	"each,\n"
	"those two are compared. How far runs of the same scenario differ by chance depends on "
	"the\n"
	"job: compare two of them before you trust a small change.\n\n"
	"Exit status: 0 nothing is worse; 1 a figure is, a verdict does not hold any more, or a "
	"case\n"
	"is missing; 2 no such run; 4 a case of either was invalid or cut short.\n\n"
	"Examples:\n"
	"  narrowlink compare results/runs/before results/runs/after\n"
	"  narrowlink compare --points 0 --percent 0 model-1 model-2   # simulated time is exact\n"
	"  narrowlink compare A B --json | jq '.figures[] | select(.judged == \"worse\")'\n";

struct arguments {
	struct compare_tolerance tolerance;
	bool json;
	const char *a, *b;
};

static int parse_tolerance(double *out, const char *name, const char *text, struct error *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0) || value > 100)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"--%s %s: a number from 0 to 100, e.g. --%s 2", name, text, name);
	*out = value / 100;
	return 0;
}

static enum exit_status parse(struct arguments *a, int argc, char **argv, struct error *err)
{
	static const struct option options[] = {
		{"points", required_argument, NULL, 'p'},
		{"percent", required_argument, NULL, 'c'},
		{"json", no_argument, NULL, 'j'},
		{0},
	};
	int c, r = 0;

	while (r >= 0 && (c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (c == 'p')
			r = parse_tolerance(&a->tolerance.points, "points", optarg, err);
		else if (c == 'c')
			r = parse_tolerance(&a->tolerance.share, "percent", optarg, err);
		else if (c == 'j')
			a->json = true;
		else
			return command_option(&command_compare, c, argv, err);
	}
	if (r < 0)
		return err->status;
	if (optind != argc - 2)
		return command_usage(&command_compare, err, "give two run folders");
	a->a = argv[optind];
	a->b = argv[optind + 1];
	return STATUS_HOLDS;
}

static void print_run(const char *which, const char *folder, const struct record *r)
{
	_free_ char *title = text_line(r->title ? r->title : ""), *shown = text_line(folder);

	printf("%s: %s\n   %s; engine %s", which, shown, title, r->engine ? r->engine : "unknown");
	if (!isnan(r->dilation) && r->dilation != 1)
		printf(", dilation %g", r->dilation);
	printf(", seed %llu, narrowlink %s\n", (unsigned long long)r->seed,
		r->tool_git ? r->tool_git : r->tool_version);
}

static void print_settings(const struct run_comparison *c)
{
	struct grid g = {.columns = 3, .heads = {"setting", "A", "B"}};

	if (!c->n_settings) {
		puts("\nBoth were told the same.");
		return;
	}
	putchar('\n');
	grid_begin(&g, c->n_settings);
	for (size_t i = 0; i < c->n_settings; i++) {
		const struct compare_setting *s = &c->settings[i];

		*grid_cell(&g, i, 0) = text_line(s->key);
		*grid_cell(&g, i, 1) = text_line(s->a ? s->a : "\xe2\x80\x93");
		*grid_cell(&g, i, 2) = text_line(s->b ? s->b : "\xe2\x80\x93");
	}
	grid_print(&g, stdout, NULL);
}

static char *change_text(const struct compare_figure *f)
{
	bool share = strchr(show_metric(metric_name(f->metric), 0).text, '%');

	if (!isfinite(f->change))
		return memory_string("\xe2\x80\x93");
	return memory_format(share ? "%+.1f points" : "%+.1f %%", 100 * f->change);
}

static const char *colour_of(const char *text)
{
	if (!strcmp(text, "worse"))
		return "\033[31m";
	return strcmp(text, "better") ? "" : "\033[32m";
}

static void print_figures(const struct run_comparison *c)
{
	struct grid g = {.columns = 6, .heads = {"case", "figure", "A", "B", "change", ""}};

	if (!c->n_figures)
		return;
	putchar('\n');
	grid_begin(&g, c->n_figures);
	for (size_t i = 0; i < c->n_figures; i++) {
		const struct compare_figure *f = &c->figures[i];
		const char *metric = metric_name(f->metric);

		*grid_cell(&g, i, 0) = text_line(*f->case_name ? f->case_name : "this run");
		*grid_cell(&g, i, 1) = memory_string(metric);
		*grid_cell(&g, i, 2) = memory_string(show_metric(metric, f->a).text);
		*grid_cell(&g, i, 3) = memory_string(show_metric(metric, f->b).text);
		*grid_cell(&g, i, 4) = change_text(f);
		*grid_cell(&g, i, 5) =
			memory_string(f->judged == JUDGED_SAME ? "" : judgement_name(f->judged));
	}
	grid_print(&g, stdout, terminal_colours(STDOUT_FILENO) ? colour_of : NULL);
}

static void print_notes(const struct run_comparison *c)
{
	if (c->n_notes)
		putchar('\n');
	for (size_t i = 0; i < c->n_notes; i++) {
		_free_ char *line = text_line(c->notes[i]);

		printf("note: %s\n", line);
	}
}

static void print_sum(const struct run_comparison *c, const struct compare_tolerance *t)
{
	size_t worse = 0;

	for (size_t i = 0; i < c->n_figures; i++)
		worse += c->figures[i].judged == JUDGED_WORSE;
	printf("\n%zu of %zu figures worse, by more than %g points or %g %%%s\n", worse,
		c->n_figures, 100 * t->points, 100 * t->share,
		c->invalid ? "; not every case was a valid run" : "");
}

static json_t *run_json(const char *folder, const struct record *r)
{
	return json_pack("{s:s, s:s?, s:s?, s:f, s:I, s:s?}", "folder", folder, "title", r->title,
		"engine", r->engine, "dilation", isnan(r->dilation) ? 1 : r->dilation, "seed",
		(json_int_t)r->seed, "git", r->tool_git);
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void print_json(const struct run_comparison *c, const struct arguments *a,
	const struct record *ra, const struct record *rb)
{
	json_t *settings = json_array(), *figures = json_array(), *notes = json_array(), *all;

	for (size_t i = 0; i < c->n_settings; i++)
		json_array_append_new(
			settings, json_pack("{s:s, s:s?, s:s?}", "key", c->settings[i].key, "a",
					  c->settings[i].a, "b", c->settings[i].b));
	for (size_t i = 0; i < c->n_figures; i++) {
		const struct compare_figure *f = &c->figures[i];

		json_array_append_new(figures,
			json_pack("{s:s, s:s, s:o, s:o, s:o, s:s}", "case", f->case_name, "figure",
				metric_name(f->metric), "a", number(f->a), "b", number(f->b),
				"change", number(f->change), "judged", judgement_name(f->judged)));
	}
	for (size_t i = 0; i < c->n_notes; i++)
		json_array_append_new(notes, json_string(c->notes[i]));
	all = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "schema",
		"narrowlink/compare/1", "a", run_json(a->a, ra), "b", run_json(a->b, rb),
		"settings", settings, "figures", figures, "notes", notes, "worse", c->worse,
		"invalid", c->invalid);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static enum exit_status compare(
	const struct arguments *a, const struct record *ra, const struct record *rb)
{
	struct run_comparison *c = compare_runs(ra, rb, &a->tolerance);
	enum exit_status status = c->invalid ? STATUS_INVALID
				  : c->worse ? STATUS_FAILED
					     : STATUS_HOLDS;

	if (a->json) {
		print_json(c, a, ra, rb);
	} else {
		print_run("A", a->a, ra);
		print_run("B", a->b, rb);
		print_settings(c);
		print_figures(c);
		print_notes(c);
		print_sum(c, &a->tolerance);
	}
	run_comparison_free(c);
	return status;
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	struct arguments a = {.tolerance = {COMPARE_POINTS, COMPARE_SHARE}};
	struct record *ra = NULL, *rb = NULL;
	enum exit_status status = parse(&a, argc, argv, err);

	if (status != STATUS_HOLDS)
		return status;
	if (run_folder_read(&ra, a.a, err) < 0 || run_folder_read(&rb, a.b, err) < 0)
		status = err->status;
	else
		status = compare(&a, ra, rb);
	record_free(ra);
	record_free(rb);
	return status;
}

const struct command command_compare = {
	.name = "compare",
	.arguments = "A B",
	.summary = "What changed between two runs, and is any of it worse",
	.help = compare_help,
	.run = run,
};
