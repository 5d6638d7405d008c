/*
 * Runs beside a seek; see confirm.h. A child says where its folder is over a pipe; the numbers
 * come from the run.json in it, as anybody else would read them.
 */
#include "bench/seek/confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/run.h"
#include "bench/verdict.h"
#include "results/show.h"

bool confirm_agrees(const char *metric, double model, double packets)
{
	bool ratio = strchr(show_metric(metric, 0).text, '%');
	double gap = fabs(model - packets);

	return gap <= (ratio ? CONFIRM_POINTS : CONFIRM_SHARE * fabs(packets));
}

bool confirm_all(const struct seek_record *seek)
{
	for (size_t i = 0; i < seek->n_checks; i++)
		if (!seek->checks[i].agrees)
			return false;
	return seek->n_checks > 0;
}

/* The arguments with which somebody repeats it. */
static char **run_arguments(
	const struct seek_source *source, const char *file, const char *item, int *argc)
{
	char **argv = memory_zero(2 * source->n_set + 5, sizeof *argv);
	int n = 0;

	argv[n++] = memory_string("run");
	argv[n++] = memory_string(file);
	for (size_t i = 0; i < source->n_set; i++) {
		argv[n++] = memory_string("--set");
		argv[n++] = memory_string(source->set[i]);
	}
	argv[n++] = memory_string("--set");
	argv[n++] = memory_string(item);
	*argc = n;
	return argv;
}

/* In the child: the run, its folder's name to the parent, its status as exit status. */
static void __attribute__((noreturn))
child(const struct scenario_file *file, const struct run_options *run, int to)
{
	struct record *record = NULL;
	struct error err = {0};
	char *folder = NULL;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	run_scenario(&record, &folder, file, run, &err);
	if (record)
		run_draw(folder, record, run->quiet, &(struct error){0});
	if (folder)
		dprintf(to, "%s", folder);
	else
		dprintf(to, "!%s", err.text);
	if (err.status == STATUS_HOLDS && record)
		err.status = verdict_status(record);
	_exit((int)err.status);
}

static size_t read_all(int fd, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n;

	while (used + 1 < size &&
		((n = read(fd, buf + used, size - 1 - used)) > 0 || (n < 0 && errno == EINTR)))
		used += n > 0 ? (size_t)n : 0;
	buf[used] = '\0';
	return used;
}

/*
 * Ctrl-C reaches the whole process group: the run ends in order and this process waits for it.
 */
static int wait_for(pid_t pid, int from, char *said, size_t size)
{
	int status;

	read_all(from, said, size);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_INVALID;
}

static int spawn_run(const struct scenario_file *file, const struct run_options *run, char *said,
	size_t size, enum exit_status *status, struct error *err)
{
	void (*before)(int);
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return error_sys(err, -errno, "cannot start a run");
	fflush(NULL);
	pid = fork();
	if (!pid)
		child(file, run, ends[1]);
	before = signal(SIGINT, SIG_IGN); /* after the fork: the run would leave it out, too */
	close(ends[1]);
	if (pid > 0)
		*status = (enum exit_status)wait_for(pid, ends[0], said, size);
	else
		error_sys(err, -errno, "cannot start a run");
	close(ends[0]);
	signal(SIGINT, before);
	return pid > 0 ? 0 : -EAGAIN;
}

static int read_result(struct seek_check *check, const char *said, enum exit_status status,
	const struct expectation *want, double *dilation, struct error *err)
{
	_free_ char *path = memory_format("%s/run.json", said);
	struct record *record = NULL;
	int r;

	if (*said == '!' || !*said)
		return error_set(err, -EIO, status == STATUS_HOLDS ? STATUS_MACHINE : status,
			"the run at %s could not be made%s%s", check->text, *said ? ": " : "",
			*said ? said + 1 : "");
	check->folder = memory_string(said);
	r = record_read_json(&record, path, err);
	if (r)
		return r;
	check->verdict = memory_string(record->cases[0]->verdict);
	check->packets = metric_value(record->cases[0], want->metric);
	*dilation = record->dilation;
	if (status != STATUS_HOLDS && status != STATUS_FAILED)
		r = error_set(err, -EIO, STATUS_INVALID, "the run at %s has no verdict: %s",
			check->text, record->cases[0]->because ? record->cases[0]->because : "");
	record_free(record);
	return r;
}

static int model_value(double *out, const struct scenario *s, const struct seek_options *options,
	struct error *err)
{
	struct record *record = record_new();
	struct record_case *c = record_add_case(record, "");
	int r = options->engine(c, s, NULL, 0, err);

	*out = metric_value(c, options->want.metric);
	record_free(record);
	return r;
}

int confirm_model(struct seek_check *check, struct scenario *s, double dilation,
	const struct seek_options *options, struct error *err)
{
	double got;
	int r = 0;

	s->dilation = check->dilation = dilation;
	s->dilation_auto = false;
	for (int i = 0; !r && i < CONFIRM_SEEDS; i++) {
		r = model_value(&got, s, options, err);
		s->job.seed = ++s->seed;
		if (i == 0)
			check->model = check->least = check->greatest = got;
		check->least = fmin(check->least, got);
		check->greatest = fmax(check->greatest, got);
	}
	return r;
}

static int check_value(struct seek_record *seek, const struct numeric *n, double value,
	const struct seek_source *source, const struct seek_options *options,
	const struct confirm_options *confirm, struct error *err)
{
	struct run_options run = {.engine = confirm->engine, .quiet = confirm->quiet};
	struct scenario_file *file = NULL;
	enum exit_status status = STATUS_HOLDS;
	double dilation = 1;
	char text[64], exact[64], said[2100];
	struct seek_check *check;
	_free_ char *item = NULL;
	int r = seek_load(&file, source, n, value, err);

	if (r)
		return r;
	scenario_expect(file->cases[0], &options->want);
	check = seek_add_check(seek, value, numeric_format(text, sizeof text, n, value, false));
	item = memory_format("%s=%s", n->key, numeric_format(exact, sizeof exact, n, value, true));
	run.argv = run_arguments(source, confirm->file, item, &run.argc);
	r = spawn_run(file, &run, said, sizeof said, &status, err);
	if (!r)
		r = read_result(check, said, status, &options->want, &dilation, err);
	if (!r)
		r = confirm_model(check, file->cases[0], dilation, options, err);
	check->agrees = !r && confirm_agrees(seek->metric, check->model, check->packets);
	for (int i = 0; i < run.argc; i++)
		free(run.argv[i]);
	free(run.argv);
	scenario_file_free(file);
	return r;
}

/* Below, at and above the found value: as far as the scenario takes them, whole where it must. */
int confirm_run(struct seek_record *seek, const struct seek_source *source,
	const struct seek_options *options, const struct confirm_options *confirm,
	struct error *err)
{
	struct scenario_file *file = NULL;
	struct numeric n;
	int r = seek_load(&file, source, NULL, 0, err);

	if (!r)
		r = numeric_find(&n, file->cases[0], seek->key, err);
	scenario_file_free(file);
	for (int side = -1; !r && side <= 1; side++) {
		double value = seek->found * (1 + side * CONFIRM_STEP);
		struct error ignored = {0};

		if (n.whole)
			value = side ? seek->found +
						side * fmax(1, round(CONFIRM_STEP * seek->found))
				     : seek->found;
		file = NULL;
		if (side && seek_load(&file, source, &n, value, &ignored))
			continue;
		scenario_file_free(file);
		r = check_value(seek, &n, value, source, options, confirm, err);
	}
	return r;
}
