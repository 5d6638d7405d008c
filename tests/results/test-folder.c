/*
 * The run folder: whose it is, what its tables hold, and what is left of it on a disk that
 * ends (here by a limit on file sizes, which needs no rights; a full file system is in
 * test-full-disk).
 */
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "results/folder.h"
#include "scratch.h"

/*
 * In the place of libc's, so that two runs can be made to choose the same name: every number comes
 * `repeat` times (0: random).
 */
static unsigned repeat, drawn;

ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
	unsigned number = repeat ? drawn++ / repeat : 0;

	if (!repeat)
		return syscall(SYS_getrandom, buf, n, flags);
	memcpy(buf, &number, sizeof number);
	return sizeof number;
}

static struct folder *created(const char *dir)
{
	struct folder *f = NULL;
	struct error err = {0};

	if (folder_create(&f, dir, NULL, &err))
		fail_msg("%s", err.text);
	return f;
}

static void test_rows(void **state)
{
	char *dir = scratch_new();
	struct folder *f = created(dir);
	_free_ char *samples = NULL, *tcp = NULL, *events = NULL;
	struct error err = {0};

	folder_sample(f, &(struct folder_sample){0, 1.25, "a", "up", 840e6, 840e6, NAN, 3, .3, 1});
	folder_sample(f, &(struct folder_sample){12, 100000.1234567, "b,\"c\"\n", "down", 1e10, 0.5,
				 0, 0, INFINITY, 0});
	folder_tcp(f, &(struct folder_tcp){
			      0, 2, "l1", "l2", .6004, .6, 1234, 15, 803.4e6, 1.5, .25, NAN});
	folder_event(f, &(struct folder_event){0, 3, "l1", "state:compute", NAN, NAN, NAN, NAN});
	folder_event(f, &(struct folder_event){0, 4, "l1", "exchange", 7, 2, NAN, 1.5});
	assert_int_equal(folder_flush(f, NULL, &err), 0);
	samples = scratch_read(dir, "samples.csv");
	assert_string_equal(samples, "case,t_s,site,direction,wire_bps,limit_bps,delivered_bps,"
				     "drop_segments,delay_s,down\n"
				     "0,1.250000,a,up,840000000,840000000,,3,0.3,1\n"
				     "12,100000.123457,\"b,\"\"c\"\" \",down,1e+10,0.5,0,0,,0\n");
	tcp = scratch_read(dir, "tcp.csv");
	assert_string_equal(tcp,
		"case,t_s,participant,peer,rtt_s,min_rtt_s,cwnd_segments,retransmits,delivery_bps,"
		"busy_s,window_limited_s,buffer_limited_s\n"
		"0,2.000000,l1,l2,0.6004,0.6,1234,15,803400000,1.5,0.25,\n");
	events = scratch_read(dir, "events.csv");
	assert_string_equal(events, "case,t_s,participant,event,a,b,c,amount\n"
				    "0,3.000000,l1,state:compute,,,,\n"
				    "0,4.000000,l1,exchange,7,2,,1.5\n");
	folder_free(f);
	scratch_free(dir);
}

/* Names of any length and content neither break a row nor the program. */
static void test_long_names(void **state)
{
	char *dir = scratch_new(), *events, *line;
	struct folder *f = created(dir);
	char name[2000];
	int lines = 0;

	memset(name, '"', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (int i = 0; i < 100; i++)
		folder_event(f, &(struct folder_event){i, 1e300, name, name, 1e300, 1, 1, 1});
	memset(name, '\xff', sizeof name - 1);
	folder_event(f, &(struct folder_event){0, 1, name, NULL, 1, 1, 1, 1});
	folder_free(f);
	events = scratch_read(dir, "events.csv");
	for (line = strchr(events, '\n'); line; line = strchr(line + 1, '\n'))
		lines++;
	assert_int_equal(lines, 102);
	assert_int_equal(events[strlen(events) - 1], '\n');
	free(events);
	scratch_free(dir);
}

static void test_chosen_name(void **state)
{
	char *dir = scratch_new(), *home = getcwd(NULL, 0);
	struct folder *a = NULL, *b = NULL;
	struct error err = {0};
	regex_t re;

	assert_int_equal(chdir(dir), 0);
	assert_int_equal(folder_create(&a, NULL, "../Zwölf  Sites_v1.yaml/", &err), 0);
	assert_int_equal(folder_create(&b, NULL, "...", &err), 0);
	assert_int_equal(regcomp(&re,
				 "^results/runs/[0-9]{8}T[0-9]{6}Z-Zw-lf-Sites_v1.yaml-"
				 "[0-9a-f]{4}$",
				 REG_EXTENDED | REG_NOSUB),
		0);
	if (regexec(&re, folder_path(a), 0, NULL, 0))
		fail_msg("%s", folder_path(a));
	regfree(&re);
	assert_non_null(strstr(folder_path(b), "Z-run-"));
	folder_free(a);
	folder_free(b);
	assert_int_equal(chdir(home), 0);
	free(home);
	scratch_free(dir);
}

/* The same id in the same second: the second run takes another; and gives up if there is none. */
static void test_taken_names(void **state)
{
	char *dir = scratch_new(), *home = getcwd(NULL, 0);
	struct folder *f[3] = {NULL};
	struct error err = {0};

	assert_int_equal(chdir(dir), 0);
	repeat = 3;
	drawn = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(folder_create(&f[i], NULL, "same", &err), 0);
	assert_string_not_equal(folder_path(f[0]), folder_path(f[1]));
	assert_string_not_equal(folder_path(f[1]), folder_path(f[2]));
	for (int i = 0; i < 3; i++)
		f[i] = folder_free(f[i]);
	repeat = 100000;
	drawn = 0;
	for (int i = 0; i < 3 && err.status == STATUS_HOLDS; i++) /* a second may end between two */
		if (!folder_create(&f[i], NULL, "same", &err))
			f[i] = folder_free(f[i]);
	repeat = 0;
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(
		strstr(err.text, "cannot create a run folder in results/runs: File exists"));
	assert_int_equal(chdir(home), 0);
	free(home);
	scratch_free(dir);
}

static int count_entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

/* Eight processes of sixteen runs each, in the same seconds under the same name: 128 folders. */
static void test_names_are_unique(void **state)
{
	char *dir = scratch_new();
	_free_ char *runs = memory_format("%s/results/runs", dir);
	int status;

	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid)
			continue;
		status = chdir(dir);
		for (int k = 0; k < 16 && !status; k++) {
			struct folder *f = NULL;

			status = folder_create(&f, NULL, "same", &(struct error){0});
			folder_free(f);
		}
		_exit(status ? 1 : 0);
	}
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
	assert_int_equal(count_entries(runs), 128);
	scratch_free(dir);
}

static void test_never_written_over(void **state)
{
	char *dir = scratch_new();
	_free_ char *deep = memory_format("%s/a/b/c", dir), *file = memory_format("%s/f", dir);
	_free_ char *below = memory_format("%s/f/x", dir);
	struct folder *f = created(deep), *other = NULL;
	struct error err = {0};

	assert_int_equal(folder_create(&other, deep, NULL, &err), -ENOTEMPTY);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_non_null(strstr(err.text, "not empty"));
	scratch_write(dir, "f", "x");
	err = (struct error){0};
	assert_int_equal(folder_create(&other, file, NULL, &err), -ENOTDIR);
	assert_int_equal(err.status, STATUS_INPUT);
	err = (struct error){0};
	assert_int_equal(folder_create(&other, below, NULL, &err), -ENOTDIR);
	assert_int_equal(err.status, STATUS_INPUT);
	for (size_t length = 256; length <= 5000; length += 4744) {
		_free_ char *name = memory_format("%s/%0*d", dir, (int)length, 0);

		err = (struct error){0};
		assert_int_equal(folder_create(&other, name, NULL, &err), -ENAMETOOLONG);
		assert_int_equal(err.status, STATUS_INPUT);
	}
	err = (struct error){0};
	assert_int_equal(folder_create(&other, "", NULL, &err), -EINVAL);
	err = (struct error){0};
	assert_int_equal(folder_create(&other, "/proc/none/run", NULL, &err), -ENOENT);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_null(other);
	folder_free(f);
	scratch_free(dir);
}

static void test_put(void **state)
{
	char *dir = scratch_new();
	struct folder *f = created(dir);
	_free_ char *text = NULL;
	struct error err = {0};

	assert_int_equal(folder_put(f, "scenario.yaml", "narrowlink: 1\n", &err), 0);
	text = scratch_read(dir, "scenario.yaml");
	assert_string_equal(text, "narrowlink: 1\n");
	assert_int_equal(folder_put(f, "scenario.yaml", "other", &err), -EEXIST);
	assert_int_equal(err.status, STATUS_MACHINE);
	folder_free(f);
	scratch_free(dir);
}

/* In a child, since the limit stays: 64 KiB is the most a file may have. */
static int write_past_limit(const char *dir)
{
	const struct rlimit limit = {65536, 65536};
	struct folder *f = NULL;
	struct error err = {0}, second = {0};
	struct record *record = record_new();
	int r;

	if (folder_create(&f, dir, NULL, &err) || folder_flush(f, record, &err) ||
		setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	for (int i = 0; i < 4000; i++)
		folder_sample(
			f, &(struct folder_sample){0, i, "site", "up", i, i, i, 0, .001 * i, 0});
	folder_event(f, &(struct folder_event){0, 1, "l", "state:compute", 0, 0, 0, 0});
	r = folder_flush(f, record, &err);
	if (r != -EFBIG || err.status != STATUS_MACHINE || !strstr(err.text, "samples.csv"))
		return 2;
	folder_sample(f, &(struct folder_sample){0, 1, "late", "up", 0, 0, 0, 0, 0, 0});
	if (folder_flush(f, record, &second)) /* told once; what fits is written still */
		return 3;
	folder_free(f);
	record_free(record);
	return 0;
}

static void test_file_size_limit(void **state)
{
	char *dir = scratch_new();
	_free_ char *samples = NULL, *events = NULL, *json = NULL;
	int status, row = 0;
	pid_t pid = fork();
	char *line;

	assert_true(pid >= 0);
	if (!pid)
		_exit(write_past_limit(dir));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	samples = scratch_read(dir, "samples.csv");
	assert_in_range(strlen(samples), 65536 - 200, 65536);
	assert_int_equal(samples[strlen(samples) - 1], '\n');
	for (line = strchr(samples, '\n') + 1; *line; line = strchr(line, '\n') + 1, row++) {
		_free_ char *want = memory_format("0,%d.000000,site,up,%d,", row, row);

		assert_int_equal(strncmp(line, want, strlen(want)), 0);
	}
	assert_null(strstr(samples, "late"));
	events = scratch_read(dir, "events.csv");
	assert_non_null(strstr(events, "state:compute")); /* the other table went on */
	json = scratch_read(dir, "run.json");
	assert_non_null(strstr(json, "narrowlink/run/1"));
	scratch_free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_chosen_name),
		cmocka_unit_test(test_taken_names),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_never_written_over),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_file_size_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
