/* Overrides from the command line, and the matrix. */
#include "tests/scenario/helper.h"

#include "base/clock.h"

static const char text[] =
	"narrowlink: 1\n"
	"links: {wan: {rate: 1 Gbit/s, delay: 5 ms}, sat: {rate: 10 Mbit/s, delay: 300 ms}}\n"
	"sites: [{name: a, link: wan}, {name: b, link: sat}]\n"
	"workload: {strategy: decoupled-diloco, parameters: 1 B, step: 1 s}\n";
#define MATRIX                                                                                     \
	"matrix: {workload.strategy: [diloco, data-parallel], workload.step: [300 ms, 2 s, 3 "     \
	"s]}\n"

static struct scenario_file *load_with(const char *more, const char *const *set, size_t n)
{
	_free_ char *all = memory_format("%s%s", text, more);
	struct scenario_file *file = NULL;
	struct error err = {0};

	if (scenario_load_text(&file, "t.yaml", all, strlen(all), set, n, &err))
		fail_msg("%s", err.text);
	return file;
}

static void refused(const char *more, const char *set, const char *message)
{
	_free_ char *all = memory_format("%s%s", text, more);
	struct scenario_file *file = NULL;
	struct error err = {0};

	assert_int_equal(scenario_load_text(&file, "t.yaml", all, strlen(all), &set, 1, &err), -22);
	assert_string_equal(err.text, message);
	assert_int_equal(err.status, STATUS_INPUT);
}

static void first_key_varies_slowest(void **state)
{
	static const char *const names[] = {"diloco, 300 ms", "diloco, 2 s", "diloco, 3 s",
		"data-parallel, 300 ms", "data-parallel, 2 s", "data-parallel, 3 s"};
	struct scenario_file *file = load_with(MATRIX, NULL, 0);

	assert_int_equal(file->n_cases, 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(file->cases[i]->case_name, names[i]);
	assert_ptr_equal(file->cases[3]->strategy, &strategy_data_parallel);
	assert_int_equal(file->cases[3]->job.step_ns, 300 * NS_PER_MS);
	assert_int_equal(file->cases[5]->n_set, 2);
	assert_string_equal(file->cases[5]->set[0].key, "workload.strategy");
	assert_string_equal(file->cases[5]->set[1].value, "3 s");
	assert_non_null(strstr(file->text, "matrix:"));
	scenario_file_free(file);
}

static void without_a_matrix_one_case(void **state)
{
	struct scenario_file *file = load_with("", NULL, 0);

	assert_int_equal(file->n_cases, 1);
	assert_string_equal(file->cases[0]->case_name, "");
	assert_int_equal(file->cases[0]->n_set, 0);
	scenario_file_free(file);
}

static void overrides_set_any_key(void **state)
{
	static const char *const set[] = {"workload.step=7 s", "transport.connections=9",
		"links.sat.rate=20 Mbit/s", "sites.b.speed=0.5", "title=a = b",
		"faults=[{kind: crash, target: a, at: 1 s, for: 1 s}]", "run.steps=5",
		"run.steps=6"};
	struct scenario_file *file = load_with("", set, sizeof set / sizeof *set);
	const struct scenario *s = file->cases[0];

	assert_int_equal(s->job.step_ns, 7 * NS_PER_S);
	assert_int_equal(s->transport.connections, 9);
	assert_int_equal(s->links[1].direction[UP].base.rate_bps, 20000000);
	assert_near(s->sites[1].speed, .5, 0);
	assert_string_equal(s->title, "a = b");
	assert_int_equal(s->n_faults, 1);
	assert_int_equal(s->job.steps, 6);
	scenario_file_free(file);
}

static void an_override_ends_an_axis(void **state)
{
	static const char *const set[] = {"workload.strategy=streaming-diloco"};
	struct scenario_file *file = load_with(MATRIX, set, 1);

	assert_int_equal(file->n_cases, 3);
	assert_string_equal(file->cases[1]->case_name, "2 s");
	assert_ptr_equal(file->cases[1]->strategy, &strategy_streaming_diloco);
	scenario_file_free(file);
}

static void a_matrix_may_be_overridden(void **state)
{
	static const char *const set[] = {"matrix={seed: [1, 2, 3, 4]}"};
	struct scenario_file *file = load_with(MATRIX, set, 1);

	assert_int_equal(file->n_cases, 4);
	assert_int_equal(file->cases[3]->seed, 4);
	scenario_file_free(file);
}

static void errors_name_the_override(void **state)
{
	refused("", "workload.step=4",
		"--set workload.step=4: \"4\": a time needs a unit (ns, us, ms, s, "
		"min, h or d), e.g. \"300 ms\"");
	refused("", "workload.stepp=4 s",
		"--set workload.stepp=4 s: unknown key \"stepp\" in workload; did you mean "
		"\"step\"?");
	refused("", "novalue", "--set novalue: write KEY=VALUE, e.g. --set workload.step=\"4 s\"");
	refused("", "=3", "--set =3: write KEY=VALUE, e.g. --set workload.step=\"4 s\"");
	refused("", "seed=", "--set seed=: there is no value after \"=\"");
	refused("", "seed=[1",
		"--set seed=[1: not valid YAML here: flow sequence without a closing "
		"bracket");
	refused("", "sites.c.speed=2",
		"--set sites.c.speed=2: \"sites.c.speed\": \"c\" is not a section with keys; check "
		"the dotted key");
	refused("", "sites.speed=2",
		"--set sites.speed=2: \"sites.speed\" is in a list; name the element, e.g. "
		"\"sites.site-1.link\"");
	refused("", "seed=\377",
		"--set seed=\377: not printable UTF-8 (byte 0xff); save the file as "
		"UTF-8");
}

static void the_limit_of_cases(void **state)
{
	static const char *const ok[] = {
		"matrix={run.steps: [1,2,3,4,5,6,7,8,9,10], seed: "
		"[1,2,3,4,5,6,7,8,9,10], run.warmup: [0,1,2,3,4,5,6,7,8,9]}"};
	struct scenario_file *file = load_with("", ok, 1);

	assert_int_equal(file->n_cases, 1000);
	scenario_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_key_varies_slowest),
		cmocka_unit_test(without_a_matrix_one_case),
		cmocka_unit_test(overrides_set_any_key),
		cmocka_unit_test(an_override_ends_an_axis),
		cmocka_unit_test(a_matrix_may_be_overridden),
		cmocka_unit_test(errors_name_the_override),
		cmocka_unit_test(the_limit_of_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
