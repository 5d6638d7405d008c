/*
 * How fast simulated time goes: transfers a second in a star, the claim scenario for a day over
 * an ideal link and for an hour over TCP, and memory. Prints what it finds; nothing here passes or
 * fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/clock.h"
#include "bench/case.h"

static double run(const char *path, const char *const *set, size_t n, const char *text,
	struct record_case **c)
{
	struct scenario_file *file = NULL;
	struct record *record = record_new();
	struct error err = {0};
	int64_t before;
	int r = text ? scenario_load_text(&file, path, text, strlen(text), set, n, &err)
		     : scenario_load(&file, path, set, n, &err);

	if (r < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	*c = record_add_case(record, "case");
	before = clock_now_ns();
	case_model(*c, file->cases[0], &(struct case_context){.signal_fd = -1}, &err);
	return (double)(clock_now_ns() - before) / NS_PER_S;
}

static void star(const char *tcp, const char *spread)
{
	_free_ char *text =
		memory_format("narrowlink: 1\n"
			      "links: {wan: {rate: 1 Gbit/s, delay: 15 ms}, hub: {rate: 100 "
			      "Gbit/s, delay: 1 ms}}\n"
			      "sites: {count: 8, link: wan}\n"
			      "workload: {strategy: decoupled-diloco, parameters: 1 B, step: 1 s%s,"
			      " outer: {syncer: star, syncer_link: hub}}\n"
			      "transport: {tcp: %s}\n"
			      "run: {steps: 100000, warmup: 0, limit: 100 d}\n",
			spread, tcp);
	struct record_case *c;
	double s = run("star.yaml", NULL, 0, text, &c), transfers = 2 * c->exchange_n;

	printf("star, 8 learners, tcp %s, step 1 s%s: %.0f transfers in %.2f s: %.3g a second\n",
		tcp, spread, transfers, s, transfers / s);
}

static void day(const char *path, const char *const *set, size_t n)
{
	struct record_case *c;
	double s = run(path, set, n, NULL, &c);

	printf("%s, %.0f s (%.0f exchanges, useful work %.3f): %.2f s; a day at that pace: %.1f "
	       "s\n",
		path, c->wall_s, c->exchange_n, c->useful_work, s, s * 86400 / c->wall_s);
}

int main(int argc, char **argv)
{
	static const char *const set[] = {"run.steps=720", "run.limit=2 h", "transport.tcp=real"};
	static const char *const ideal[] = {
		"run.steps=17280", "run.limit=1 d", "transport.tcp=ideal"};
	struct rusage usage;

	star("ideal", "");
	star("ideal", " ± 5 %");
	star("real", "");
	star("real", " ± 5 %");
	day(argv[1], ideal, 3);
	day(argv[1], set, 3);
	getrusage(RUSAGE_SELF, &usage);
	printf("memory: %ld MB\n", usage.ru_maxrss / 1024);
	return 0;
}
