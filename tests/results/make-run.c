/*
 * A made-up run's folder with its charts and report, to look at:
 * make-run DIR LEARNERS CASES SECONDS [syncers] [faults] [trace] [nothing]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_up.h"
#include "results/report.h"

int main(int argc, char **argv)
{
	struct made_up m = {.exchanges = true};
	struct record *record;
	struct error err = {0};

	if (argc < 5)
		return 2;
	m.learners = atoi(argv[2]);
	m.cases = atoi(argv[3]);
	m.seconds = atof(argv[4]);
	for (int i = 5; i < argc; i++) {
		m.syncers |= !strcmp(argv[i], "syncers");
		m.faults |= !strcmp(argv[i], "faults");
		m.trace |= !strcmp(argv[i], "trace");
		m.exchanges &= strcmp(argv[i], "nothing") != 0;
	}
	record = made_up_run(argv[1], &m);
	if (chart_all(argv[1], record, &err))
		fprintf(stderr, "%s\n", err.text);
	if (report_write(argv[1], record, &err))
		fprintf(stderr, "%s\n", err.text);
	report_table(record, stdout, true);
	record_free(record);
	return err.status;
}
