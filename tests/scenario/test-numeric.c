/* Numeric keys of a scenario, and conditions: what is found, how it is written, what is refused. */
#include "tests/scenario/helper.h"

#include "base/random.h"
#include "bench/scenario/numeric.h"

static const char text[] =
	"narrowlink: 1\n"
	"links: {wan: {rate: 1 Gbit/s, delay: 5 ms}, sat: {rate: 10 Mbit/s, delay: 300 ms}}\n"
	"sites: [{name: hut, link: wan}, {name: zurich, link: sat}]\n"
	"workload: {strategy: decoupled-diloco, parameters: 1 B, step: 1 s}\n";

static struct scenario_file *load(void)
{
	struct scenario_file *file = NULL;
	struct error err = {0};

	if (scenario_load_text(&file, "t.yaml", text, strlen(text), NULL, 0, &err))
		fail_msg("%s", err.text);
	return file;
}

static const struct {
	const char *key, *kind, *written, *exact;
	double value, low, high;
} known[] = {
	{"links.wan.rate", "rate", "0.84 Gbit/s", "840 Mbit/s", .84e9, 1e3, 1e13},
	{"links.sat.up.rate", "rate", "2 Tbit/s", "2 Tbit/s", 2e12, 1e3, 1e13},
	{"links.sat.delay", "time", "15 ms", "15 ms", .015, 0, 3600},
	{"links.sat.queue", "time", "50 ms", "50 ms", .05, 1e-6, 3600},
	{"links.wan.loss", "ratio", "0.01 %", "0.01 %", 1e-4, 0, 1},
	{"links.wan.burst.length", "number", "8.5", "8.5", 8.5, 1, 1e6},
	{"core.delay", "time", "10 ms", "10 ms", .01, 0, 3600},
	{"sites.hut.speed", "number", "0.5", "0.5", .5, 1e-3, 1e3},
	{"sites.count", "count", "8", "8", 8, 2, 64},
	{"workload.parameters", "count", "12 B", "12 B", 12e9, 1, 1e15},
	{"workload.step", "time", "3.75 s \302\261 5 %", "3.75 s", 3.75, 1e-6, 86400},
	{"workload.step", "time", "3.75 s +- 5 %", "3.75 s", 3.75, 1e-6, 86400},
	{"workload.state", "bytes", "144 GB", "144 GB", 144e9, 0, 9e18},
	{"workload.checkpoint.every", "count", "50 steps", "50", 50, 0, 1e6},
	{"workload.outer.fragments", "count", "24", "24", 24, 1, 4096},
	{"workload.outer.bits", "bits", "4", "4 bit", 4, 1, 64},
	{"workload.outer.grace", "number", "0.5", "0.5", .5, 0, 1},
	{"transport.buffers", "bytes", "64 MB", "64 MB", 64e6, 4096, 2147483647},
	{"transport.silence", "time", "10 s", "10 s", 10, 1e-3, 86400},
	{"run.steps", "count", "48", "48", 48, 1, 1e6},
	{"run.limit", "time", "2 min", "2 min", 120, 1e-3, 3650 * 86400.0},
	{"seed", "count", "42", "42", 42, 0, 9e18},
	{"dilation", "number", "2.5", "2.5", 2.5, 1, 1000},
};

static void test_known(void **state)
{
	struct scenario_file *file = load();

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct error err = {0};
		struct numeric n;
		char written[64];
		double value;

		if (numeric_find(&n, file->cases[0], known[i].key, &err) ||
			numeric_parse(&n, known[i].written, &value, &err))
			fail_msg("%s: %s", known[i].key, err.text);
		assert_string_equal(numeric_kind_name(&n), known[i].kind);
		assert_near(value, known[i].value, known[i].value * 1e-12);
		assert_string_equal(
			numeric_format(written, sizeof written, &n, value, true), known[i].exact);
		if (n.low != known[i].low || n.high != known[i].high)
			fail_msg("%s: from %g to %g", known[i].key, n.low, n.high);
	}
	scenario_file_free(file);
}

static const struct {
	const char *key, *message;
} refused[] = {
	{"links.wan.rat", "did you mean links.wan.rate?"},
	{"links.wam.rate", "did you mean links.wan.rate?"},
	{"links.wan.burst.lenght", "did you mean links.wan.burst.length?"},
	{"link.wan.rate", "did you mean links.wan.rate?"},
	{"workload.outer.overlp", "did you mean workload.outer.overlap?"},
	{"wrkload.outer.overlap", "did you mean workload.outer.overlap?"},
	{"sites.zuric.speed", "did you mean sites.zurich.speed?"},
	{"frobnication", "no \"frobnication\" there"},
	{"workload.step.more", "\"step\" has no keys below it"},
	{"workload.strategy", "workload.strategy holds no number"},
	{"links.wan.trace", "holds no number"},
	{"transport.slow_start_after_idle", "holds no number"},
	{"links.wan", "holds no number"},
	{"links", "holds no number"},
	{"workload.outer", "holds no number"},
	{"title", "holds no number"},
	{"", "holds no number"},
	{"links.", "no \"\" there"},
	{"..", "no \"\" there"},
};

static void test_refused(void **state)
{
	struct scenario_file *file = load();

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct error err = {0};
		struct numeric n;

		assert_true(numeric_find(&n, file->cases[0], refused[i].key, &err) < 0);
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, refused[i].message))
			fail_msg("%s: %s", refused[i].key, err.text);
	}
	scenario_file_free(file);
}

static void test_values_refused(void **state)
{
	static const char *const values[][2] = {{"links.wan.rate", "5"},
		{"links.wan.rate", "1 Gbps"}, {"links.wan.delay", "1 Gbit/s"},
		{"links.wan.loss", "0.1"}, {"run.steps", "2.5"}, {"sites.hut.speed", "fast"},
		{"sites.hut.speed", "inf"}, {"sites.hut.speed", ""}, {"sites.hut.speed", "0x10"},
		{"workload.step", ""}};
	struct scenario_file *file = load();

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct error err = {0};
		struct numeric n;
		double value;

		assert_int_equal(numeric_find(&n, file->cases[0], values[i][0], &err), 0);
		if (!numeric_parse(&n, values[i][1], &value, &err))
			fail_msg("%s: \"%s\" was taken", values[i][0], values[i][1]);
		assert_int_equal(err.status, STATUS_INPUT);
	}
	scenario_file_free(file);
}

static void test_conditions(void **state)
{
	static const struct {
		const char *text;
		enum metric metric;
		enum expect_op op;
		double value;
		const char *again;
	} good[] = {
		{"useful_work >= 90 %", METRIC_USEFUL_WORK, EXPECT_GE, .9, "useful_work >= 90 %"},
		{"  useful_work>=90%", METRIC_USEFUL_WORK, EXPECT_GE, .9, "useful_work >= 90 %"},
		{"wire_rate < 0.84 Gbit/s", METRIC_WIRE_RATE, EXPECT_LT, .84e9,
			"wire_rate < 840 Mbit/s"},
		{"exchange_p99 <= 250 ms", METRIC_EXCHANGE_P99, EXPECT_LE, .25,
			"exchange_p99 <= 250 ms"},
		{"availability > 99.9 %", METRIC_AVAILABILITY, EXPECT_GT, .999,
			"availability > 99.9 %"},
	};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct expectation e;
		struct error err = {0};
		char again[128];

		if (expectation_parse(&e, good[i].text, &err))
			fail_msg("%s: %s", good[i].text, err.text);
		assert_int_equal(e.metric, good[i].metric);
		assert_int_equal(e.op, good[i].op);
		assert_near(e.value, good[i].value, good[i].value * 1e-12);
		assert_string_equal(expectation_format(again, sizeof again, &e), good[i].again);
	}
}

static void test_conditions_refused(void **state)
{
	static const char *const bad[][2] = {
		{"", "is no condition"},
		{">= 90 %", "is no condition"},
		{"usefull_work >= 90 %", "did you mean \"useful_work\"?"},
		{"speed >= 90 %", "known: useful_work"},
		{"useful_work", "must begin with >="},
		{"useful_work 90 %", "must begin with >="},
		{"useful_work = 90 %", "must begin with >="},
		{"useful_work >= 0.9", "%"},
		{"useful_work >= 101 %", "never be reached"},
		{"wire_rate <= 1 Gbps", "Gbit/s"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct expectation e;
		struct error err = {0};

		assert_true(expectation_parse(&e, bad[i][0], &err) < 0);
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("\"%s\": %s", bad[i][0], err.text);
	}
}

static void test_holds(void **state)
{
	static const bool want[4][3] = {/* below, equal, above */
		[EXPECT_GE] = {false, true, true},
		[EXPECT_LE] = {true, true, false},
		[EXPECT_GT] = {false, false, true},
		[EXPECT_LT] = {true, false, false}};

	for (int op = 0; op < 4; op++) {
		const struct expectation e = {.op = (enum expect_op)op, .value = .9};

		assert_int_equal(expectation_holds(&e, .8), want[op][0]);
		assert_int_equal(expectation_holds(&e, .9), want[op][1]);
		assert_int_equal(expectation_holds(&e, 1), want[op][2]);
		assert_false(expectation_holds(&e, 0. / 0.));
	}
}

static uint64_t draws;

static size_t draw(size_t below)
{
	return (size_t)(random_u64(3, 0, RANDOM_LOSS, draws++) % below);
}

/* Seeded mutations of conditions and keys: refused or taken, and what is taken reads back. */
static void test_mutations(void **state)
{
	static const char *const seeds[] = {"useful_work >= 90 %", "wire_rate <= 0.84 Gbit/s",
		"exchange_p99 < 12 s", "links.wan.up.rate", "sites.hut.speed",
		"workload.outer.bits"};
	static const char letters[] = "<>=. %0129eE-+_aGbits/\302\261\377\"'\n";
	struct scenario_file *file = load();
	int taken = 0;

	for (int round = 0; round < 20000; round++) {
		char text_[64], again[128];
		struct expectation e, f;
		struct error err = {0}, err2 = {0};
		struct numeric n;
		size_t size;

		snprintf(text_, sizeof text_, "%s", seeds[draw(6)]);
		size = strlen(text_);
		for (int k = 0; k < 1 + round % 3; k++) {
			size_t at = draw(size);

			text_[at] = letters[draw(sizeof letters - 1)];
		}
		numeric_find(&n, file->cases[0], text_, &err2);
		if (expectation_parse(&e, text_, &err))
			continue;
		taken++;
		expectation_format(again, sizeof again, &e);
		assert_int_equal(expectation_parse(&f, again, &err), 0);
		assert_int_equal(e.metric, f.metric);
		assert_int_equal(e.op, f.op);
		assert_true(e.value == f.value);
	}
	assert_true(taken > 50);
	scenario_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_values_refused),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_conditions_refused),
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests_name("scenario-numeric", tests, NULL, NULL);
}
