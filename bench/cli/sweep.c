/* narrowlink sweep FILE: a scenario's matrix by the model, in parallel, on several machines. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "bench/cli/command.h"
#include "bench/cli/seek_options.h"
#include "bench/cli/simulate.h"
#include "bench/sweep/pool.h"
#include "bench/sweep/sweep.h"

#define JOBS_MAX 1024

static const char sweep_help[] =
	"Options:\n"
	"  --jobs N           processes at a time; default: the processors there are, and 1 under\n"
	"                     a cluster's launcher, which starts processes itself\n"
	"  --out DIR          the folder; default results/sweeps/<scenario>/. What is finished in\n"
	"                     it is not computed again\n"
	"  --engine E         model, the only one so far\n"
	"  --set KEY=VALUE    override a value of the file; may be repeated\n"
	"  --json             print sweep.json instead of the table\n"
	"  -q, --quiet        no progress\n\n"
	"With --find each case of the matrix is a seek:\n" SEEK_OPTIONS_HELP
	"\nThe folder holds sweep.json, sweep.csv, charts/ and a file per finished case. Started "
	"by\n"
	"srun, mpirun or as a Slurm job array, each process takes its part; whichever finds that "
	"all\n"
	"is finished merges. Exit status 0: all of this process' cases were computed, whatever "
	"they\n"
	"say; an expectation that fails in a case is a result here.\n\n"
	"Examples:\n"
	"  narrowlink sweep scenarios/sweep/bandwidth.yaml\n"
	"  narrowlink sweep scenarios/sweep/step.yaml --find links.wan.rate \\\n"
	"      --for 'compute_utilisation >= 90 %'\n"
	"  mpirun -np 64 narrowlink sweep job.yaml --out /shared/job\n";

struct arguments {
	struct seek_arguments seek;
	struct overrides overrides;
	const char *out, *jobs, *engine, *file;
	bool json, quiet;
};

static enum exit_status parse(struct arguments *a, int argc, char **argv, struct error *err)
{
	static const struct option options[] = {
		SEEK_OPTIONS,
		{"jobs", required_argument, NULL, 'J'},
		{"out", required_argument, NULL, 'o'},
		{"engine", required_argument, NULL, 'e'},
		{"set", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'},
		{0},
	};
	int c, r = 0;

	while (r >= 0 && (c = getopt_long(argc, argv, ":q", options, NULL)) != -1) {
		if (seek_argument(&a->seek, c, optarg))
			continue;
		if (c == 'J')
			a->jobs = optarg;
		else if (c == 'o')
			a->out = optarg;
		else if (c == 'e')
			a->engine = optarg;
		else if (c == 's')
			r = overrides_add(&a->overrides, optarg, err);
		else if (c == 'j')
			a->json = true;
		else if (c == 'q')
			a->quiet = true;
		else
			return command_option(&command_sweep, c, argv, err);
	}
	if (r < 0)
		return err->status;
	if (optind != argc - 1)
		return command_usage(&command_sweep, err, "give one scenario file");
	if (!a->seek.find != !a->seek.condition)
		return command_usage(&command_sweep, err, "--find and --for belong together");
	if (!a->seek.find && (a->seek.min || a->seek.max || a->seek.largest))
		return command_usage(
			&command_sweep, err, "--min, --max and --largest belong to --find");
	a->file = argv[optind];
	return STATUS_HOLDS;
}

static int parse_jobs(int *out, const char *text, const struct share *share, struct error *err)
{
	char *end;
	long n;

	*out = share->launcher ? 1 : pool_processors();
	if (!text)
		return 0;
	n = strtol(text, &end, 10);
	if (end == text || *end || n < 1 || n > JOBS_MAX)
		return error_set(err, -EINVAL, STATUS_INPUT, "--jobs %.64s: a number from 1 to %d",
			text, JOBS_MAX);
	*out = (int)n;
	return 0;
}

static int make_options(struct sweep_options *out, struct seek_options *seek,
	const struct arguments *a, struct error *err)
{
	int r = share_here(&out->share, err);

	if (!r)
		r = parse_jobs(&out->jobs, a->jobs, &out->share, err);
	if (!r && strcmp(a->engine, "model"))
		r = error_set(err, -EINVAL, STATUS_INPUT,
			"--engine %s: a sweep runs on the model; write model, or leave it out",
			a->engine);
	if (!r && a->seek.find) {
		r = seek_options_make(seek, &a->seek, err);
		seek->engine = simulate_case;
		out->seek = seek;
	}
	out->engine = simulate_case;
	out->out = a->out;
	out->set = a->overrides.items;
	out->n_set = a->overrides.count;
	out->quiet = a->quiet;
	return r;
}

static void print_counts(FILE *out, const struct sweep_counts *n, const struct share *share)
{
	if (share->launcher)
		fprintf(out, "%s, process %d of %d: ", share->launcher, share->rank + 1,
			share->size);
	fprintf(out, "%zu cases", n->cases);
	if (n->distinct != n->cases)
		fprintf(out, ", %zu distinct", n->distinct);
	fprintf(out, "; computed %zu, finished before %zu", n->done, n->before);
	if (n->missing)
		fprintf(out, "; %zu are not finished yet", n->missing);
	fputc('\n', out);
}

static void print_charts(const struct sweep_record *record, const char *folder)
{
	_free_ char *charts = memory_format("%s/charts", folder);

	for (size_t i = 0; i < record->n_notes; i++)
		printf("note: %s\n", record->notes[i]);
	printf("\nresults: %s/sweep.json, sweep.csv%s\n", folder,
		access(charts, F_OK) ? "" : ", charts/");
}

static void print_result(
	const struct sweep_record *record, const char *folder, bool json, struct error *err)
{
	_free_ char *text = NULL;

	if (json) {
		if (!sweep_record_json(&text, record, err))
			fputs(text, stdout);
		return;
	}
	sweep_table(record, stdout, terminal_colours(STDOUT_FILENO));
	putchar('\n');
	print_charts(record, folder);
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	struct arguments a = {.seek = SEEK_ARGUMENTS, .engine = "model"};
	struct sweep_options options = {0};
	struct seek_options seek = {0};
	struct sweep_record *record = NULL;
	struct sweep_counts counts;
	_free_ char *folder = NULL;
	enum exit_status status = parse(&a, argc, argv, err);

	if (status != STATUS_HOLDS)
		return status;
	if (make_options(&options, &seek, &a, err) < 0)
		return err->status;
	sweep_run(&record, &folder, &counts, a.file, &options, err);
	if (counts.cases)
		print_counts(a.json ? stderr : stdout, &counts, &options.share);
	if (record)
		print_result(record, folder, a.json, err);
	sweep_record_free(record);
	return err->status;
}

const struct command command_sweep = {
	.name = "sweep",
	.arguments = "FILE",
	.summary = "Compute a scenario's matrix by the model, in parallel, with charts",
	.help = sweep_help,
	.run = run,
};
