/* narrowlink check FILE: validates a scenario and prints its plan; needs no rights at all. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/cli/check.h"
#include "bench/cli/command.h"
#include "bench/plan.h"

static const char check_help[] =
	"Options:\n"
	"  --set KEY=VALUE    override a value of the file; may be repeated\n"
	"  --dilation K       as for `run`: everything K times slower\n"
	"  --json             the plan as JSON: bit/s, bytes, seconds\n\n"
	"Prints the resolved scenario, then per case the bytes of an exchange, the rate needed "
	"for\n"
	"a compute utilisation of 50, 80, 90, 95 and 99 %, the bound behind it, and the step time\n"
	"at which the scenario's own rate is just enough. Of a fleet: goodput and uptime by "
	"closed\n"
	"formulas, and the best checkpoint interval. Nothing is sent, no rights are needed.\n\n"
	"Examples:\n"
	"  narrowlink check scenarios/claim/eight-sites-0.84g.yaml\n"
	"  narrowlink check job.yaml --set workload.outer.bits='8 bit' --json | jq "
	".cases[0].plan\n";

struct arguments {
	struct overrides overrides;
	bool json;
	const char *file;
};

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

void check_row(const char *label, const char *value)
{
	printf("  %-52s %s\n", label, value);
}

void check_quantity(const char *label, enum quantity kind, int64_t value)
{
	char text[48];

	check_row(label, quantity_format(text, sizeof text, kind, value, false));
}

/* A star syncer's link, to which all learners send. */
static void print_syncer(const struct plan *p)
{
	if (p->syncer_rate_bps <= 0)
		return;
	check_quantity(
		"the syncer's link, on the wire", QUANTITY_RATE, (int64_t)p->syncer_rate_bps);
	check_quantity("  which all learners together need for 100 %", QUANTITY_RATE,
		(int64_t)p->syncer_needed_bps);
}

static void print_needed(const struct plan *p, const struct scenario *s)
{
	const char *whose =
		p->tight_site >= s->job.n_learners ? "the syncer needs" : "needed at least";
	char rate[32], step[32];

	printf("\n  %-24s %-18s %s\n", "compute utilisation", whose,
		"step for which that link's rate is just enough");
	for (int i = 0; i < PLAN_TARGETS; i++)
		printf("  %20.0f %%   %-18s %s\n", 100 * plan_targets[i],
			quantity_format(
				rate, sizeof rate, QUANTITY_RATE, (int64_t)p->needed_bps[i], false),
			quantity_format(
				step, sizeof step, QUANTITY_TIME, p->boundary_step_ns[i], false));
}

static void print_warning(void *user, const char *sentence)
{
	printf("  warning: %s\n", sentence);
}

static void print_plan(const struct scenario *s)
{
	struct plan p;
	char text[64];

	if (scenario_is_fleet(s)) {
		check_fleet_print(s);
		return;
	}
	plan_make(&p, s);
	printf("plan%s%s: %s over %d learners\n", s->case_name[0] ? " for " : "", s->case_name,
		s->strategy->name, s->job.n_learners);
	check_quantity(
		"payload of one exchange of all parameters, S", QUANTITY_BYTES, p.payload_bytes);
	check_quantity("sent by a learner per exchange", QUANTITY_BYTES, p.exchange_bytes);
	if (p.syncer_bytes)
		check_quantity("sent by a syncer per exchange", QUANTITY_BYTES, p.syncer_bytes);
	snprintf(text, sizeof text, "%lld every %lld steps", (long long)p.exchanges_per_period,
		(long long)p.period);
	check_row("exchanges", text);
	snprintf(text, sizeof text, "%.4g", p.factor);
	check_row("bytes on a link per byte of payload, f", text);
	check_quantity(
		"narrowest link of a learner, on the wire", QUANTITY_RATE, (int64_t)p.rate_bps);
	check_quantity("  of which payload (TCP/IP headers taken off)", QUANTITY_RATE,
		(int64_t)p.goodput_bps);
	print_syncer(&p);
	check_quantity("longest one-way delay", QUANTITY_TIME, p.one_way_ns);
	check_quantity(p.syncer_rate_bps > 0 ? "an exchange of all learners at once takes about"
					     : "one exchange alone on the links takes about",
		QUANTITY_TIME, p.exchange_bound_ns);
	print_needed(&p, s);
	printf("\n  bound: R >= f N b CU / (H T), times %.4f for headers; it knows neither "
	       "latency,\n"
	       "  nor TCP, nor loss: the run measures what they cost.\n",
		p.wire_ratio);
	snprintf(text, sizeof text, "%.1f %%", 100 * p.predicted_utilisation);
	check_row("predicted compute utilisation (bytes and one exchange's time)", text);
	check_quantity("all sites together send about", QUANTITY_RATE, (int64_t)p.aggregate_bps);
	check_quantity("the run takes about", QUANTITY_TIME,
		(int64_t)((double)p.expected_wall_ns * s->dilation));
	plan_check_links(&p, s, print_warning, NULL);
	plan_check_faults(&p, s, print_warning, NULL);
	plan_check_time(&p, s, print_warning, NULL);
	putchar('\n');
}

static void add_warning(void *user, const char *sentence)
{
	json_array_append_new(user, json_string(sentence));
}

/* The link that `needed` is about. */
static json_t *tightest_json(const struct plan *p, const struct scenario *s)
{
	return json_pack(
		"{s:s, s:f}", "site", s->sites[p->tight_site].name, "rate_bps", p->tight_rate_bps);
}

static json_t *syncer_json(const struct plan *p)
{
	if (p->syncer_rate_bps <= 0)
		return json_null();
	return json_pack(
		"{s:f, s:f}", "rate_bps", p->syncer_rate_bps, "needed_bps", p->syncer_needed_bps);
}

static json_t *plan_json(const struct scenario *s)
{
	struct plan p;
	json_t *needed = json_array(), *warnings = json_array(), *plan;

	plan_make(&p, s);
	plan_check_links(&p, s, add_warning, warnings);
	plan_check_faults(&p, s, add_warning, warnings);
	plan_check_time(&p, s, add_warning, warnings);
	for (int i = 0; i < PLAN_TARGETS; i++)
		json_array_append_new(
			needed, json_pack("{s:f, s:f, s:f}", "compute_utilisation", plan_targets[i],
					"rate_bps", p.needed_bps[i], "boundary_step_s",
					seconds(p.boundary_step_ns[i])));
	plan = json_pack(
		"{s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
		"s:o}",
		"factor", p.factor, "period_steps", (json_int_t)p.period, "payload_bytes",
		(json_int_t)p.payload_bytes, "exchange_bytes", (json_int_t)p.exchange_bytes,
		"syncer_bytes", (json_int_t)p.syncer_bytes, "exchanges_per_period",
		(json_int_t)p.exchanges_per_period, "wire_ratio", p.wire_ratio, "needed", needed,
		"rate_bps", p.rate_bps, "goodput_bps", p.goodput_bps, "predicted_utilisation",
		p.predicted_utilisation, "one_way_s", seconds(p.one_way_ns), "exchange_bound_s",
		seconds(p.exchange_bound_ns), "aggregate_bps", p.aggregate_bps, "expected_wall_s",
		seconds(p.expected_wall_ns), "warnings", warnings);
	json_object_set_new(plan, "tightest_link", tightest_json(&p, s));
	json_object_set_new(plan, "syncer_link", syncer_json(&p));
	return plan;
}

static json_t *set_json(const struct scenario *s)
{
	json_t *set = json_object();

	for (size_t i = 0; i < s->n_set; i++)
		json_object_set_new(set, s->set[i].key, json_string(s->set[i].value));
	return set;
}

static void print_json(const struct scenario_file *file)
{
	json_t *cases = json_array(), *all;

	for (size_t i = 0; i < file->n_cases; i++) {
		const struct scenario *s = file->cases[i];

		bool fleet = scenario_is_fleet(s);

		json_array_append_new(
			cases, json_pack("{s:s, s:s?, s:o, s:o}", "name", s->case_name, "strategy",
				       fleet ? NULL : s->strategy->name, "set", set_json(s), "plan",
				       fleet ? check_fleet_json(s) : plan_json(s)));
	}
	all = json_pack("{s:s, s:s, s:o}", "scenario", file->path, "title", file->cases[0]->title,
		"cases", cases);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static enum exit_status parse(struct arguments *a, int argc, char **argv, struct error *err)
{
	static const struct option options[] = {
		{"set", required_argument, NULL, 's'},
		{"dilation", required_argument, NULL, 'd'},
		{"json", no_argument, NULL, 'j'},
		{0},
	};
	int c, r = 0;

	while (r >= 0 && (c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (c == 'j')
			a->json = true;
		else if (c == 's')
			r = overrides_add(&a->overrides, optarg, err);
		else if (c == 'd')
			r = overrides_dilation(&a->overrides, optarg, err);
		else
			return command_option(&command_check, c, argv, err);
	}
	if (r < 0)
		return err->status;
	if (optind != argc - 1)
		return command_usage(&command_check, err, "give one scenario file");
	a->file = argv[optind];
	return STATUS_HOLDS;
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	struct arguments a = {0};
	struct scenario_file *file = NULL;
	enum exit_status status = parse(&a, argc, argv, err);

	if (status != STATUS_HOLDS)
		return status;
	if (scenario_load(&file, a.file, a.overrides.items, a.overrides.count, err) < 0)
		return err->status;
	if (a.json) {
		print_json(file);
	} else {
		scenario_print(file->cases[0], stdout);
		putchar('\n');
		for (size_t i = 0; i < file->n_cases; i++)
			print_plan(file->cases[i]);
	}
	scenario_file_free(file);
	return STATUS_HOLDS;
}

const struct command command_check = {
	.name = "check",
	.arguments = "FILE",
	.summary = "Validate a scenario and print its plan, without sending anything",
	.help = check_help,
	.run = run,
};
