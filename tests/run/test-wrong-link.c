/*
 * Runs whose links are deliberately not what the scenario says: the relay, raised with another
 * plan than the one it is held against. Each must end invalid, with what is off in its reason.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/case.h"
#include "tests/emu/namespaces.h"

static double rate_factor = 1, extra_loss;

static int wrong_up(struct backend_run **out, const struct topology *t,
	const struct link_plan *plan, struct error *err)
{
	static struct link_plan wrong; /* the relay's until down */

	wrong = *plan;
	for (int i = 0; i < t->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++) {
			struct link_state *s = &wrong.links[i][d].base;

			s->rate_bps = (int64_t)((double)s->rate_bps * rate_factor);
			s->loss += extra_loss;
		}
	return backend_relay.up(out, t, &wrong, err);
}

static const char text[] = "narrowlink: 1\nseed: 5\nsites: {count: 2, link: wan}\n"
			   "links: {wan: {rate: 5 Mbit/s, delay: 20 ms, queue: 300 ms}}\n"
			   "workload: {strategy: data-parallel, parameters: 100 k, step: 500 ms}\n"
			   "run: {steps: 2, warmup: 1}\n";

/* A machine so busy that a sender of 6 Mbit/s pauses for longer than the queue lasts: no test. */
static void skip_if_unmeasured(const struct record_case *c)
{
	for (size_t i = 0; i < c->n_checks; i++)
		if (!strcmp(c->checks[i].check, "rate_udp") &&
			!strcmp(c->checks[i].result, "unmeasured")) {
			fprintf(stderr, "# %s\n", c->checks[i].why);
			exit(SKIP);
		}
}

static void run_with(double rate, double loss, const char *override, const char *reason)
{
	char dir[] = "/tmp/narrowlink-wrong-XXXXXX";
	struct backend wrong = backend_relay;
	struct progress progress;
	struct scenario_file *file;
	struct record *record = record_new();
	struct record_case *c;
	struct error err = {0};
	_free_ char *path = NULL;
	int pipe_fds[2];
	bool found = false;

	isolate_or_skip();
	if (backend_relay.probe(&err) < 0)
		exit(SKIP);
	rate_factor = rate;
	extra_loss = loss;
	wrong.up = wrong_up;
	CHECK(mkdtemp(dir) && pipe2(pipe_fds, O_CLOEXEC) == 0);
	path = memory_format("%s/run", dir);
	CHECK_OK(scenario_load_text(&file, "wrong.yaml", text, strlen(text), &override,
			 override ? 1 : 0, &err),
		err);
	progress_begin(&progress, stderr, true);
	struct case_context context = {
		.backend = &wrong, .progress = &progress, .signal_fd = pipe_fds[0], .n_cases = 1};
	CHECK_OK(folder_create(&context.folder, path, "wrong", &err), err);
	c = record_add_case(record, "");
	CHECK_OK(case_run(c, file->cases[0], &context, &err), err);
	for (size_t i = 0; i < c->n_checks; i++)
		fprintf(stderr, "# %s: %g, asked %g: %s\n", c->checks[i].check, c->checks[i].got,
			c->checks[i].want, c->checks[i].result);
	skip_if_unmeasured(c);
	CHECK(!strcmp(c->verdict, "invalid"));
	for (size_t i = 0; i < c->n_reasons; i++)
		found |= strstr(c->reasons[i], reason) != NULL;
	CHECK(found);
	folder_free(context.folder);
	record_free(record);
	scenario_file_free(file);
	execlp("rm", "rm", "-rf", dir, NULL);
}

static void slow(void)
{
	run_with(.97, 0, NULL, "calibration: rate_udp");
}

static void lossy(void)
{
	run_with(1, .001, "links.wan.rate=20 Mbit/s", "calibration: loss");
}

static void test_slow(void **state)
{
	run(slow);
}

static void test_lossy(void **state)
{
	run(lossy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_lossy),
	};

	return cmocka_run_group_tests_name("wrong-link", tests, NULL, NULL);
}
