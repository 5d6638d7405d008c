/*
 * The scenario language: values, the canonical print (golden pairs, and that it reads back as an
 * equal scenario), and the exact text of every error.
 */
#include "tests/scenario/helper.h"

#include "base/clock.h"

#define GOLDEN "tests/scenario/golden"
#define ERRORS "tests/scenario/errors"

static void same_direction(const struct link_direction *a, const struct link_direction *b)
{
	assert_memory_equal(&a->base, &b->base, sizeof a->base);
	assert_int_equal(a->queue_ns, b->queue_ns);
	assert_int_equal(a->overhead_bytes, b->overhead_bytes);
	assert_int_equal(a->n_steps, b->n_steps);
	assert_int_equal(a->n_outages, b->n_outages);
	assert_int_equal(a->n_blackouts, b->n_blackouts);
	if (a->n_steps)
		assert_memory_equal(a->steps, b->steps, a->n_steps * sizeof *a->steps);
	if (a->n_outages)
		assert_memory_equal(a->outages, b->outages, a->n_outages * sizeof *a->outages);
	assert_int_equal(!a->trace, !b->trace);
	if (a->trace)
		assert_int_equal(a->trace->period_ns, b->trace->period_ns);
}

static void same_link(const struct link_profile *a, const struct link_profile *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->title, b->title);
	assert_string_equal(a->source, b->source);
	same_direction(&a->direction[UP], &b->direction[UP]);
	same_direction(&a->direction[DOWN], &b->direction[DOWN]);
}

/* All but the path, and the case's name and set, which the print of a case does not have. */
static void same_scenario(const struct scenario *a, const struct scenario *b)
{
	assert_string_equal(a->title, b->title);
	assert_int_equal(a->seed, b->seed);
	assert_near(a->dilation, b->dilation, 0);
	assert_int_equal(a->n_sites, b->n_sites);
	assert_memory_equal(a->sites, b->sites, sizeof a->sites);
	assert_int_equal(a->n_links, b->n_links);
	for (size_t i = 0; i < a->n_links; i++)
		same_link(&a->links[i], &b->links[i]);
	assert_memory_equal(a->core_delay_ns, b->core_delay_ns, sizeof a->core_delay_ns);
	assert_ptr_equal(a->strategy, b->strategy);
	assert_memory_equal(&a->job, &b->job, sizeof a->job);
	assert_memory_equal(&a->transport, &b->transport, sizeof a->transport);
	assert_int_equal(a->limit_ns, b->limit_ns);
	assert_int_equal(a->n_faults, b->n_faults);
	if (a->n_faults)
		assert_memory_equal(a->faults, b->faults, a->n_faults * sizeof *a->faults);
	assert_int_equal(a->n_expect, b->n_expect);
	if (a->n_expect)
		assert_memory_equal(a->expect, b->expect, a->n_expect * sizeof *a->expect);
}

static void reads_back(const struct scenario *s, const char *text)
{
	struct scenario_file *again = load_ok(text);
	_free_ char *second = NULL;

	assert_int_equal(again->n_cases, 1);
	same_scenario(s, again->cases[0]);
	second = print_text_of(again->cases[0]);
	assert_string_equal(second, text);
	scenario_file_free(again);
}

static void golden_pair(const char *name)
{
	_free_ char *want_path = memory_format("%.*s.txt", (int)strlen(name) - 5, name);
	_free_ char *want = read_text(want_path), *got = memory_string("");
	struct scenario_file *file = NULL;
	struct error err = {0};

	if (scenario_load(&file, name, NULL, 0, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < file->n_cases; i++) {
		const struct scenario *s = file->cases[i];
		_free_ char *text = print_text_of(s);
		char *longer = memory_format("%s# case \"%s\"\n%s", got, s->case_name, text);

		reads_back(s, text);
		free(got);
		got = longer;
	}
	assert_string_equal(got, want);
	scenario_file_free(file);
}

static void golden_prints(void **state)
{
	enter_source(GOLDEN);
	assert_int_equal(each_file(".yaml", golden_pair), 8);
}

static void error_pair(const char *name)
{
	_free_ char *want_path = memory_format("%.*s.txt", (int)strlen(name) - 5, name);
	_free_ char *want = read_text(want_path);
	struct scenario_file *file = NULL;
	struct error err = {0};
	size_t n = strlen(want);

	if (n && want[n - 1] == '\n')
		want[n - 1] = '\0';
	if (scenario_load(&file, name, NULL, 0, &err) >= 0)
		fail_msg("%s is accepted", name);
	assert_string_equal(err.text, want);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_null(file);
}

static void errors_say_where_and_what(void **state)
{
	enter_source(ERRORS);
	assert_true(each_file(".yaml", error_pair) >= 120);
}

/* The example of the design, value by value. */
static void values_arrive(void **state)
{
	struct scenario_file *file = NULL;
	struct error err = {0};
	const struct scenario *s;

	enter_source(GOLDEN);
	assert_int_equal(scenario_load(&file, "design.yaml", NULL, 0, &err), 0);
	assert_int_equal(file->n_cases, 2);
	s = file->cases[1];
	assert_string_equal(s->title, "12B across eight sites at 0.84 Gbit/s");
	assert_int_equal(s->seed, 42);
	assert_int_equal(s->job.seed, 42);
	assert_int_equal(s->n_sites, 8);
	assert_string_equal(s->sites[2].name, "site-3");
	assert_near(s->sites[7].accelerators, 64, 0);
	assert_int_equal(s->links[0].direction[UP].base.rate_bps, 840000000);
	assert_int_equal(s->links[0].direction[DOWN].base.delay_ns, 15 * NS_PER_MS);
	assert_int_equal(s->links[0].direction[UP].base.queue_bytes, 5250000); /* 0.84e9/8*0.05 */
	assert_int_equal(s->links[0].direction[UP].overhead_bytes, 14);
	assert_int_equal(s->core_delay_ns[0][7], 10 * NS_PER_MS);
	assert_int_equal(s->core_delay_ns[7][7], 0);
	assert_ptr_equal(s->strategy, &strategy_decoupled_diloco);
	assert_int_equal(s->job.parameters, 12000000000);
	assert_int_equal(s->job.bits, 4);
	assert_int_equal(s->job.period, 24);
	assert_int_equal(s->job.fragments, 24);
	assert_int_equal(s->job.overlap, 2);
	assert_int_equal(s->job.syncer, SYNCER_SHARDED);
	assert_int_equal(s->job.state_bytes, 24000000000);
	assert_int_equal(s->job.step_ns, 4 * NS_PER_S);
	/* twice 0.84 Gbit/s x 80 ms (15 + 10 + 15, both ways) */
	assert_int_equal(s->transport.buffer_bytes, 16800000);
	/* three times 26 steps of 4 s, and a minute */
	assert_int_equal(s->limit_ns, 372 * NS_PER_S);
	assert_int_equal(s->faults[0].target, -1);
	assert_int_equal(s->faults[0].at_ns, -1);
	assert_int_equal(s->faults[0].mtbf_ns, 600 * NS_PER_S);
	assert_int_equal(s->faults[1].target, 2);
	assert_int_equal(s->faults[1].for_ns, 5 * NS_PER_S);
	assert_int_equal(s->expect[1].metric, METRIC_WIRE_RATE);
	assert_int_equal(s->expect[1].op, EXPECT_LE);
	assert_near(s->expect[1].value, 840e6, 0);
	assert_near(s->expect[0].value, .9, 0);
	/* the other case: gradients of 16 bit every step */
	assert_int_equal(file->cases[0]->job.bits, 16);
	assert_int_equal(file->cases[0]->job.syncer, SYNCER_NONE);
	scenario_file_free(file);
}

static void core_matrix_counts_both_ways(void **state)
{
	struct scenario_file *file = NULL;
	struct error err = {0};
	const struct scenario *s;

	enter_source(GOLDEN);
	assert_int_equal(scenario_load(&file, "directions.yaml", NULL, 0, &err), 0);
	s = file->cases[0];
	assert_int_equal(s->core_delay_ns[0][1], 7 * NS_PER_MS);
	assert_int_equal(s->core_delay_ns[1][0], 9 * NS_PER_MS);
	assert_int_equal(s->core_delay_ns[1][2], 1 * NS_PER_MS);
	assert_int_equal(s->core_delay_ns[2][1], 1 * NS_PER_MS);
	assert_int_equal(s->core_delay_ns[0][2], 5 * NS_PER_MS);
	assert_int_equal(s->links[0].direction[UP].base.rate_bps, 20000000);
	assert_int_equal(s->links[0].direction[DOWN].base.rate_bps, 100000000);
	assert_int_equal(s->links[0].direction[DOWN].n_steps, 0);
	assert_int_equal(s->links[0].direction[UP].n_steps, 2);
	assert_int_equal(s->links[0].direction[UP].steps[0].set, LINK_RATE | LINK_QUEUE);
	assert_int_equal(s->links[0].direction[UP].outages[0].first_ns, 12 * NS_PER_S);
	assert_int_equal(s->links[0].direction[UP].outages[1].first_ns, 3600 * NS_PER_S);
	assert_near(s->job.speed[0], .5, 0);
	assert_int_equal(s->job.state_bytes, 405000000LL * 16);
	assert_int_equal(s->job.step_spread, 25000000);
	scenario_file_free(file);
}

static void star_syncer_has_a_site(void **state)
{
	struct scenario_file *file = NULL;
	struct error err = {0};
	const struct scenario *s;

	enter_source(GOLDEN);
	assert_int_equal(scenario_load(&file, "star.yaml", NULL, 0, &err), 0);
	s = file->cases[0];
	assert_int_equal(s->n_sites, 64);
	assert_int_equal(s->job.n_learners, 63);
	assert_string_equal(s->sites[63].name, "syncer");
	assert_string_equal(s->links[s->sites[63].link].name, "hub");
	assert_near(s->sites[63].accelerators, 0, 0);
	assert_int_equal(s->core_delay_ns[63][0], 30 * NS_PER_MS);
	assert_int_equal(s->core_delay_ns[0][63], 30 * NS_PER_MS);
	assert_int_equal(s->faults[0].target, 63);
	scenario_file_free(file);
}

#define HEAD "narrowlink: 1\nsites: {count: 2, link: wan}\n"
#define TAIL "workload: {strategy: decoupled-diloco, parameters: 1 B, step: 1 s}\n"

static void catalogue_profiles(void **state)
{
	const struct link_profile *p = link_catalogue(0);
	_free_ char *named = NULL, *changed = NULL;
	struct scenario_file *file;

	assert_non_null(p);
	named = memory_format("narrowlink: 1\nsites: {count: 2, link: %s}\n" TAIL, p->name);
	file = load_ok(named);
	assert_string_equal(file->cases[0]->links[0].name, p->name);
	assert_string_equal(file->cases[0]->links[0].source, p->source);
	assert_memory_equal(&file->cases[0]->links[0].direction[UP].base, &p->direction[UP].base,
		sizeof p->direction[UP].base);
	scenario_file_free(file);

	changed = memory_format(
		HEAD "links: {wan: {profile: %s, rate: 77 Mbit/s, queue: 1 s}}\n" TAIL, p->name);
	file = load_ok(changed);
	assert_int_equal(file->cases[0]->links[0].direction[DOWN].base.rate_bps, 77000000);
	assert_int_equal(file->cases[0]->links[0].direction[DOWN].base.queue_bytes, 9625000);
	assert_int_equal(file->cases[0]->links[0].direction[DOWN].base.delay_ns,
		p->direction[DOWN].base.delay_ns);
	assert_string_equal(file->cases[0]->links[0].title, p->title);
	scenario_file_free(file);
}

static void traces_are_found_beside_the_file(void **state)
{
	static const char csv[] = "relative,rtt\n0,100\n0.1,100\n0.2,300\n0.3,100\n";
	static const char text[] = HEAD "links: {wan: {rate: 80 Mbit/s, trace: ping.csv}}\n" TAIL;
	char dir[] = "/tmp/narrowlink-test-XXXXXX";
	_free_ char *scenario = NULL, *trace = NULL, *printed = NULL;
	struct scenario_file *file = NULL;
	struct error err = {0};
	FILE *f;

	assert_non_null(mkdtemp(dir));
	scenario = memory_format("%s/a.yaml", dir);
	trace = memory_format("%s/ping.csv", dir);
	f = fopen(trace, "w");
	fputs(csv, f);
	fclose(f);
	if (scenario_load_text(&file, scenario, text, strlen(text), NULL, 0, &err))
		fail_msg("%s", err.text);
	assert_int_equal(file->cases[0]->n_traces, 1);
	assert_ptr_equal(file->cases[0]->links[0].direction[UP].trace,
		file->cases[0]->links[0].direction[DOWN].trace);
	/* half of the recorded round trip; the largest decides the buffers: 2 x 80e6/8 x 4 x 0.15
	 */
	assert_int_equal(file->cases[0]->links[0].direction[UP].base.delay_ns, 50 * NS_PER_MS);
	assert_int_equal(file->cases[0]->transport.buffer_bytes, 12000000);
	printed = print_text_of(file->cases[0]);
	assert_non_null(strstr(printed, trace));
	reads_back(file->cases[0], printed);
	scenario_file_free(file);
	unlink(trace);
	rmdir(dir);
}

static void files_that_are_none(void **state)
{
	struct scenario_file *file = NULL;
	struct error missing = {0}, directory = {0}, huge = {0}, unreadable = {0};
	char *text = memory_zero((1 << 20) + 2, 1);

	assert_true(scenario_load(&file, "/nowhere/a.yaml", NULL, 0, &missing) < 0);
	assert_string_equal(
		missing.text, "/nowhere/a.yaml: No such file or directory; name a scenario file");
	assert_int_equal(missing.status, STATUS_INPUT);
	assert_true(scenario_load(&file, "/tmp", NULL, 0, &directory) < 0);
	assert_string_equal(directory.text, "/tmp: is a directory; name a scenario file in it");
	assert_true(scenario_load(&file, "/proc/self/mem", NULL, 0, &unreadable) < 0);
	assert_string_equal(unreadable.text, "/proc/self/mem: cannot be read: Input/output error");
	memset(text, ' ', (1 << 20) + 1);
	assert_true(scenario_load_text(&file, "a.yaml", text, (1 << 20) + 1, NULL, 0, &huge) < 0);
	assert_string_equal(huge.text, "a.yaml: larger than 1 MiB; this is no scenario");
	free(text);
}

/* "head", n times "before", a number and "after", then "tail". */
static void too_many(const char *head, const char *before, const char *after, int n,
	const char *tail, const char *message)
{
	_free_ char *text = NULL;
	struct scenario_file *file = NULL;
	struct error err = {0};
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fputs(head, f);
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%d%s", before, i, after);
	fputs(tail, f);
	fclose(f);
	assert_true(scenario_load_text(&file, "t.yaml", text, size, NULL, 0, &err) < 0);
	if (!strstr(err.text, message))
		fail_msg("%s", err.text);
}

static void lists_have_an_end(void **state)
{
	too_many(HEAD "links: {wan: {rate: 80 Mbit/s, delay: 1 ms}}\n" TAIL "faults:\n",
		"- {kind: crash, target: all, at: ", " s, for: 1 s}\n", 1001, "",
		"at most 1000 faults; use mtbf for many");
	too_many(HEAD "links: {wan: {rate: 80 Mbit/s, delay: 1 ms, changes: [",
		"{at: ", " s, rate: 1 Mbit/s}, ", 10001, "]}}\n" TAIL, "at most 10000 changes");
	too_many(HEAD "links: {wan: {rate: 80 Mbit/s, delay: 1 ms, outages: [",
		"{every: 9 s, for: ", " ms}, ", 10001, "]}}\n" TAIL, "at most 10000 outages");
	too_many(HEAD TAIL "links:\n", "  l", ": {}\n", 4097, "",
		"more than 4096 keys in one place");
}

static void names(void **state)
{
	assert_string_equal(metric_name(METRIC_USEFUL_WORK), "useful_work");
	assert_string_equal(metric_name(METRIC_EXCHANGE_P99), "exchange_p99");
	assert_string_equal(expect_op_name(EXPECT_GE), ">=");
	assert_string_equal(expect_op_name(EXPECT_LT), "<");
}

/* A file name that is no text must not make the print unreadable. */
static void default_titles(void **state)
{
	static const char text[] = HEAD "links: {wan: {rate: 80 Mbit/s, delay: 1 ms}}\n" TAIL;
	static const char *const paths[] = {"a/b/my job.yaml", "plain", "a/\377.yaml"};
	static const char *const titles[] = {"my job", "plain", "scenario"};

	for (int i = 0; i < 3; i++) {
		struct scenario_file *file = NULL;
		struct error err = {0};

		assert_int_equal(
			scenario_load_text(&file, paths[i], text, strlen(text), NULL, 0, &err), 0);
		assert_string_equal(file->cases[0]->title, titles[i]);
		scenario_file_free(file);
	}
}

static void buffers_have_bounds(void **state)
{
	struct scenario_file *near =
		load_ok(HEAD "links: {wan: {rate: 1 Mbit/s, delay: 0 ms}}\n" TAIL);
	struct scenario_file *far =
		load_ok(HEAD "links: {wan: {rate: 1 Tbit/s, delay: 1 s}}\n" TAIL);

	assert_int_equal(near->cases[0]->transport.buffer_bytes, 256 << 10);
	assert_int_equal(far->cases[0]->transport.buffer_bytes, 1 << 30);
	scenario_file_free(near);
	scenario_file_free(far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_prints),
		cmocka_unit_test(errors_say_where_and_what),
		cmocka_unit_test(values_arrive),
		cmocka_unit_test(core_matrix_counts_both_ways),
		cmocka_unit_test(star_syncer_has_a_site),
		cmocka_unit_test(catalogue_profiles),
		cmocka_unit_test(traces_are_found_beside_the_file),
		cmocka_unit_test(files_that_are_none),
		cmocka_unit_test(buffers_have_bounds),
		cmocka_unit_test(lists_have_an_end),
		cmocka_unit_test(names),
		cmocka_unit_test(default_titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
