/* narrowlink run FILE: from a scenario file to a verdict. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "bench/cli/command.h"
#include "bench/run.h"
#include "bench/verdict.h"
#include "results/report.h"

static const char run_help[] =
	"Options:\n"
	"  --out DIR          the run folder (must not exist, or be empty); default\n"
	"                     results/runs/<UTC time>-<scenario>-<id>/\n"
	"  --engine E         netem, relay, model, or auto (default): netem where the kernel has "
	"it\n"
	"                     and it can do the links, otherwise relay. model is simulated time,\n"
	"                     in seconds, which needs nothing of this machine\n"
	"  --set KEY=VALUE    override a value of the file; may be repeated\n"
	"  --dilation K       everything K times slower, for a machine too slow for the links, or "
	"auto\n"
	"  --seed N           the seed of faults, losses and compute times\n"
	"  --json             print run.json instead of the table\n"
	"  -q, --quiet        no progress\n"
	"  -v, --verbose      say more of what is done\n\n"
	"A scenario that is a fleet of chips is simulated (engine model) and needs no rights.\n"
	"Others need root or unprivileged user namespaces, and /dev/net/tun; `narrowlink doctor`\n"
	"tells.\n\n"
	"Examples:\n"
	"  narrowlink run scenarios/claim/eight-sites-0.84g.yaml\n"
	"  narrowlink run job.yaml --set links.wan.rate='2 Gbit/s' --set workload.step='1.5 s'\n"
	"  narrowlink run scenarios/goodput/decoupled-8.yaml --set fleet.quorum=4\n"
	"  narrowlink run job.yaml --out /tmp/mine --json | jq '.cases[].useful_work'\n";

struct arguments {
	struct run_options run;
	struct overrides overrides;
	bool json;
	const char *file;
};

static enum exit_status parse(struct arguments *a, int argc, char **argv, struct error *err)
{
	static const struct option options[] = {
		{"out", required_argument, NULL, 'o'},
		{"engine", required_argument, NULL, 'e'},
		{"set", required_argument, NULL, 's'},
		{"dilation", required_argument, NULL, 'd'},
		{"seed", required_argument, NULL, 'S'},
		{"json", no_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'},
		{"verbose", no_argument, NULL, 'v'},
		{0},
	};
	int c, r = 0;

	while (r >= 0 && (c = getopt_long(argc, argv, ":qv", options, NULL)) != -1) {
		if (c == 'o')
			a->run.out = optarg;
		else if (c == 'e')
			a->run.engine = optarg;
		else if (c == 's')
			r = overrides_add(&a->overrides, optarg, err);
		else if (c == 'd')
			r = overrides_dilation(&a->overrides, optarg, err);
		else if (c == 'S')
			r = overrides_seed(&a->overrides, optarg, err);
		else if (c == 'j')
			a->json = true;
		else if (c == 'q')
			a->run.quiet = true;
		else if (c == 'v')
			log_verbose(1);
		else
			return command_option(&command_run, c, argv, err);
	}
	if (r < 0)
		return err->status;
	if (optind != argc - 1)
		return command_usage(&command_run, err, "give one scenario file");
	a->file = argv[optind];
	return STATUS_HOLDS;
}

static int print_file(const char *folder, const char *name, struct error *err)
{
	_free_ char *path = memory_format("%s/%s", folder, name);
	_fclose_ FILE *f = fopen(path, "re");
	char block[65536];
	size_t n;

	if (!f)
		return error_set(err, -1, STATUS_MACHINE, "%s: cannot be read", path);
	while ((n = fread(block, 1, sizeof block, f)) > 0)
		fwrite(block, 1, n, stdout);
	return 0;
}

static void print_result(
	const struct record *record, const char *folder, bool json, struct error *err)
{
	bool colour = terminal_colours(STDOUT_FILENO);

	if (json) {
		print_file(folder, "run.json", err);
		return;
	}
	report_table(record, stdout, colour);
	fflush(stdout); /* charts take a while, and may be interrupted */
}

/* An error of the run stays the one that is told. */
static void draw(const struct record *record, const char *folder, const struct arguments *a,
	struct error *err)
{
	_free_ char *report = memory_format("%s/report.html", folder);
	struct error undrawn = {0};

	if (run_draw(folder, record, a->run.quiet, &undrawn) < 0 && err->status == STATUS_HOLDS)
		*err = undrawn;
	if (!a->json && record->n_cases && !access(report, F_OK))
		printf("\nreport: %s\n", report);
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	struct arguments a = {.run = {.engine = "auto", .argc = argc, .argv = argv}};
	struct scenario_file *file = NULL;
	struct record *record = NULL;
	_free_ char *folder = NULL;
	enum exit_status status = parse(&a, argc, argv, err);

	if (status != STATUS_HOLDS)
		return status;
	if (scenario_load(&file, a.file, a.overrides.items, a.overrides.count, err) < 0)
		return err->status;
	run_scenario(&record, &folder, file, &a.run, err);
	if (record && record->n_cases)
		print_result(record, folder, a.json, err);
	if (record)
		draw(record, folder, &a, err);
	status = err->status != STATUS_HOLDS ? err->status : verdict_status(record);
	record_free(record);
	scenario_file_free(file);
	return status;
}

const struct command command_run = {
	.name = "run",
	.arguments = "FILE",
	.summary = "Run a scenario on emulated links and give the verdict",
	.help = run_help,
	.run = run,
};
