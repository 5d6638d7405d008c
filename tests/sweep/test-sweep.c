/*
 * A sweep over an engine that is a formula and counts how often it is asked: what is computed
 * once, what stays when some fail, what the merge says.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/sweep/pool.h"
#include "bench/sweep/store.h"
#include "bench/sweep/sweep.h"
#include "tests/test.h"

static char work[] = "/tmp/narrowlink-sweep-XXXXXX";

static const char scenario[] = "narrowlink: 1\n"
			       "links: {wan: {rate: 1 Gbit/s, delay: 5 ms}}\n"
			       "sites: {count: 2, link: wan}\n"
			       "workload: {strategy: diloco, parameters: 1 B, step: 1 s}\n"
			       "expect: {useful_work: \">= 50 %\"}\n"
			       "matrix:\n"
			       "  workload.strategy: [data-parallel, diloco]\n"
			       "  links.wan.rate: [1 Gbit/s, 2 Gbit/s, 4 Gbit/s, 8 Gbit/s]\n"
			       "  links.wan.queue: [10 ms, 20 ms]\n"
			       "  workload.outer.bits: [4 bit, 8 bit]\n";

static void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Children of the pool append a line each time they compute. */
static size_t asked(void)
{
	struct stat st;

	return stat("asked", &st) ? 0 : (size_t)st.st_size;
}

static int formula(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err)
{
	double rate = (double)s->links[0].direction[UP].base.rate_bps;
	double bits = strcmp(s->strategy->name, "diloco") ? 16 : s->job.bits;
	int fd = open("asked", O_WRONLY | O_CREAT | O_APPEND, 0666);

	assert_null(folder);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	if (!access("broken", F_OK) && rate == 4e9)
		return error_set(err, -1, STATUS_MACHINE, "out of order");
	if (!access("crash", F_OK) && rate == 8e9)
		raise(SIGKILL);
	c->useful_work = c->compute_utilisation = rate / (rate + bits * 1e9 / 16);
	cleanup_free(&c->verdict);
	c->verdict = memory_string(c->useful_work >= .5 ? "holds" : "fails");
	return 0;
}

static struct sweep_record *sweep(
	const struct sweep_options *with, struct sweep_counts *counts, struct error *err)
{
	struct sweep_options o = *with;
	struct sweep_record *record = NULL;
	_free_ char *folder = NULL;

	o.engine = formula;
	o.jobs = o.jobs ? o.jobs : 3;
	o.share.size = o.share.size ? o.share.size : 1;
	o.quiet = true;
	o.out = o.out ? o.out : "out";
	sweep_run(&record, &folder, counts, "s.yaml", &o, err);
	return record;
}

static int fresh(void **state)
{
	if (system("rm -rf out other asked broken crash"))
		return -1;
	put_file("s.yaml", scenario);
	return 0;
}

/* 32 cases; bits change nothing in data-parallel's, whose 8 pairs are equal: 24 distinct. */
static void test_whole(void **state)
{
	struct sweep_counts n;
	struct error err = {0};
	struct sweep_record *r = sweep(&(struct sweep_options){0}, &n, &err);

	if (!r)
		fail_msg("%s", err.text);
	assert_int_equal(n.cases, 32);
	assert_int_equal(n.distinct, 24);
	assert_int_equal(n.done, 24);
	assert_int_equal(asked(), 24);
	assert_int_equal(r->n_cases, 32);
	assert_string_equal(r->cases[0]->name, "data-parallel, 1 Gbit/s, 10 ms, 4 bit");
	assert_string_equal(sweep_value(r->cases[31], "links.wan.rate"), "8 Gbit/s");
	assert_near(sweep_metric_of(r->cases[0], "useful_work"), .5, 1e-12);
	assert_near(sweep_metric_of(r->cases[31], "useful_work"), 8 / 8.5, 1e-12);
	assert_near(r->cases[0]->rtt_s, .02, 1e-9);
	assert_int_equal(r->n_axes, 4);
	assert_string_equal(r->axes[0].kind, "word");
	assert_string_equal(r->axes[1].kind, "rate");
	assert_int_equal(r->n_notes, 2);
	assert_string_equal(r->notes[0], "nothing in these cases uses `links.wan.queue`: every "
					 "value gives the same result");
	assert_string_equal(
		r->notes[1], "nothing in the cases of data-parallel uses `workload.outer.bits`");
	sweep_record_free(r);
	r = sweep(&(struct sweep_options){0}, &n, &err);
	assert_non_null(r);
	assert_int_equal(n.before, 24);
	assert_int_equal(asked(), 24);
	sweep_record_free(r);
}

static void test_changed(void **state)
{
	const char *const set[] = {"links.wan.delay=6 ms"};
	struct sweep_counts n;
	struct error err = {0};

	sweep_record_free(sweep(&(struct sweep_options){0}, &n, &err));
	sweep_record_free(sweep(&(struct sweep_options){.set = set, .n_set = 1}, &n, &err));
	assert_int_equal(n.before, 0);
	assert_int_equal(asked(), 48);
}

/* Parts of three processes, one after another: the last one merges the same bytes. */
static void test_parts(void **state)
{
	struct sweep_counts n;
	struct error err = {0};
	struct sweep_record *r = NULL;

	sweep_record_free(sweep(&(struct sweep_options){.out = "other"}, &n, &err));
	for (int rank = 0; rank < 3; rank++) {
		assert_null(r);
		r = sweep(&(struct sweep_options){.share = {rank, 3, "test"}}, &n, &err);
		assert_int_equal(n.done, 8);
		assert_int_equal(n.missing, 16 - 8 * rank);
	}
	assert_non_null(r);
	sweep_record_free(r);
	assert_int_equal(asked(), 48);
	assert_int_equal(system("cmp out/sweep.json other/sweep.json && cmp out/sweep.csv "
				"other/sweep.csv && diff -r out/cases other/cases"),
		0);
	assert_int_equal(err.status, STATUS_HOLDS);
}

static void test_some_fail(const char *how, const char *says)
{
	struct sweep_counts n;
	struct error err = {0};
	struct sweep_record *r;

	put_file(how, "");
	r = sweep(&(struct sweep_options){0}, &n, &err);
	assert_null(r);
	assert_int_equal(n.failed, 6);
	assert_int_equal(n.done, 18);
	assert_int_equal(err.status, STATUS_MACHINE);
	if (!strstr(err.text, says) || !strstr(err.text, "6 of 24"))
		fail_msg("%s", err.text);
	unlink(how);
	err = (struct error){0};
	r = sweep(&(struct sweep_options){0}, &n, &err);
	assert_non_null(r);
	assert_int_equal(n.done, 6);
	assert_int_equal(n.before, 18);
	sweep_record_free(r);
}

static void test_failure(void **state)
{
	test_some_fail("broken", "out of order");
}

static void test_crash(void **state)
{
	test_some_fail("crash", "signal 9");
}

static void test_seeks(void **state)
{
	const char *const set[] = {"links.wan.rate=1 Gbit/s", "links.wan.queue=10 ms"};
	const struct seek_options seek = {.find = "links.wan.rate",
		.want = {METRIC_USEFUL_WORK, EXPECT_GE, .9},
		.tolerance = .001,
		.engine = formula};
	struct sweep_counts n;
	struct error err = {0};
	struct sweep_record *r =
		sweep(&(struct sweep_options){.set = set, .n_set = 2, .seek = &seek}, &n, &err);

	if (!r)
		fail_msg("%s", err.text);
	assert_int_equal(r->n_cases, 4);
	assert_int_equal(n.distinct, 3);
	/* rate / (rate + b) = 0.9 at 9 b: b = 1 for data-parallel, bits / 16 for diloco */
	assert_near(r->cases[0]->seeks[0]->found, 9e9, 9e9 * .0011);
	assert_near(r->cases[2]->seeks[0]->found, 9e9 / 4, 9e9 / 4 * .0011);
	assert_near(r->cases[3]->seeks[0]->found, 9e9 / 2, 9e9 / 2 * .0011);
	sweep_record_free(r);
}

static void test_seek_of_varied_key(void **state)
{
	const struct seek_options seek = {.find = "links.wan.rate",
		.want = {METRIC_USEFUL_WORK, EXPECT_GE, .9},
		.tolerance = .01,
		.engine = formula};
	struct sweep_counts n;
	struct error err = {0};

	assert_null(sweep(&(struct sweep_options){.seek = &seek}, &n, &err));
	assert_int_equal(err.status, STATUS_INPUT);
	assert_non_null(strstr(err.text, "the matrix varies this key"));
	assert_int_equal(asked(), 0);
}

/* A file of a case that is none, or another's: named, not computed over. */
static void test_bad_file(void **state)
{
	static const char *const texts[] = {"", "{}", "{\"schema\": \"narrowlink/run/1\"}",
		"{\"schema\": \"narrowlink/sweep-case/1\"}",
		"{\"schema\": \"narrowlink/sweep-case/1\", \"id\": \"x\", \"verdict\": \"holds\"}"};
	struct scenario_file *file = NULL;
	struct sweep_counts n;
	struct error err = {0};
	_free_ char *path = NULL;
	char id[STORE_ID];

	sweep_record_free(sweep(&(struct sweep_options){0}, &n, &err));
	assert_int_equal(scenario_load(&file, "s.yaml", NULL, 0, &err), 0);
	store_id(id, file->cases[3], "");
	scenario_file_free(file);
	path = memory_format("out/cases/%s.json", id);
	assert_int_equal(access(path, F_OK), 0);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		err = (struct error){0};
		put_file(path, texts[i]);
		assert_null(sweep(&(struct sweep_options){0}, &n, &err));
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, path))
			fail_msg("%s", err.text);
	}
}

static void test_folders_refused(void **state)
{
	struct sweep_counts n;
	struct error err = {0};

	assert_int_equal(mkdir("out", 0777), 0);
	put_file("out/run.json", "{}");
	assert_null(sweep(&(struct sweep_options){0}, &n, &err));
	assert_non_null(strstr(err.text, "folder of a run"));
	err = (struct error){0};
	assert_null(sweep(&(struct sweep_options){.out = "s.yaml"}, &n, &err));
	assert_int_equal(err.status, STATUS_INPUT);
	err = (struct error){0};
	assert_null(sweep(&(struct sweep_options){.out = ""}, &n, &err));
	assert_int_equal(err.status, STATUS_INPUT);
}

/* As many as somebody is likely to ask for at once. */
static void test_many(void **state)
{
	char text[16384];
	struct sweep_counts n;
	struct error err = {0};
	struct sweep_record *r;
	size_t used;

	used = (size_t)snprintf(text, sizeof text, "%.*s  links.wan.rate: [",
		(int)(strstr(scenario, "  workload.strategy") - scenario), scenario);
	for (int i = 0; i < 150; i++)
		used += (size_t)snprintf(
			text + used, sizeof text - used, "%s%d Mbit/s", i ? ", " : "", i + 1);
	snprintf(text + used, sizeof text - used,
		"]\n  workload.strategy: [diloco, data-parallel]\n");
	put_file("s.yaml", text);
	r = sweep(&(struct sweep_options){0}, &n, &err);
	if (!r)
		fail_msg("%s", err.text);
	assert_int_equal(r->n_cases, 300);
	assert_int_equal(asked(), 300);
	sweep_record_free(r);
}

static void test_processors(void **state)
{
	assert_true(pool_processors() >= 1);
}

static int enter(void **state)
{
	return mkdtemp(work) && !chdir(work) ? 0 : -1;
}

static int leave(void **state)
{
	_free_ char *command = memory_format("rm -rf %s", work);

	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whole, fresh),
		cmocka_unit_test_setup(test_changed, fresh),
		cmocka_unit_test_setup(test_parts, fresh),
		cmocka_unit_test_setup(test_failure, fresh),
		cmocka_unit_test_setup(test_crash, fresh),
		cmocka_unit_test_setup(test_seeks, fresh),
		cmocka_unit_test_setup(test_seek_of_varied_key, fresh),
		cmocka_unit_test_setup(test_bad_file, fresh),
		cmocka_unit_test_setup(test_folders_refused, fresh),
		cmocka_unit_test_setup(test_many, fresh),
		cmocka_unit_test(test_processors),
	};

	return cmocka_run_group_tests_name("sweep", tests, enter, leave);
}
