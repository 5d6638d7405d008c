/*
 * narrowlink calibrate: is the link the link? Measures links with probes and libiperf, none of them
 * the emulator's own counters, and says how far they are from what was asked.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/calibration.h"
#include "bench/cli/command.h"
#include "bench/run.h"
#include "bench/signals.h"
#include "results/show.h"

static const char calibrate_help[] =
	"Options:\n"
	"  --engine NAME      auto, netem or relay\n"
	"  --dilation K       the links run K times slower: what a machine cannot carry at full "
	"speed\n"
	"  --full             longer, and fills queues by TCP where datagrams cannot\n"
	"  --json             as JSON\n\n"
	"Measures each direction of a link by itself: of a profile of the catalogue, or of every "
	"link\n"
	"that a scenario's sites have, as they are at time zero. One-way delay and round trip by\n"
	"time-stamped probes, loss with its 99 % interval, rates by saturating flows of libiperf, "
	"the\n"
	"delay of a full queue. Exit status 0 when all that was measured holds, 4 when something "
	"is off or\n"
	"it was interrupted: then it prints what had been measured.\n\n"
	"Examples:\n"
	"  narrowlink calibrate fibre-national-1g\n"
	"  narrowlink calibrate geo-10g --dilation 20\n"
	"  narrowlink calibrate scenarios/claim/eight-sites-0.84g.yaml --json\n";

struct calibrate_options {
	const char *engine;
	int signal_fd;
	const struct calibrate_effort *effort;
	bool json;
};

static enum quantity quantity_of(enum check_kind kind)
{
	return kind == CHECK_RATE_UDP || kind == CHECK_RATE_TCP || kind == CHECK_MATHIS
		       ? QUANTITY_RATE
		       : QUANTITY_TIME;
}

static struct shown value(enum check_kind kind, double v)
{
	struct shown s;

	if (kind == CHECK_LOSS || kind == CHECK_REORDER)
		snprintf(s.text, sizeof s.text, "%.3f %%", 100 * v);
	else if (kind == CHECK_BURST)
		snprintf(s.text, sizeof s.text, "%.3g", v);
	else
		return show(quantity_of(kind), v);
	return s;
}

/* Relative to the profile where that has a sense, else as it is. */
static void difference(char *text, size_t size, const struct check *c)
{
	if (c->kind == CHECK_LOSS)
		snprintf(text, size, "%.3f to %.3f %%", 100 * c->low, 100 * c->high);
	else if (c->want > 0)
		snprintf(text, size, "%+.2f %%", 100 * (c->got / c->want - 1));
	else
		snprintf(text, size, "%+g", c->got - c->want);
}

static const char *direction_of(const struct check *c)
{
	return c->kind == CHECK_RTT ? "both" : direction_name(c->from == 0 ? UP : DOWN);
}

static void print_check(const struct check *c)
{
	char diff[64];

	printf("  %-5s %-22s ", direction_of(c), check_title(c->kind));
	if (c->result == CHECK_UNKNOWN) {
		printf("not measured: %s\n", c->why);
		return;
	}
	difference(diff, sizeof diff, c);
	printf("%12s %12s  %-18s %s\n", value(c->kind, c->want).text, value(c->kind, c->got).text,
		diff, c->result == CHECK_OFF ? "OFF" : "holds");
}

static void print_table(const char *name, const struct calibration *c)
{
	printf("%s\n  %-5s %-22s %12s %12s  %-18s\n", name, "", "", "profile", "measured",
		"difference");
	for (size_t i = 0; i < c->n_checks; i++)
		print_check(&c->checks[i]);
	fflush(stdout);
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *check_json(const char *link, const struct check *c)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "link",
		link, "direction", direction_of(c), "check", check_name(c->kind), "result",
		check_result_name(c->result), "profile", number(c->want), "measured",
		number(c->got), "low", number(c->low), "high", number(c->high), "min",
		number(c->min), "p99", number(c->p99), "n", number(c->n), "why", c->why);
}

/* file: whose links the engine must be able to do; one without cases asks for nothing. */
static int calibrate_link(const struct link_profile *link, double dilation,
	const struct scenario_file *file, const struct calibrate_options *o, json_t *all, bool *off,
	struct error *err)
{
	const struct backend *backend;
	struct error passed_over = {0};
	struct calibration c;
	int r = run_backend(&backend, o->engine, file, &passed_over, err);

	if (r < 0)
		return r;
	if (!backend)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"--engine %s: there are no links to measure; write auto, netem or relay",
			o->engine);
	r = calibration_of_link(&c, link, dilation, backend, o->effort, &o->signal_fd, err);
	for (size_t i = 0; i < c.n_checks && o->json; i++)
		json_array_append_new(all, check_json(link->name, &c.checks[i]));
	if (!o->json)
		print_table(link->name, &c);
	*off |= calibration_count(&c, CHECK_OFF) > 0;
	calibration_release(&c);
	return r;
}

static bool used(const struct scenario *s, size_t link)
{
	for (int i = 0; i < s->n_sites; i++)
		if (s->sites[i].link == (int)link)
			return true;
	return false;
}

static int calibrate_scenario(const char *path, const struct overrides *set,
	const struct calibrate_options *o, json_t *all, bool *off, struct error *err)
{
	struct scenario_file *file;
	const struct scenario *s;
	int r = scenario_load(&file, path, set->items, set->count, err);

	if (r < 0)
		return r;
	s = file->cases[0];
	r = scenario_is_fleet(s) ? error_set(err, -EINVAL, STATUS_INPUT,
					   "%s: a fleet has no links to measure", path)
				 : topology_isolate(err);
	for (size_t i = 0; !r && i < s->n_links; i++)
		if (used(s, i))
			r = calibrate_link(&s->links[i], s->dilation, file, o, all, off, err);
	scenario_file_free(file);
	return r;
}

static int calibrate_profile(const struct link_profile *link, const char *dilation,
	const struct calibrate_options *o, json_t *all, bool *off, struct error *err)
{
	static const struct scenario_file none;
	char *end = NULL;
	double k = dilation ? strtod(dilation, &end) : 1;
	int r;

	if (end && (*end || !(k >= 1 && k <= 1000)))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"--dilation %s: a number from 1 to 1000", dilation);
	r = topology_isolate(err);
	return r ? r : calibrate_link(link, k, &none, o, all, off, err);
}

static int measure(const char *what, const char *dilation, const struct calibrate_options *o,
	json_t *all, bool *off, struct error *err)
{
	const struct link_profile *link = link_catalogue_find(what);
	struct overrides set = {0};
	int r = 0;

	if (link)
		return calibrate_profile(link, dilation, o, all, off, err);
	if (access(what, F_OK) < 0)
		return error_set(err, -ENOENT, STATUS_INPUT,
			"%s: neither a file nor a link of the catalogue; see narrowlink profiles",
			what);
	if (dilation)
		r = overrides_dilation(&set, dilation, err);
	return r ? r : calibrate_scenario(what, &set, o, all, off, err);
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	static const struct option options[] = {{"engine", required_argument, NULL, 'e'},
		{"dilation", required_argument, NULL, 'd'}, {"full", no_argument, NULL, 'f'},
		{"json", no_argument, NULL, 'j'}, {0}};
	struct calibrate_options o = {.engine = "auto", .effort = &calibrate_usual};
	const char *dilation = NULL;
	json_t *all;
	bool off = false;
	int c, r;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'e')
			o.engine = optarg;
		else if (c == 'd')
			dilation = optarg;
		else if (c == 'f')
			o.effort = &calibrate_thorough;
		else if (c == 'j')
			o.json = true;
		else
			return command_usage(&command_calibrate, err, "wrong option");
	}
	if (optind != argc - 1)
		return command_usage(
			&command_calibrate, err, "it takes one scenario file or profile");
	o.signal_fd = signals_take(err);
	if (o.signal_fd < 0)
		return err->status;
	all = json_array();
	r = measure(argv[optind], dilation, &o, all, &off, err);
	if (o.json && (!r || json_array_size(all))) {
		json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		putchar('\n');
	}
	json_decref(all);
	signals_give_back(o.signal_fd);
	return r < 0 ? err->status : off ? STATUS_INVALID : STATUS_HOLDS;
}

const struct command command_calibrate = {
	.name = "calibrate",
	.arguments = "FILE|PROFILE",
	.summary = "Measure links, and say how far they are from what was asked",
	.help = calibrate_help,
	.run = run,
};
