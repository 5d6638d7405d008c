/*
 * A run. Signals are taken through a descriptor that every case polls, and whoever measures: they
 * are blocked in the program and in all its children, so that Ctrl-C on a terminal, which reaches
 * the whole process group, ends the run in order and kills neither the relay nor an agent.
 */
#include "bench/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "bench/case.h"
#include "bench/host.h"
#include "bench/links.h"
#include "bench/model/fleet.h"
#include "bench/plan.h"
#include "bench/progress.h"
#include "bench/signals.h"
#include "emu/measure/machine.h"
#include "results/report.h"

/* In the order in which `auto` tries them. */
static const struct backend *const backends[] = {&backend_netem, &backend_relay};

static bool any_ideal(const struct scenario_file *file)
{
	for (size_t i = 0; i < file->n_cases; i++)
		if (file->cases[i]->transport.tcp == TRANSPORT_IDEAL)
			return true;
	return false;
}

/* Can it do the links of every case? They are asked for as they will be, without faults. */
static int suits(const struct backend *backend, const struct scenario_file *file, struct error *err)
{
	struct link_plan *plan = memory_zero(1, sizeof *plan);
	int r = 0;

	for (size_t i = 0; r == 0 && i < file->n_cases; i++) {
		const struct scenario *s = file->cases[i];

		links_make(plan, s, NULL, 0);
		r = backend->suits(plan, s->n_sites, err);
		links_release(plan, s->n_sites);
	}
	free(plan);
	return r;
}

int run_backend(const struct backend **out, const char *engine, const struct scenario_file *file,
	struct error *passed_over, struct error *err)
{
	size_t n = sizeof backends / sizeof *backends;
	bool any = !strcmp(engine, "auto");
	int r;

	if (!strcmp(engine, "model") || (any && any_ideal(file))) {
		*out = NULL;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct error *why = any && i + 1 < n ? passed_over : err;

		if (!any && strcmp(engine, backends[i]->name))
			continue;
		if (any_ideal(file))
			return error_set(err, -EINVAL, STATUS_INPUT,
				"--engine %s: packets cannot have \"transport.tcp: ideal\", which "
				"is "
				"for simulated time; write real, or --engine model",
				engine);
		r = suits(backends[i], file, why);
		if (r == 0)
			r = backends[i]->probe(why);
		if (r == 0)
			*out = backends[i];
		if (r == 0 || why == err)
			return r;
	}
	return error_set(err, -EINVAL, STATUS_INPUT,
		"--engine %s: there is no such engine; write auto, netem, relay or model", engine);
}

/* Why `auto` is not the kernel's own emulator: what its first line says. */
static void say_passed_over(
	struct progress *progress, const char *engine, const struct error *passed_over)
{
	if (passed_over->status != STATUS_HOLDS)
		progress_say(progress, "engine %s, not netem: %.*s", engine,
			(int)strcspn(passed_over->text, "\n"), passed_over->text);
}

/* What names the folder says nothing of a simulated run. */
static void describe_arguments(
	struct record *record, const struct run_options *options, const struct backend *backend)
{
	record->argv = memory_zero((size_t)options->argc + 1, sizeof *record->argv);
	record->argv[record->argc++] = memory_string("narrowlink");
	for (int i = 0; i < options->argc; i++) {
		const char *word = options->argv[i];

		if (backend || strncmp(word, "--o", 3))
			record->argv[record->argc++] = memory_string(word);
		else if (!strchr(word, '='))
			i++;
	}
}

static struct record *describe(const struct scenario_file *file, const struct run_options *options,
	const struct backend *backend)
{
	const struct scenario *first = file->cases[0];
	struct record *record = record_new();
	_free_ char *resolved = NULL;
	size_t size;
	FILE *f = open_memstream(&resolved, &size);

	host_describe_tool(record);
	if (backend)
		host_describe(record);
	describe_arguments(record, options, backend);
	record->seed = first->seed;
	record->engine = memory_string(backend ? backend->name : "model");
	record->dilation = backend ? first->dilation : 1;
	record->title = memory_string(first->title);
	record->scenario_path = memory_string(file->path);
	if (f) {
		scenario_print(first, f);
		fclose(f);
		record->resolved = memory_string(resolved);
	}
	return record;
}

/* "eight-sites-0.84g" of "scenarios/claim/eight-sites-0.84g.yaml" */
static char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = memory_string(slash ? slash + 1 : path);
	char *dot = strrchr(name, '.');

	if (dot && dot != name)
		*dot = '\0';
	return name;
}

static int open_folder(struct folder **out, const struct scenario_file *file,
	const struct record *record, const char *dir, struct error *err)
{
	_free_ char *name = base_name(file->path);
	struct folder *folder;
	int r;

	r = folder_create(&folder, dir, name, err);
	if (r < 0)
		return r;
	r = folder_put(folder, "scenario.yaml", file->text, err);
	if (r >= 0 && record->resolved)
		r = folder_put(folder, "resolved.yaml", record->resolved, err);
	if (r < 0) {
		folder_free(folder);
		return r;
	}
	*out = folder;
	return 0;
}

static const char *case_name(const struct scenario *s)
{
	if (s->case_name[0])
		return s->case_name;
	return scenario_is_fleet(s) ? "fleet" : s->strategy->name;
}

/* All of them from the start, so that a record says what was still to come when it was cut off. */
static void add_cases(struct record *record, const struct scenario_file *file)
{
	for (size_t i = 0; i < file->n_cases; i++) {
		const struct scenario *s = file->cases[i];
		struct record_case *c = record_add_case(record, case_name(s));

		cleanup_free(&c->verdict);
		c->verdict = memory_string("partial");
		c->because = memory_string("not run: the run ended before");
		c->partial = true;
	}
}

/* What makes one case invalid is in its record, and does not keep the others from being run. */
static int run_case(struct record_case *c, const struct scenario *s,
	const struct case_context *context, struct error *err)
{
	if (scenario_is_fleet(s))
		return fleet_case(c, s, context, err);
	if (!context->backend)
		return case_model(c, s, context, err);
	return case_run(c, s, context, err);
}

/* What came out is not in the folder: that is no verdict to go home with. */
static void not_recorded(struct record_case *c, const struct error *lost)
{
	cleanup_free(&c->verdict);
	cleanup_free(&c->because);
	c->verdict = memory_string("partial");
	c->because = memory_format("could not be recorded: %s", lost->text);
	c->partial = true;
}

/* What a record says if nothing comes after it. */
static void begin_case(struct record_case *c)
{
	cleanup_free(&c->because);
	c->because =
		memory_string("begun, and no result of it was recorded: the program was killed, "
			      "or the disk was full");
}

static int run_cases(struct record *record, const struct scenario_file *file,
	struct case_context *context, struct error *err)
{
	struct error lost = {0};
	int r;

	add_cases(record, file);
	r = folder_flush(context->folder, record, err);
	context->n_cases = file->n_cases;
	for (size_t i = 0; i < file->n_cases && r >= 0; i++) {
		const struct scenario *s = file->cases[i];
		struct record_case *c = record->cases[i];

		begin_case(c);
		folder_flush(context->folder, record, &lost); /* it is tried again below */
		context->index = i;
		r = run_case(c, s, context, err);
		if (err->status == STATUS_INVALID && r != -EINTR) {
			*err = (struct error){0};
			r = 0;
		}
		if (folder_flush(context->folder, record, &lost) < 0) {
			r = r < 0 ? r : -EIO;
			error_set(err, r, lost.status, "%s", lost.text);
			not_recorded(c, &lost);
			folder_flush(
				context->folder, record, &lost); /* if the record itself can be */
		}
		if (c->because)
			progress_say(
				context->progress, "%s: %s: %s", c->name, c->verdict, c->because);
	}
	return r;
}

/*
 * Charts need gnuplot; the numbers do not: without it the run stands and the log says so. The
 * report is there before the charts are, for whoever does not wait for them.
 */
int run_draw(const char *folder, const struct record *record, bool quiet, struct error *err)
{
	struct error chart_err = {0};
	struct progress progress;
	int r = report_write(folder, record, err);

	if (r < 0)
		return r;
	progress_begin(&progress, stderr, quiet);
	progress_say(&progress, "drawing charts");
	progress_end(&progress);
	if (chart_all(folder, record, &chart_err) < 0)
		log_warn("%s", chart_err.text);
	return report_write(folder, record, err);
}

/* What a case asks of this machine, before anything is made for it. */
static int check_machine(const struct scenario_file *file, struct error *err)
{
	const char *checked = "";
	int r = 0;

	for (size_t i = 0; i < file->n_cases && r >= 0; i++) {
		const char *congestion = file->cases[i]->transport.congestion;

		if (strcmp(congestion, checked))
			r = host_congestion(congestion, err);
		checked = congestion;
	}
	return r;
}

/* A fleet is simulated, without a backend. */
static int choose(const struct backend **backend, const struct scenario_file *file,
	const char *engine, struct error *passed_over, struct error *err)
{
	if (!scenario_is_fleet(file->cases[0]))
		return run_backend(backend, engine, file, passed_over, err);
	if (strcmp(engine, "auto") && strcmp(engine, "model"))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"--engine %s: a fleet has no links to carry; write auto or model", engine);
	return 0;
}

static int prepare_machine(const struct scenario_file *file, struct error *err)
{
	int r = topology_isolate(err);

	return r < 0 ? r : check_machine(file, err);
}

/*
 * `dilation: auto`: the least with which this machine carries what all sites together send. -EINTR:
 * the user wants the end.
 */
static int choose_dilation(
	const struct scenario_file *file, const struct case_context *context, struct error *err)
{
	struct machine machine = {0};
	char carries[32], sends[32];
	struct plan plan;
	int r = 0;

	for (size_t i = 0; i < file->n_cases && !r; i++) {
		struct scenario *s = file->cases[i];

		if (!s->dilation_auto)
			continue;
		s->dilation_auto = false;
		if (!context->backend) /* simulated time is never late */
			continue;
		if (machine.tcp_bps <= 0)
			r = machine_measure(&machine, context->backend, &context->signal_fd, err);
		if (r < 0)
			break;
		plan_make(&plan, s);
		s->dilation = machine_dilation(&machine, plan.aggregate_bps);
		quantity_format(
			carries, sizeof carries, QUANTITY_RATE, (int64_t)machine.tcp_bps, false);
		quantity_format(
			sends, sizeof sends, QUANTITY_RATE, (int64_t)plan.aggregate_bps, false);
		progress_say(context->progress,
			"dilation %g: all sites together send %s, this machine carries %s",
			s->dilation, sends, carries);
	}
	if (r == -EINTR) {
		*err = (struct error){0};
		error_set(err, r, STATUS_INVALID,
			"interrupted while this machine was measured: nothing was run");
	}
	return r;
}

static void say_warning(void *progress, const char *sentence)
{
	progress_say(progress, "%s", sentence);
}

static void warn_of_time(const struct scenario_file *file, const struct case_context *context)
{
	struct plan plan;

	for (size_t i = 0; context->backend && i < file->n_cases; i++) {
		plan_make(&plan, file->cases[i]);
		plan_check_time(&plan, file->cases[i], say_warning, context->progress);
	}
}

static int run_and_record(struct record **out, char **path, const struct scenario_file *file,
	const struct run_options *options, struct case_context *context, struct error *err)
{
	struct record *record;
	int r;

	r = choose_dilation(file, context, err);
	if (r < 0)
		return r;
	warn_of_time(file, context);
	record = describe(file, options, context->backend);
	r = open_folder(&context->folder, file, record, options->out, err);
	if (r < 0) {
		record_free(record);
		return r;
	}
	r = run_cases(record, file, context, err);
	*path = memory_string(folder_path(context->folder));
	folder_free(context->folder);
	*out = record;
	return r;
}

int run_scenario(struct record **out, char **path, const struct scenario_file *file,
	const struct run_options *options, struct error *err)
{
	struct progress progress;
	struct case_context context = {.progress = &progress, .signal_fd = -1};
	struct error passed_over = {0};
	int r;

	r = choose(&context.backend, file, options->engine, &passed_over, err);
	signal(SIGPIPE, SIG_IGN);
	if (r >= 0)
		r = context.signal_fd = signals_take(err);
	if (r >= 0 && context.backend)
		r = prepare_machine(file, err);
	if (r >= 0) {
		progress_begin(&progress, stderr, options->quiet);
		if (context.backend)
			say_passed_over(&progress, context.backend->name, &passed_over);
		r = run_and_record(out, path, file, options, &context, err);
		progress_end(&progress);
	}
	signals_give_back(context.signal_fd);
	return r;
}
