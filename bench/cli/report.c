/* narrowlink report RUN: charts and report of a run folder, made again from what it holds. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "bench/cli/command.h"
#include "bench/cli/run_folder.h"
#include "bench/verdict.h"
#include "results/folder.h"
#include "results/report.h"

static const char report_help[] =
	"Draws the charts of a run folder again and writes its report.html; prints the table.\n"
	"The exit status is that of the recorded verdict.\n\n"
	"Examples:\n"
	"  narrowlink report results/runs/20260131T120000Z-eight-sites-0.84g-1a2b\n";

static int remake(const char *folder, struct record **out, struct error *err)
{
	struct error chart_err = {0};
	int r = run_folder_read(out, folder, err);

	if (r < 0)
		return r;
	if (chart_all(folder, *out, &chart_err) < 0)
		log_warn("%s", chart_err.text); /* the others are drawn, and the report tells */
	return report_write(folder, *out, err);
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	static const struct option options[] = {{0}};
	struct record *record = NULL;
	_free_ char *folder = NULL;
	enum exit_status status;

	int c = getopt_long(argc, argv, ":", options, NULL);

	if (c != -1)
		return command_option(&command_report, c, argv, err);
	if (optind != argc - 1)
		return command_usage(&command_report, err, "give one run folder");
	folder = folder_name(argv[optind]);
	if (remake(folder, &record, err) < 0) {
		record_free(record);
		return err->status;
	}
	report_table(record, stdout, terminal_colours(STDOUT_FILENO));
	printf("\nreport: %s/report.html\n", folder);
	status = verdict_status(record);
	record_free(record);
	return status;
}

const struct command command_report = {
	.name = "report",
	.arguments = "RUN",
	.summary = "Draw a run folder's charts and report again",
	.help = report_help,
	.run = run,
};
