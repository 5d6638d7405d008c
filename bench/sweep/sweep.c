/* A sweep from its plan to its folder; see sweep.h. */
#include "bench/sweep/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/progress.h"
#include "bench/sweep/plan.h"
#include "bench/sweep/pool.h"
#include "results/chart_sweep.h"
#include "results/file_put.h"

struct sweep {
	const struct sweep_options *options;
	struct sweep_plan plan;
	char *dir;
	size_t n; /* what is to be done, as indices into plan.first */
	size_t *todo;
	struct sweep_counts *counts;
	struct progress progress;
	struct error first; /* of a case that failed */
};

static char *default_folder(const char *path, const struct sweep_options *options)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	int n = dot && dot != name ? (int)(dot - name) : (int)strlen(name);

	return memory_format("results/sweeps/%.*s%s%s", n, name, options->seek ? "-" : "",
		options->seek ? options->seek->find : "");
}

static int open_folder(struct sweep *s, const char *path, struct error *err)
{
	_free_ char *run = NULL;

	s->dir =
		s->options->out ? memory_string(s->options->out) : default_folder(path, s->options);
	run = memory_format("%s/run.json", s->dir);
	if (!access(run, F_OK))
		return error_set(err, -EEXIST, STATUS_INPUT,
			"%s is the folder of a run; name another for the sweep", s->dir);
	signal(SIGXFSZ, SIG_IGN);
	return store_open(s->dir, err);
}

/* This process' part: what is finished of it is left alone. */
static int list_todo(struct sweep *s, struct error *err)
{
	s->todo = memory_zero(s->plan.n, sizeof *s->todo);
	for (size_t i = 0; i < s->plan.n; i++) {
		struct sweep_case *c = NULL;
		int r;

		if (!share_has(&s->options->share, i))
			continue;
		r = store_get(&c, s->dir, s->plan.ids[s->plan.first[i]], err);
		sweep_case_free(c);
		if (r == -ENOENT)
			s->todo[s->n++] = i;
		else if (r)
			return r;
		else
			s->counts->before++;
	}
	return 0;
}

static int run_task(void *user, size_t task, struct error *err)
{
	struct sweep *s = user;
	struct sweep_case *c = NULL;
	int r = sweep_compute(&c, &s->plan, s->options, s->plan.first[s->todo[task]], err);

	if (!r)
		r = store_put(s->dir, c, err);
	sweep_case_free(c);
	return r;
}

static void task_done(void *user, size_t task, const struct error *err)
{
	struct sweep *s = user;
	const struct scenario *c = s->plan.file->cases[s->plan.first[s->todo[task]]];
	const char *name = c->case_name[0] ? c->case_name : "the case";

	if (err->status == STATUS_HOLDS) {
		s->counts->done++;
		progress_count(&s->progress, s->counts->done + s->counts->failed, s->n, name);
		return;
	}
	s->counts->failed++;
	progress_say(&s->progress, "%s: %s", name, err->text);
	error_set(&s->first, -EIO, err->status, "%s: %s", name, err->text);
}

static int compute(struct sweep *s, struct error *err)
{
	const struct pool_work work = {.user = s, .run = run_task, .done = task_done};
	int r;

	progress_begin(&s->progress, stderr, s->options->quiet);
	r = pool_run(&work, s->n, s->options->jobs, err);
	progress_end(&s->progress);
	if (r < 0 || !s->counts->failed)
		return r;
	return error_set(err, -EIO, s->first.status,
		"%zu of %zu cases could not be computed; the first, %s\nwhat is finished stays: "
		"the "
		"same command computes the rest",
		s->counts->failed, s->n, s->first.text);
}

/* Drawn aside and moved into place one by one: others may be merging the same. */
static void move_charts(const char *from, const char *to)
{
	DIR *d = opendir(from);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		_free_ char *a = memory_format("%s/%s", from, e->d_name);
		_free_ char *b = memory_format("%s/%s", to, e->d_name);

		if (e->d_name[0] != '.' && rename(a, b))
			unlink(a);
	}
	if (d)
		closedir(d);
	rmdir(from);
}

/* Charts need gnuplot; the numbers do not: without it the sweep stands and the log says so. */
static void draw(const char *dir, const struct sweep_record *record)
{
	_free_ char *charts = memory_format("%s/charts", dir), *aside = NULL;
	struct error err = {0};
	char **stems = NULL;
	unsigned id = 0;
	size_t n = 0;

	if (getrandom(&id, sizeof id, 0) != sizeof id)
		id = (unsigned)getpid();
	aside = memory_format("%s/charts.%08x.new", dir, id);
	if ((mkdir(charts, 0777) && errno != EEXIST) || mkdir(aside, 0777)) {
		log_warn("cannot create %s: %s", charts, strerror(errno));
		return;
	}
	if (chart_sweep(record, aside, &stems, &n, &err) < 0)
		log_warn("%s", err.text);
	move_charts(aside, charts);
	for (size_t i = 0; i < n; i++)
		free(stems[i]);
	free(stems);
}

static int put(const char *dir, const char *name, const char *text, struct error *err)
{
	_free_ char *path = memory_format("%s/%s", dir, name);
	int r = file_put_shared(path, text);

	return r ? error_sys(err, r, "cannot write %s", path) : 0;
}

static int write_merged(const struct sweep *s, const struct sweep_record *record, struct error *err)
{
	_free_ char *json = NULL, *csv = sweep_csv(record);
	int r = sweep_record_json(&json, record, err);

	if (!r)
		r = put(s->dir, "scenario.yaml", s->plan.file->text, err);
	if (!r)
		r = put(s->dir, "sweep.csv", csv, err);
	if (!r)
		draw(s->dir, record);
	/* the last: where it is, all of it is */
	return r ? r : put(s->dir, "sweep.json", json, err);
}

static size_t count_missing(const struct sweep *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->plan.n; i++) {
		_free_ char *path =
			memory_format("%s/cases/%s.json", s->dir, s->plan.ids[s->plan.first[i]]);

		n += access(path, F_OK) != 0;
	}
	return n;
}

static int work(struct sweep *s, struct sweep_record **out, const char *path, struct error *err)
{
	int r = sweep_plan_make(&s->plan, path, s->options, err);

	if (r)
		return r;
	s->counts->cases = s->plan.file->n_cases;
	s->counts->distinct = s->plan.n;
	r = open_folder(s, path, err);
	if (!r)
		r = list_todo(s, err);
	if (!r)
		r = compute(s, err);
	s->counts->missing = count_missing(s);
	if (r || s->counts->missing)
		return r;
	r = sweep_merge(out, &s->plan, s->dir, err);
	return r ? r : write_merged(s, *out, err);
}

int sweep_run(struct sweep_record **out, char **folder, struct sweep_counts *counts,
	const char *path, const struct sweep_options *options, struct error *err)
{
	struct sweep s = {.options = options, .counts = counts};
	int r;

	*counts = (struct sweep_counts){0};
	r = work(&s, out, path, err);
	*folder = s.dir;
	sweep_plan_release(&s.plan);
	free(s.todo);
	return r;
}
