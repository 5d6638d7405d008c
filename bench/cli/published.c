/* narrowlink published: figures others have published, beside ours. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/cli/command.h"
#include "bench/published/compare.h"
#include "bench/published/show.h"
#include "results/folder.h"
#include "results/published/chart.h"

#define TABLES_MAX 32

static const char published_help[] =
	"Options:\n"
	"  --tcp              also what the strategies need in simulated time, over an ideal link\n"
	"                     and over real TCP at 30, 100 and 600 ms; takes a minute or two\n"
	"  --list             name the tables and their sources, and compute nothing\n"
	"  --json             as JSON, in base units\n"
	"  --out DIR          also put a chart of each table, and published.json, into DIR\n\n"
	"Without a table: all of them. Differences are shown, explained as far as they are known,\n"
	"and never an error: the exit status is 0 when everything was computed.\n\n"
	"Examples:\n"
	"  narrowlink published\n"
	"  narrowlink published --list\n"
	"  narrowlink published streaming-diloco --tcp --out results/published-charts\n"
	"  narrowlink published --json | jq '.tables[].summary'\n";

struct arguments {
	const struct published_table *tables[TABLES_MAX];
	size_t n;
	bool list, json, tcp;
	const char *out;
};

static enum exit_status unknown_table(const char *name, struct error *err)
{
	char all[1024] = "";
	const struct published_table *t;

	for (size_t i = 0; (t = published_at(i)); i++) {
		strncat(all, i ? ", " : "", sizeof all - strlen(all) - 1);
		strncat(all, t->name, sizeof all - strlen(all) - 1);
	}
	error_set(err, -EINVAL, STATUS_INPUT, "there is no published table \"%.64s\"; there are %s",
		name, all);
	return STATUS_INPUT;
}

static enum exit_status take_tables(struct arguments *a, int n, char **names, struct error *err)
{
	const struct published_table *t;

	for (size_t i = 0; !n && (t = published_at(i)); i++)
		a->tables[a->n++] = t;
	for (int i = 0; i < n; i++) {
		t = published_find(names[i]);
		if (!t)
			return unknown_table(names[i], err);
		if (a->n == TABLES_MAX)
			return command_usage(&command_published, err, "too many tables");
		a->tables[a->n++] = t;
	}
	return STATUS_HOLDS;
}

static enum exit_status parse(struct arguments *a, int argc, char **argv, struct error *err)
{
	static const struct option options[] = {
		{"list", no_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},
		{"tcp", no_argument, NULL, 't'},
		{"out", required_argument, NULL, 'o'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (c == 'l')
			a->list = true;
		else if (c == 'j')
			a->json = true;
		else if (c == 't')
			a->tcp = true;
		else if (c == 'o')
			a->out = optarg;
		else
			return command_option(&command_published, c, argv, err);
	}
	return take_tables(a, argc - optind, argv + optind, err);
}

static void list(const struct arguments *a)
{
	json_t *all = json_array();

	for (size_t i = 0; i < a->n; i++) {
		const struct published_table *t = a->tables[i];

		if (a->json)
			json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "name", t->name,
							   "title", t->title, "source", t->source));
		else
			printf("%-24s %s\n%-24s source: %s\n", t->name, t->title, "", t->source);
	}
	if (a->json) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(all);
}

/* Theirs and ours, and with --tcp what the strategies need. */
static int draw(const struct comparison *c, const char *dir, struct error *err)
{
	static const char *const labels[] = {
		"ours", "strategies, ideal link", "TCP at 30 ms", "TCP at 100 ms", "TCP at 600 ms"};
	size_t n_series = c->tcp ? 2 + COMPARE_RTTS : 1, n = (size_t)c->n_cells;
	_free_ double *values = memory_zero(n_series * n, sizeof *values);
	struct published_series series[PUBLISHED_SERIES];

	for (size_t s = 0; s < n_series; s++) {
		series[s] = (struct published_series){labels[s], values + s * n};
		for (size_t i = 0; i < n; i++)
			values[s * n + i] = s == 0   ? c->cells[i].ours
					    : s == 1 ? c->cells[i].engine
						     : c->cells[i].tcp[s - 2];
	}
	return published_chart(c->table, series, n_series, dir, err);
}

static int write_json(json_t *all, const char *dir, struct error *err)
{
	_free_ char *path = memory_format("%s/published.json", dir);

	if (json_dump_file(all, path, JSON_INDENT(2)))
		return error_sys(err, -errno, "cannot write %s", path);
	return 0;
}

static int compare_all(const struct arguments *a, json_t *all, struct error *err)
{
	json_t *tables = json_object_get(all, "tables");
	int r = 0;

	for (size_t i = 0; !r && i < a->n; i++) {
		struct comparison *c = NULL;

		r = compare_table(&c, a->tables[i], a->tcp, err);
		if (!r) {
			json_array_append_new(tables, comparison_json(c));
			if (!a->json)
				comparison_print(c, stdout);
		}
		if (!r && a->out)
			r = draw(c, a->out, err);
		comparison_free(c);
	}
	return r;
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	struct arguments a = {0};
	enum exit_status status = parse(&a, argc, argv, err);
	json_t *all;
	int r = 0;

	if (status != STATUS_HOLDS)
		return status;
	if (a.list) {
		list(&a);
		return STATUS_HOLDS;
	}
	all = json_pack("{s:s, s:[]}", "schema", "narrowlink/published/1", "tables");
	if (a.out)
		r = folder_make(a.out, err);
	if (!r)
		r = compare_all(&a, all, err);
	if (!r && a.json) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	if (!r && a.out)
		r = write_json(all, a.out, err);
	if (!r && a.out && !a.json)
		printf("charts: %s/*.svg\n", a.out);
	json_decref(all);
	return r ? err->status : STATUS_HOLDS;
}

const struct command command_published = {
	.name = "published",
	.arguments = "[TABLE...]",
	.summary = "Hold figures others have published against ours",
	.help = published_help,
	.run = run,
};
