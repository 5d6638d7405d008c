/* The user's errors: the first is kept, and one that is too long keeps both its ends. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/test.h"

static void the_first_is_kept(void **state)
{
	struct error err = {0};

	assert_int_equal(error_set(&err, -EINVAL, STATUS_INPUT, "%s is wrong", "this"), -EINVAL);
	assert_int_equal(error_sys(&err, -EIO, "and that"), -EIO);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_string_equal(err.text, "this is wrong");
}

static void the_system_says_why(void **state)
{
	struct error err = {0};

	assert_int_equal(error_sys(&err, -ENOENT, "cannot read %s", "x"), -ENOENT);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_string_equal(err.text, "cannot read x: No such file or directory");
}

static void too_many_files_have_a_remedy(void **state)
{
	struct error err = {0};
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 61;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	error_sys(&err, -EMFILE, "cannot open %s", "x");
	assert_string_equal(err.text,
		"cannot open x: Too many open files; at most 61 here; as root: ulimit -n MORE");
}

/* From a soft limit to the hard one, which what is forked inherits. */
static void the_limit_is_raised(void **state)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 61;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	files_raise();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(limit.rlim_max > 61 && limit.rlim_cur == limit.rlim_max);
}

/* However long the path, what is wrong with it stands at the end; no character is cut. */
static void a_long_path_leaves_the_reason(void **state)
{
	static char path[9000];

	for (size_t length = 1900; length < sizeof path; length += 499) {
		struct error err = {0};

		for (size_t i = 0; i < length; i++)
			path[i] = "\303\274"[i % 2];
		path[length / 2 * 2] = '\0';
		error_sys(&err, -ENAMETOOLONG, "cannot create %s", path);
		assert_true(strlen(err.text) < sizeof err.text);
		assert_ptr_equal(strstr(err.text, "cannot create \303\274"), err.text);
		assert_non_null(strstr(err.text, "\274: File name too long"));
		if (strlen(path) > sizeof err.text)
			assert_non_null(strstr(err.text, "\303\274 ... \303\274"));
	}
}

/* At the room's edge: 2047 characters fit as they are. */
static void what_fits_is_left_alone(void **state)
{
	struct error fits = {0}, longer = {0};

	error_set(&fits, -1, STATUS_INPUT, "%2047d", 7);
	assert_int_equal(strlen(fits.text), 2047);
	assert_null(strstr(fits.text, "..."));
	error_set(&longer, -1, STATUS_INPUT, "%2048d", 7);
	assert_non_null(strstr(longer.text, "..."));
	assert_int_equal(longer.text[strlen(longer.text) - 1], '7');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_kept),
		cmocka_unit_test(the_system_says_why),
		cmocka_unit_test(too_many_files_have_a_remedy),
		cmocka_unit_test(the_limit_is_raised),
		cmocka_unit_test(a_long_path_leaves_the_reason),
		cmocka_unit_test(what_fits_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
