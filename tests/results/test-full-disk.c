/*
 * A disk that fills up while a run is recorded: a tmpfs of a few pages in a mount namespace of
 * the test's own.
 */
#include "tests/test.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/memory.h"
#include "results/folder.h"
#include "scratch.h"

/* A file system of 256 KiB at dir; false where the machine does not let us. */
static bool small_disk(const char *dir)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	return !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tmpfs", dir, "tmpfs", 0, "size=256k");
}

static void fill(struct folder *f, int rows)
{
	for (int i = 0; i < rows; i++) {
		folder_sample(f, &(struct folder_sample){0, i, "s", "up", i, i, i, 0, 0, 0});
		folder_event(f, &(struct folder_event){0, i, "l", "step", i, 0, 0, 0});
	}
}

static void check_rows(const char *dir, const char *file, const char *format)
{
	_free_ char *text = scratch_read(dir, file);
	char *line = strchr(text, '\n') + 1;
	int row = 0;

	assert_int_equal(text[strlen(text) - 1], '\n');
	for (; *line; line = strchr(line, '\n') + 1, row++) {
		char want[64];

		snprintf(want, sizeof want, "0,%d.000000,%s", row, format);
		assert_int_equal(strncmp(line, want, strlen(want)), 0);
	}
	assert_in_range(row, 100, 20000);
}

static void test_full_disk(void **state)
{
	char *dir = scratch_new();
	_free_ char *run = memory_format("%s/run", dir), *path = NULL;
	struct record *record = record_new(), *back = NULL;
	struct folder *f = NULL;
	struct error err = {0};

	if (!small_disk(dir)) {
		scratch_free(dir);
		record_free(record);
		skip();
	}
	record_add_case(record, "first");
	assert_int_equal(folder_create(&f, run, NULL, &err), 0);
	assert_int_equal(folder_flush(f, record, &err), 0);
	fill(f, 20000);
	record_add_case(record, "second");
	assert_int_equal(folder_flush(f, record, &err), -ENOSPC);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(strstr(err.text, "No space left on device"));
	fill(f, 10);
	folder_free(f);
	check_rows(run, "samples.csv", "s,up");
	check_rows(run, "events.csv", "l,step");
	path = memory_format("%s/run.json", run);
	assert_int_equal(record_read_json(&back, path, &(struct error){0}), 0);
	assert_in_range(back->n_cases, 1, 2); /* the old one or the new one, whole */
	record_free(back);
	record_free(record);
	umount(dir);
	scratch_free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_disk)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
