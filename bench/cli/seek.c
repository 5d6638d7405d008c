/* narrowlink seek FILE: how much of something a job needs, by the model. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "bench/cli/command.h"
#include "bench/cli/seek_options.h"
#include "bench/cli/simulate.h"
#include "bench/seek/confirm.h"
#include "results/chart_sweep.h"
#include "results/file_put.h"
#include "results/show.h"

static const char seek_help[] =
	"Options:\n" SEEK_OPTIONS_HELP
	"  --confirm          run the value found, and those 5 % either side, on real packets\n"
	"  --engine E         of --confirm: auto (default), relay or netem\n"
	"  --out DIR          where seek.json and the chart go; default\n"
	"                     results/seeks/<scenario>-<key>/, replaced each time\n"
	"  --set KEY=VALUE    override a value of the file; may be repeated\n"
	"  --json             print seek.json instead of the table\n"
	"  -q, --quiet        no progress\n\n"
	"Looks at five values over the range, then halves the interval in which the condition\n"
	"begins to hold. Exit status: 0 found (and agreed, with --confirm); 1 no value is enough, "
	"or\n"
	"model and packets differ by more than 2 points (5 % for times and rates).\n\n"
	"Examples:\n"
	"  narrowlink seek scenarios/claim/eight-sites-0.84g.yaml --find links.wan.rate \\\n"
	"      --for 'useful_work >= 90 %' --confirm\n"
	"  narrowlink seek job.yaml --find core.delay --for 'exchange_p99 <= 8 s' --largest\n"
	"  narrowlink seek job.yaml --find workload.step --for 'useful_work >= 90 %' --min '1 s'\n";

struct arguments {
	struct seek_arguments seek;
	struct overrides overrides;
	struct confirm_options confirm_with;
	const char *out;
	bool confirm, json;
};

static enum exit_status parse(struct arguments *a, int argc, char **argv, struct error *err)
{
	static const struct option options[] = {
		SEEK_OPTIONS,
		{"confirm", no_argument, NULL, 'c'},
		{"engine", required_argument, NULL, 'e'},
		{"out", required_argument, NULL, 'o'},
		{"set", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'},
		{0},
	};
	int c, r = 0;

	while (r >= 0 && (c = getopt_long(argc, argv, ":q", options, NULL)) != -1) {
		if (seek_argument(&a->seek, c, optarg))
			continue;
		if (c == 'c')
			a->confirm = true;
		else if (c == 'e')
			a->confirm_with.engine = optarg;
		else if (c == 'o')
			a->out = optarg;
		else if (c == 's')
			r = overrides_add(&a->overrides, optarg, err);
		else if (c == 'j')
			a->json = true;
		else if (c == 'q')
			a->confirm_with.quiet = true;
		else
			return command_option(&command_seek, c, argv, err);
	}
	if (r < 0)
		return err->status;
	if (optind != argc - 1)
		return command_usage(&command_seek, err, "give one scenario file");
	if (!a->seek.find || !a->seek.condition)
		return command_usage(&command_seek, err,
			a->seek.find ? "say what must hold: --for 'useful_work >= 90 %'"
				     : "say what is sought: --find KEY, e.g. links.wan.rate");
	a->confirm_with.file = argv[optind];
	return STATUS_HOLDS;
}

static char *default_folder(const char *path, const char *key)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	int n = dot && dot != name ? (int)(dot - name) : (int)strlen(name);

	return memory_format("results/seeks/%.*s-%s", n, name, key);
}

/* seek.json, and the chart where there is gnuplot. */
static int write_folder(const struct seek_record *seek, const char *dir, struct error *err)
{
	_free_ char *charts = memory_format("%s/charts", dir), *json = NULL;
	_free_ char *path = memory_format("%s/seek.json", dir);
	struct error chart_err = {0};
	int r = folder_make(*dir ? charts : dir, err);

	if (!r)
		r = seek_record_json(&json, seek, err);
	if (r)
		return r;
	r = file_put_shared(path, json);
	if (r)
		return error_sys(err, r, "cannot write %s", path);
	if (chart_seek(seek, charts, &chart_err) < 0)
		log_warn("%s", chart_err.text);
	return 0;
}

static void print_checks(const struct seek_record *seek)
{
	if (!seek->n_checks)
		return;
	printf("\n%s by the model and by real packets:\n", seek->metric);
	for (size_t i = 0; i < seek->n_checks; i++) {
		const struct seek_check *c = &seek->checks[i];

		_free_ char *spread =
			memory_format("(%s to %s)", show_metric(seek->metric, c->least).text,
				show_metric(seek->metric, c->greatest).text);

		printf("  %-16s model %-8s %-20s packets %-10s %s%s%s\n", c->text,
			show_metric(seek->metric, c->model).text, spread,
			show_metric(seek->metric, c->packets).text,
			isnan(c->packets) ? "no result"
			: c->agrees	  ? "agree"
					  : "differ",
			c->folder ? "  " : "", c->folder ? c->folder : "");
	}
	printf("in brackets: the model's with %d seeds; packets are one run each, and another\n"
	       "may differ from it as much\n",
		CONFIRM_SEEDS);
}

static void print_seek(const struct seek_record *seek, const char *dir)
{
	_free_ char *chart = memory_format("%s/charts/seek.svg", dir);
	bool colour = terminal_colours(STDOUT_FILENO);

	printf("%s %s for which %s\n\n", seek->largest ? "largest" : "smallest", seek->key,
		seek->condition);
	seek_table(seek, stdout, colour);
	printf("\n%s\n", seek->because);
	for (size_t i = 0; i < seek->n_notes; i++)
		printf("note: %s\n", seek->notes[i]);
	print_checks(seek);
	if (!access(chart, F_OK))
		printf("\nchart: %s\n", chart);
}

static void print_result(
	const struct seek_record *seek, const char *dir, bool json, struct error *err)
{
	_free_ char *text = NULL;

	if (!json)
		print_seek(seek, dir);
	else if (!seek_record_json(&text, seek, err))
		fputs(text, stdout);
}

static enum exit_status status_of(const struct seek_record *seek, bool confirmed)
{
	if (!strcmp(seek->outcome, "none") || (confirmed && !confirm_all(seek)))
		return STATUS_FAILED;
	return STATUS_HOLDS;
}

static int seek(struct seek_record **out, const struct arguments *a, struct error *err)
{
	struct seek_options options = {.engine = simulate_case};
	struct seek_source source = {.path = a->confirm_with.file,
		.set = a->overrides.items,
		.n_set = a->overrides.count};
	struct scenario_file *file = NULL;
	int r = seek_options_make(&options, &a->seek, err);

	if (!r)
		r = scenario_load(&file, source.path, source.set, source.n_set, err);
	if (r)
		return r;
	source.text = file->text;
	source.length = strlen(file->text);
	r = seek_run(out, &source, &options, err);
	if (!r && a->confirm && strcmp((*out)->outcome, "none"))
		r = confirm_run(*out, &source, &options, &a->confirm_with, err);
	scenario_file_free(file);
	return r;
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	struct arguments a = {.seek = SEEK_ARGUMENTS, .confirm_with = {.engine = "auto"}};
	struct seek_record *found = NULL;
	_free_ char *dir = NULL;
	enum exit_status status = parse(&a, argc, argv, err);

	if (status != STATUS_HOLDS)
		return status;
	seek(&found, &a, err);
	if (!found)
		return err->status;
	dir = a.out ? memory_string(a.out) : default_folder(a.confirm_with.file, found->key);
	write_folder(found, dir, err);
	print_result(found, dir, a.json, err);
	status = err->status != STATUS_HOLDS ? err->status : status_of(found, a.confirm);
	seek_record_free(found);
	return status;
}

const struct command command_seek = {
	.name = "seek",
	.arguments = "FILE",
	.summary = "Find the value of a key for which a condition holds, by the model",
	.help = seek_help,
	.run = run,
};
