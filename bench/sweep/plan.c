/* From a file to distinct cases, from a case to its result, and back to one record. */
#include "bench/sweep/plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/plan.h"
#include "bench/sweep/effect.h"
#include "bench/verdict.h"
#include "bench/version.h"

#define SET_MAX 80

/* What is sought, as part of a case's identity. */
static char *sought(const struct seek_options *seek)
{
	char text[128];

	if (!seek)
		return memory_string("");
	return memory_format("%s|%s|%s|%s|%.17g|%d", seek->find,
		expectation_format(text, sizeof text, &seek->want), seek->min ? seek->min : "",
		seek->max ? seek->max : "", seek->tolerance, seek->largest);
}

static int check_seek(
	const struct scenario_file *file, const struct seek_options *seek, struct error *err)
{
	const struct scenario *s = file->cases[0];
	struct numeric n;

	for (size_t i = 0; seek && i < s->n_set; i++)
		if (!strcmp(s->set[i].key, seek->find))
			return error_set(err, -EINVAL, STATUS_INPUT,
				"--find %s: the matrix varies this key; take it out of one of them",
				seek->find);
	return seek ? numeric_find(&n, s, seek->find, err) : 0;
}

int sweep_plan_make(struct sweep_plan *out, const char *path, const struct sweep_options *options,
	struct error *err)
{
	_free_ char *what = sought(options->seek);
	struct sweep_plan p = {0};
	int r = scenario_load(&p.file, path, options->set, options->n_set, err);

	if (!r)
		r = check_seek(p.file, options->seek, err);
	if (r) {
		scenario_file_free(p.file);
		return r;
	}
	p.ids = memory_zero(p.file->n_cases, sizeof *p.ids);
	p.first = memory_zero(p.file->n_cases, sizeof *p.first);
	for (size_t i = 0; i < p.file->n_cases; i++) {
		size_t k = 0;

		store_id(p.ids[i], p.file->cases[i], what);
		while (k < p.n && strcmp(p.ids[p.first[k]], p.ids[i]))
			k++;
		if (k == p.n)
			p.first[p.n++] = i;
	}
	*out = p;
	return 0;
}

void sweep_plan_release(struct sweep_plan *plan)
{
	scenario_file_free(plan->file);
	free(plan->ids);
	free(plan->first);
}

static int compute_seek(struct sweep_case *out, const struct sweep_plan *plan,
	const struct sweep_options *options, const struct scenario *s, struct error *err)
{
	const char *set[SET_MAX];
	struct seek_source source = {.path = plan->file->path,
		.text = plan->file->text,
		.length = strlen(plan->file->text),
		.set = set};
	struct seek_record *seek = NULL;
	int r;

	if (options->n_set + s->n_set > SET_MAX)
		return error_set(err, -E2BIG, STATUS_INPUT,
			"more than %d overrides and keys of "
			"the matrix",
			SET_MAX);
	for (; source.n_set < options->n_set; source.n_set++)
		set[source.n_set] = options->set[source.n_set];
	for (size_t i = 0; i < s->n_set; i++)
		set[source.n_set++] = memory_format("%s=%s", s->set[i].key, s->set[i].value);
	r = seek_run(&seek, &source, options->seek, err);
	for (size_t i = options->n_set; i < source.n_set; i++)
		free((char *)set[i]);
	if (r)
		return r;
	out->verdict = memory_string(seek->outcome);
	out->because = memory_string(seek->because);
	for (size_t i = 0; i < seek->n_notes; i++)
		sweep_case_note(out, seek->notes[i]);
	out->seeks = memory_zero(1, sizeof(struct seek_record *));
	out->seeks[out->n_seeks++] = seek;
	return 0;
}

static int compute_case(struct sweep_case *out, const struct sweep_options *options,
	const struct scenario *s, struct error *err)
{
	struct record *record = record_new();
	struct record_case *c = record_add_case(record, "");
	int r = options->engine(c, s, NULL, 0, err);

	if (!r) {
		out->verdict = memory_string(c->verdict);
		out->because = memory_string(strcmp(c->verdict, "holds") ? c->because : NULL);
		for (size_t i = 0; i < c->n_notes; i++)
			sweep_case_note(out, c->notes[i]);
		for (int m = 0; m < METRIC_COUNT; m++)
			sweep_add_metric(
				out, metric_name((enum metric)m), metric_value(c, (enum metric)m));
	}
	record_free(record);
	return r;
}

int sweep_compute(struct sweep_case **out, const struct sweep_plan *plan,
	const struct sweep_options *options, size_t i, struct error *err)
{
	const struct scenario *s = plan->file->cases[i];
	struct sweep_case *c = sweep_case_new();
	int r = options->seek ? compute_seek(c, plan, options, s, err)
			      : compute_case(c, options, s, err);

	if (r) {
		sweep_case_free(c);
		return r;
	}
	c->id = memory_string(plan->ids[i]);
	*out = c;
	return 0;
}

/* Merging. */

static double round_trip_s(const struct scenario *s)
{
	struct plan p;

	plan_make(&p, s);
	return 2 * (double)p.one_way_ns / (double)NS_PER_S;
}

static void name_case(struct sweep_case *c, const struct scenario *s)
{
	c->name = memory_string(s->case_name);
	c->strategy = memory_string(scenario_is_fleet(s) ? "fleet" : s->strategy->name);
	c->rtt_s = scenario_is_fleet(s) ? NAN : round_trip_s(s);
	for (size_t i = 0; i < s->n_set; i++)
		sweep_set_value(c, s->set[i].key, s->set[i].value);
}

static void add_axes(struct sweep_record *out, const struct scenario *s)
{
	for (size_t i = 0; i < s->n_set; i++) {
		struct error ignored = {0};
		struct numeric n;
		bool number = !numeric_find(&n, s, s->set[i].key, &ignored);

		sweep_add_axis(out, s->set[i].key, number ? numeric_kind_name(&n) : "word");
	}
}

static void note_turns(struct sweep_record *out)
{
	for (size_t i = 0; i < out->n_cases; i++) {
		const struct sweep_case *c = out->cases[i];

		for (size_t k = 0; c->n_seeks && k < c->n_notes; k++)
			sweep_note(out, "%s: %s", c->name, c->notes[k]);
	}
}

int sweep_merge(struct sweep_record **out, const struct sweep_plan *plan, const char *dir,
	struct error *err)
{
	const struct scenario_file *file = plan->file;
	struct sweep_record *s = sweep_record_new();

	s->tool_version = memory_string(NARROWLINK_VERSION);
	s->tool_git = memory_string(NARROWLINK_GIT);
	s->title = memory_string(file->cases[0]->title);
	s->scenario_path = memory_string(file->path);
	add_axes(s, file->cases[0]);
	for (size_t i = 0; i < file->n_cases; i++) {
		struct sweep_case *c = NULL;
		int r = store_get(&c, dir, plan->ids[i], err);

		if (r) {
			sweep_record_free(s);
			return r;
		}
		name_case(c, file->cases[i]);
		sweep_add_case(s, c);
	}
	effect_notes(s);
	note_turns(s);
	*out = s;
	return 0;
}
