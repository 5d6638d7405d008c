/*
 * Whole cases in simulated time: formulas where TCP is ideal, exact sums, crashes, and the same
 * numbers again and again.
 */
#include <math.h>

#include "bench/case.h"
#include "tests/model/burst.h"
#include "tests/test.h"

static struct record *run(const char *text, struct record_case **c)
{
	struct scenario_file *file = load_ok(text);
	struct record *record = record_new();
	const struct case_context alone = {.signal_fd = -1};
	struct error err = {0};

	*c = record_add_case(record, "case");
	assert_int_equal(case_model(*c, file->cases[0], &alone, &err), 0);
	scenario_file_free(file);
	return record;
}

static double ledger_sum(const struct record_participant *p)
{
	double sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += p->ledger_s[i];
	return sum;
}

/*
 * Eight sites, 6 GB, 0.84 Gbit/s, 50 ms one way: 2 (M-1) alpha + 2 (M-1)/M S/R =
 * 14 * 0.05 + 1.75 * 48/0.84 = 0.7 + 100 s; each of 14 stages rounded up to a ns.
 */
static void an_ideal_ring_takes_100_7_s(void **state)
{
	struct record_case *c;
	struct record *r =
		run("narrowlink: 1\n"
		    "links: {wan: {rate: 0.84 Gbit/s, delay: 25 ms}}\n"
		    "sites: {count: 8, link: wan}\n"
		    "workload: {strategy: diloco, parameters: 12 B, step: 3 us, buckets: 1,"
		    " outer: {period: 1, bits: 4}}\n"
		    "transport: {tcp: ideal}\n"
		    "run: {steps: 2, warmup: 0, limit: 1 h}\n",
			&c);

	assert_near(c->exchange_p50_s, 100.7, 100e-9);
	assert_near(c->exchange_max_s, 100.7, 100e-9);
	assert_near(c->exchange_predicted_s, 100.7, 1e-9);
	assert_near(c->payload_sent_bytes, 2. * 8 * 1.75 * 6e9, 0);
	assert_near(c->payload_expected_bytes, c->payload_sent_bytes, 0);
	for (size_t i = 0; i < c->n_wire; i++)
		assert_near(c->wire[i].bytes, 2 * 1.75 * 6e9, 1e3);
	assert_true(c->valid);
	record_free(r);
}

static const char every_strategy[] =
	"narrowlink: 1\n"
	"links: {wan: {rate: 200 Mbit/s, delay: 10 ms}}\n"
	"sites: {count: 4, link: wan}\n"
	"workload: {strategy: %s, parameters: 1200 k, step: 400 ms ± 5 %%, buckets: 8,"
	" outer: {period: 6, fragments: 6, bits: 16, syncer: %s}}\n"
	"transport: {tcp: %s}\n"
	"run: {steps: 12, warmup: 2}\n%s";

/* Payload is the formula's to the byte, and every ledger is the wall time. */
static void every_strategy_adds_up(void **state)
{
	for (int i = 0; i < 10; i++) {
		const struct strategy *s = strategy_at((size_t)(i / 2 < 4 ? i / 2 : 3));
		_free_ char *text = memory_format(every_strategy, s->name,
			i / 2 < 4 ? "sharded" : "star", i % 2 ? "ideal" : "real", "");
		struct record_case *c;
		struct record *r = run(text, &c);

		assert_true(c->valid);
		assert_true(c->exchange_n > 0);
		assert_near(c->payload_sent_bytes, c->payload_expected_bytes, 0);
		for (size_t p = 0; p < c->n_participants; p++)
			assert_near(
				ledger_sum(&c->participants[p]), c->participants[p].wall_s, 1e-9);
		record_free(r);
	}
}

static void crashes_and_blackouts_are_lived_through(void **state)
{
	static const char faults[] = "faults:\n"
				     "  - {kind: crash, target: site 2, at: 1500 ms, for: 700 ms}\n"
				     "  - {kind: crash, target: site 3, at: 1800 ms, for: 900 ms}\n"
				     "  - {kind: blackout, target: site 1, at: 3 s, for: 800 ms}\n";

	for (size_t i = 0; i < 4; i++) {
		_free_ char *text = memory_format(
			every_strategy, strategy_at(i)->name, "sharded", "real", faults);
		struct record_case *c;
		struct record *r = run(text, &c);

		assert_true(c->valid);
		assert_near(c->participants[1].ledger_s[STATE_DOWN], .7, 1e-9);
		assert_near(c->participants[2].ledger_s[STATE_DOWN], .9, 1e-9);
		assert_true(c->participants[1].ledger_s[STATE_RECOVER] > .05);
		assert_near(c->participants[0].ledger_s[STATE_DOWN], 0, 0);
		for (size_t p = 0; p < c->n_participants; p++)
			assert_near(
				ledger_sum(&c->participants[p]), c->participants[p].wall_s, 1e-9);
		assert_int_equal(c->n_faults, 3);
		record_free(r);
	}
}

/* A link whose next change is still to come when the run ends: nothing of it is left behind. */
static void the_run_ends_before_the_link_changes(void **state)
{
	static const char *const changes[] = {
		"outages: {every: 1 s, for: 300 ms}",
		"changes: [{at: 100 s, rate: 10 Mbit/s}]",
		"jitter: 1 ms, loss: 0.1 %, outages: {every: 15 s, for: 700 ms}",
	};

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		_free_ char *text = memory_format(
			"narrowlink: 1\n"
			"links: {wan: {rate: 200 Mbit/s, delay: 10 ms, %s}}\n"
			"sites: {count: 3, link: wan}\n"
			"workload: {strategy: diloco, parameters: 1200 k, step: 200 ms,"
			" outer: {period: 3}}\n"
			"run: {steps: 12, warmup: 2}\n",
			changes[i]);
		struct record_case *c;
		struct record *r = run(text, &c);

		assert_true(c->valid);
		assert_true(c->exchange_n > 0);
		record_free(r);
	}
}

static char *json(struct record *r)
{
	struct error err = {0};
	char *text;

	assert_int_equal(record_write_json(r, "model-test.json", &err), 0);
	text = read_text("model-test.json");
	unlink("model-test.json");
	return text;
}

static void the_same_again(void **state)
{
	_free_ char *text = memory_format(every_strategy, "decoupled-diloco", "sharded", "real",
		"faults: [{kind: crash, target: learner, mtbf: 5 s, repair: 500 ms}]\n");
	struct record_case *c;
	struct record *first = run(text, &c), *second = run(text, &c);
	_free_ char *a = json(first), *b = json(second);

	assert_string_equal(a, b);
	record_free(first);
	record_free(second);
}

/* Bits on the wire: 1514 bytes a frame for 1448 of payload. */
static void a_full_link_carries_its_rate(void **state)
{
	struct burst b = burst_load("narrowlink: 1\n"
				    "links: {wan: {rate: 100 Mbit/s, delay: 5 ms, queue: 10 s}}\n"
				    "sites: {count: 2, link: wan}\n"
				    "workload: {strategy: diloco, parameters: 1 B, step: 1 s}\n"
				    "transport: {connections: 4}\n"
				    "run: {limit: 1 h}\n");
	struct outcome out;
	double s = burst_run(&b, &out);

	assert_near(s, 1e9 * 8 / 100e6 * 1514 / 1448, .3);
	assert_int_equal(out.bytes[0].payload_sent, 1000000000);
	assert_int_equal(out.bytes[1].payload_received, 1000000000);
	burst_free(&b);
}

static void two_ways_to_slow_a_link_down(void **state)
{
	static const char text[] = "narrowlink: 1\n"
				   "links: {wan: {rate: 100 Mbit/s, delay: 5 ms%s}}\n"
				   "sites: {count: 2, link: wan}\n"
				   "workload: {strategy: diloco, parameters: 100 M, step: 1 s}\n"
				   "transport: {tcp: ideal}\n"
				   "run: {limit: 1 h}\n";
	_free_ char *plain = memory_format(text, "");
	_free_ char *step = memory_format(text, ", changes: [{at: 4 s, rate: 50 Mbit/s}]");
	struct burst a = burst_load(plain), b = burst_load(step);

	assert_near(burst_run(&a, NULL), 8.01, 1e-8);
	assert_near(burst_run(&b, NULL), 12.01, 1e-8);
	burst_free(&a);
	burst_free(&b);
}

/* 8.01 s of a transfer, and what the link is down: nobody waits for a timeout. */
static void an_ideal_link_is_down_as_long_as_it_is(void **state)
{
	static const char text[] = "narrowlink: 1\n"
				   "links: {wan: {rate: 100 Mbit/s, delay: 5 ms%s}}\n"
				   "sites: {count: 2, link: wan}\n"
				   "workload: {strategy: diloco, parameters: 100 M, step: 1 s}\n"
				   "transport: {tcp: ideal}\n"
				   "run: {limit: 1 h}\n"
				   "%s";
	static const struct {
		const char *link, *faults;
		double takes_s;
	} cases[] = {
		{"", "faults: [{kind: blackout, target: site 1, at: 2 s, for: 2 s}]\n", 10.01},
		{"", "faults: [{kind: blackout, target: site 2, at: 0 s, for: 3 s}]\n", 11.01},
		/* 1 s, then 1.5 s of every 2: the last of 8 s ends at 10.5 s */
		{", outages: [{first: 1 s, every: 2 s, for: 500 ms}]", "", 10.51},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_free_ char *whole = memory_format(text, cases[i].link, cases[i].faults);
		struct burst b = burst_load(whole);

		assert_near(burst_run(&b, NULL), cases[i].takes_s, 1e-6);
		burst_free(&b);
	}
}

/* Over TCP too a message may be the first of its flow, and meet a link that is down. */
static void the_first_message_in_a_blackout(void **state)
{
	struct burst b =
		burst_load("narrowlink: 1\n"
			   "links: {wan: {rate: 100 Mbit/s, delay: 2500 us, queue: 1 s}}\n"
			   "sites: {count: 2, link: wan}\n"
			   "workload: {strategy: diloco, parameters: 50 M, step: 1 s}\n"
			   "run: {limit: 1 h}\n"
			   "faults: [{kind: blackout, target: site 2, at: 0 s, for: 2 s}]\n");
	double s = burst_run(&b, NULL);

	/* again after 0.21, 0.63, 1.47 and 3.15 s, then at least 4 s of bytes */
	assert_true(s > 3.15 + 4 && s < 3.15 + 5);
	burst_free(&b);
}

/* The first timeout after its end: 210 ms, doubled: 0.21, 0.63, 1.47, 3.15 s after it began. */
static void a_blackout_ends_with_a_timeout(void **state)
{
	static const char text[] = "narrowlink: 1\n"
				   "links: {wan: {rate: 100 Mbit/s, delay: 2500 us, queue: 1 s}}\n"
				   "sites: {count: 2, link: wan}\n"
				   "workload: {strategy: diloco, parameters: 50 M, step: 1 s}\n"
				   "run: {limit: 1 h}\n%s";
	_free_ char *plain = memory_format(text, "");
	_free_ char *dark = memory_format(
		text, "faults: [{kind: blackout, target: site 1, at: 2 s, for: 2 s}]\n");
	struct burst a = burst_load(plain), b = burst_load(dark);

	assert_near(burst_run(&b, NULL) - burst_run(&a, NULL), 3.15, .2);
	burst_free(&a);
	burst_free(&b);
}

/*
 * Exchanges of 40 MB over 400 Mbit/s with a queue of 10 ms, after a pause each: the window that the
 * last has left comes at once and finds no room for all of it. Slow start happens once; what bursts
 * lose later is counted as well.
 */
static double dropped(int steps)
{
	_free_ char *text =
		memory_format("narrowlink: 1\n"
			      "links: {wan: {rate: 400 Mbit/s, delay: 25 ms, queue: 10 ms}}\n"
			      "sites: {count: 4, link: wan}\n"
			      "workload: {strategy: diloco, parameters: 40 M, step: 2 s, outer: "
			      "{period: 1, bits: 8}}\n"
			      "transport: {slow_start_after_idle: false}\n"
			      "run: {steps: %d, warmup: 0}\n",
			steps);
	struct record_case *c;
	struct record *r = run(text, &c);
	double sum = 0;

	for (size_t i = 0; i < c->n_wire; i++)
		sum += c->wire[i].drop_queue;
	record_free(r);
	return sum;
}

static void what_a_burst_loses_is_counted(void **state)
{
	double few = dropped(2), many = dropped(16);

	print_message("# dropped in 2 exchanges: %.0f, in 16: %.0f\n", few, many);
	assert_true(many > 1.1 * few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ideal_ring_takes_100_7_s),
		cmocka_unit_test(every_strategy_adds_up),
		cmocka_unit_test(crashes_and_blackouts_are_lived_through),
		cmocka_unit_test(the_run_ends_before_the_link_changes),
		cmocka_unit_test(the_same_again),
		cmocka_unit_test(a_full_link_carries_its_rate),
		cmocka_unit_test(two_ways_to_slow_a_link_down),
		cmocka_unit_test(an_ideal_link_is_down_as_long_as_it_is),
		cmocka_unit_test(the_first_message_in_a_blackout),
		cmocka_unit_test(a_blackout_ends_with_a_timeout),
		cmocka_unit_test(what_a_burst_loses_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
