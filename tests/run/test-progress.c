/* The progress line: what a pipe gets, what quiet gets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/progress.h"
#include "tests/test.h"

static const struct progress_state half = {
	.case_name = "claim",
	.n_cases = 4,
	.case_index = 1,
	.at_s = 50,
	.expected_s = 110,
	.dilation = 2,
	.useful_work = .9134,
	.wire_bps = 839e6,
};

static char *printed(bool quiet, const struct progress_state *s)
{
	static char text[4096];
	FILE *f = tmpfile();
	struct progress p;
	size_t n;

	progress_begin(&p, f, quiet);
	progress_update(&p, s);
	progress_update(&p, s); /* too soon after the first: nothing */
	progress_say(&p, "done %d", 7);
	rewind(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static void a_pipe_gets_plain_lines(void **state)
{
	assert_string_equal(printed(false, &half),
		"case 2 of 4, claim: 50 s of about 110 s, 120 s left, useful work 91.3 %, "
		"busiest link 839 Mbit/s\ndone 7\n");
}

static void unknown_useful_work_is_left_out(void **state)
{
	struct progress_state early = half;

	early.useful_work = NAN;
	early.n_cases = 1;
	assert_string_equal(printed(false, &early),
		"claim: 50 s of about 110 s, 120 s left, busiest link 839 Mbit/s\ndone 7\n");
}

/* How long simulated time takes is not known, and a pipe is told of it only if it takes long. */
static void simulated_time_has_no_time_left(void **state)
{
	struct progress_state simulated = half;
	char text[256];
	FILE *f = tmpfile();
	struct progress p;
	size_t n;

	simulated.simulated = true;
	simulated.wire_bps = NAN;
	assert_string_equal(printed(false, &simulated), "done 7\n");
	progress_begin(&p, f, false);
	p.printed_ns = 1;
	progress_update(&p, &simulated);
	rewind(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	assert_string_equal(
		text, "case 2 of 4, claim: simulated 50 s of about 110 s, useful work 91.3 %\n");
}

static void connecting_is_counted(void **state)
{
	char text[256];
	FILE *f = tmpfile();
	struct progress p;
	size_t n;

	progress_begin(&p, f, false);
	progress_connecting(&p, &half, 12, 56);
	progress_connecting(&p, &half, 13, 56); /* too soon */
	rewind(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	assert_string_equal(text, "case 2 of 4, claim: connecting 12/56\n");
}

static void quiet_is_quiet(void **state)
{
	assert_string_equal(printed(true, &half), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_gets_plain_lines),
		cmocka_unit_test(unknown_useful_work_is_left_out),
		cmocka_unit_test(simulated_time_has_no_time_left),
		cmocka_unit_test(connecting_is_counted),
		cmocka_unit_test(quiet_is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
