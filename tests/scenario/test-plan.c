/*
 * The plan against figures known before: the bandwidth bound for 12B, 4 bit, H = P = 24 and
 * CU 90 % at 0.84 Gbit/s asks for a step of 2.14 s with a star syncer (f = 1) and 3.75 s sharded
 * (M = 8), 3.92 s with headers; 5B, 4 bit, f = 1, T = 1 s, H = 24 needs 0.83 Gbit/s.
 */
#include "tests/scenario/helper.h"

#include "base/clock.h"
#include "bench/plan.h"

#define AT_90 2

static void plan_of(struct plan *plan, const char *overhead, const char *workload)
{
	_free_ char *text = memory_format("narrowlink: 1\n"
					  "links:\n"
					  "  wan: {rate: 0.84 Gbit/s, delay: 15 ms, overhead: %s}\n"
					  "  hub: {rate: 10 Gbit/s, delay: 1 ms}\n"
					  "core: {delay: 10 ms}\n"
					  "sites: {count: 8, link: wan}\n"
					  "workload: {%s}\n",
		overhead, workload);
	struct scenario_file *file = load_ok(text);

	plan_make(plan, file->cases[0]);
	scenario_file_free(file);
}

#define DECOUPLED "strategy: decoupled-diloco, parameters: 12 B, step: 4 s, outer: {bits: 4"

static void sharded(void **state)
{
	struct plan p;

	plan_of(&p, "ethernet", DECOUPLED "}");
	assert_near(p.factor, 1.75, 1e-12);
	assert_int_equal(p.period, 24);
	assert_int_equal(p.exchanges_per_period, 24);
	assert_int_equal(p.payload_bytes, 6000000000);
	/* a fragment of 250 MB: 7/8 to the other shards; a shard's share of it to 7 learners */
	assert_int_equal(p.exchange_bytes, 218750000);
	assert_int_equal(p.syncer_bytes, 218750000);
	assert_near(p.wire_ratio, 1514. / 1448, 1e-12);
	assert_near(p.boundary_step_ns[AT_90] / 1e9, 3.75 * 1514 / 1448, 1e-6); /* 3.92 s */
	assert_near(p.needed_bps[AT_90], 0.84e9 * 3.75 / 4 * 1514 / 1448, 1);
	assert_near(p.goodput_bps, 803.4e6, 1e5);
	assert_near(p.predicted_utilisation, .9 * 4 / (3.75 * 1514 / 1448), 1e-9);
	assert_int_equal(p.one_way_ns, 40 * NS_PER_MS);
	assert_near(p.aggregate_bps, 8 * .84e9, 1); /* every uplink full */
	assert_near(p.expected_wall_ns / 1e9, 26 * 4 / p.predicted_utilisation, 1e-6);
	assert_near(p.syncer_rate_bps, 0, 0);
}

static void without_headers(void **state)
{
	struct plan p;

	/* IP packets of 1500 B with 1448 B of payload; what is left is the ratio itself */
	plan_of(&p, "ip", DECOUPLED "}");
	assert_near(p.wire_ratio, 1500. / 1448, 1e-12);
	assert_near(p.boundary_step_ns[AT_90] / 1e9 / p.wire_ratio, 3.75, 1e-6);
	for (int i = 1; i < PLAN_TARGETS; i++)
		assert_near(p.needed_bps[i] / p.needed_bps[0], plan_targets[i] / .5, 1e-9);
}

static void star(void **state)
{
	struct plan p, slow;

	plan_of(&p, "ethernet", DECOUPLED ", syncer: star, syncer_link: hub}");
	assert_near(p.factor, 1, 1e-12);
	assert_int_equal(p.exchange_bytes, 250000000);
	assert_int_equal(p.syncer_bytes, 8 * 250000000LL);
	/* 8 x 12e9 x 4 bit in 24 steps of 4 s */
	assert_near(p.syncer_needed_bps / p.wire_ratio, 4e9, 1);
	assert_near(p.syncer_rate_bps, 10e9, 0);
	assert_near(p.boundary_step_ns[AT_90] / 1e9 / p.wire_ratio, 15. / 7, 1e-6); /* 2.14 s */
	assert_near(p.predicted_utilisation, 1, 0);

	assert_near(
		p.needed_bps[AT_90] / .9 / p.wire_ratio, .5e9, 1); /* a learner's link decides */
	assert_near(p.tight_rate_bps, .84e9, 0);
	/* 2 Gbit there and back at 803.4 Mbit/s; the hub carries eight of them in
	 * 1.67 s each way */
	assert_near(p.exchange_bound_ns / 1e9, 2 * .04 + 2 * 2e9 / p.goodput_bps, 2e-9);

	/* the syncer on the learners' link: eight times as much, and that decides */
	plan_of(&slow, "ethernet", DECOUPLED ", syncer: star}");
	assert_int_equal(slow.tight_site, 8);
	assert_near(slow.tight_rate_bps, .84e9, 0);
	assert_near(slow.needed_bps[AT_90] / .9 / p.wire_ratio, 4e9, 1);
	assert_near(slow.boundary_step_ns[AT_90] / 1e9 / p.wire_ratio, 8 * 15. / 7, 1e-6);
	assert_near(slow.exchange_bound_ns / 1e9, 2 * .04 + 2 * 8 * 2e9 / p.goodput_bps, 2e-9);
	/* two in flight: two steps of 4 s in the time of an exchange; without the delay 20.1 % */
	assert_near(slow.predicted_utilisation, 2 * 4 / (slow.exchange_bound_ns / 1e9), 1e-9);
	assert_near(slow.predicted_utilisation, .84 / 4 / p.wire_ratio, 1e-3);
}

/* The need and the rate are of one link: here the fast learner's is wide,
 * the slow one's decides. */
static void the_tightest_link_decides(void **state)
{
	struct scenario_file *file =
		load_ok("narrowlink: 1\n"
			"links: {wide: {rate: 10 Gbit/s, delay: 1 ms},"
			" narrow: {rate: 1 Gbit/s, delay: 1 ms}}\n"
			"sites: [{speed: 2, link: wide}, {link: narrow}]\n"
			"workload: {strategy: decoupled-diloco, parameters: 12 B, step: 4 s}\n");
	struct plan p;

	plan_make(&p, file->cases[0]);
	assert_int_equal(p.tight_site, 1);
	assert_near(p.tight_rate_bps, 1e9, 0);
	/* f = 1; 48 Gbit in 24 steps of 4 s; at speed 2 it would be 1 Gbit/s of 10 */
	assert_near(p.needed_bps[AT_90] / .9 / p.wire_ratio, .5e9, 1);
	assert_near(p.boundary_step_ns[AT_90] / 1e9 / p.wire_ratio, .9 * 2, 1e-6);
	scenario_file_free(file);
}

static void five_billion(void **state)
{
	struct plan p;

	plan_of(&p, "ethernet",
		"strategy: decoupled-diloco, parameters: 5 B, step: 1 s, "
		"outer: {bits: 4, syncer: star, syncer_link: hub}");
	assert_near(p.needed_bps[AT_90] / .9 / p.wire_ratio, 0.8333e9, 1e5);
}

static void other_strategies(void **state)
{
	struct plan p;

	/* every step 2 x 7/8 x 12e9 x 16 bit: 336 Gbit */
	plan_of(&p, "ethernet", "strategy: data-parallel, parameters: 12 B, step: 4 s");
	assert_int_equal(p.period, 1);
	assert_near(p.needed_bps[AT_90] / .9 / p.wire_ratio, 336e9 / 4, 1);
	assert_int_equal(p.exchange_bytes, 42000000000);
	assert_int_equal(p.syncer_bytes, 0);
	/* the same every 500 steps */
	plan_of(&p, "ethernet", "strategy: diloco, parameters: 12 B, step: 4 s");
	assert_near(p.needed_bps[AT_90] / .9 / p.wire_ratio, 336e9 / 4 / 500, 1);
	/*
	 * Nothing hides it but a backward pass: 2000 s of compute, 336 Gbit at 803.4 Mbit/s and 14
	 * stages of 40 ms less 2.67 s, but for the last of 128 buckets.
	 */
	assert_near(p.predicted_utilisation,
		2000 / (2000 + 336e9 / p.goodput_bps + 14 * .04 - 8. / 3 * 127 / 128), 1e-6);
	plan_of(&p, "ethernet", "strategy: streaming-diloco, parameters: 12 B, step: 4 s");
	assert_int_equal(p.exchanges_per_period, 16);
	/* 25 s of steps, then a sixteenth of it less the one step that hides it */
	assert_near(p.predicted_utilisation, 25 / (25 + 336e9 / 16 / p.goodput_bps + 14 * .04 - 4),
		1e-6);
	assert_near(p.needed_bps[AT_90] / .9 / p.wire_ratio, 336e9 / 4 / 100, 1);
}

static void the_fastest_learner_decides(void **state)
{
	struct scenario_file *file =
		load_ok("narrowlink: 1\n"
			"links: {wan: {rate: 1 Gbit/s, delay: 1 ms, up: {rate: 500 Mbit/s}}}\n"
			"sites: [{speed: 2}, {speed: 0.5}]\n"
			"workload: {strategy: decoupled-diloco, parameters: 12 B, step: 4 s}\n");
	struct plan p;

	plan_make(&p, file->cases[0]);
	assert_near(p.rate_bps, 500e6, 0);
	/* f = 1; 48 Gbit in 24 steps of 2 s */
	assert_near(p.needed_bps[AT_90] / .9 / p.wire_ratio, 1e9, 1);
	assert_near(p.boundary_step_ns[AT_90] / 1e9 / p.wire_ratio, .9 * 8, 1e-6);
	/* the slow one takes 8 s a step, at the predicted pace of the worst */
	assert_near(p.expected_wall_ns / 1e9, 26 * 8 / p.predicted_utilisation, 1e-6);
	scenario_file_free(file);
}

static void collect(void *user, const char *sentence)
{
	char *all = user;

	strcat(strcat(all, sentence), "\n");
}

/* 2 + 8 steps of 1 s on a link that is wide enough: 10 s, of which 2 s are the warm-up. */
static void faults_outside_the_measured_time(void **state)
{
	struct scenario_file *file =
		load_ok("narrowlink: 1\n"
			"links: {wan: {rate: 10 Gbit/s, delay: 1 ms}}\n"
			"sites: {count: 3, link: wan}\n"
			"workload: {strategy: decoupled-diloco, parameters: 1 M, step: 1 s,"
			" outer: {period: 4, fragments: 4, overlap: 2}}\n"
			"run: {steps: 8, warmup: 2, limit: 30 s}\n"
			"faults:\n"
			"  - {kind: crash, target: learner, at: 500 ms, for: 1 s}\n"
			"  - {kind: blackout, target: site 1, at: 5 s, for: 1 s}\n"
			"  - {kind: blackout, target: site 2, at: 15 s, for: 1 s}\n"
			"  - {kind: crash, target: site 3, at: 30 s, for: 1 s}\n"
			"  - {kind: crash, target: learner, mtbf: 1 h, repair: 1 s}\n");
	char said[2048] = "";
	struct plan p;

	plan_make(&p, file->cases[0]);
	plan_check_faults(&p, file->cases[0], collect, said);
	assert_string_equal(said,
		"the crash of each learner at 500 ms begins in the warm-up, which ends at about "
		"2 s: what it costs from then on is counted, what it costs before is not\n"
		"the blackout of site-2 at 15 s may not happen: the run is expected to end at "
		"about 10 s\n"
		"the crash of site-3 at 30 s will not happen: run.limit ends the run at 30 s\n");
	scenario_file_free(file);
}

/* 3 s, out in the first half of each: then 10, 5 and 5 Mbit/s for half a
 * second, 3.33 on average. */
static void links_that_change(void **state)
{
	struct scenario_file *file =
		load_ok("narrowlink: 1\n"
			"links: {wan: {rate: 10 Mbit/s, delay: 1 ms, down: {rate: 10 Mbit/s},"
			" up: {rate: 10 Mbit/s, changes: [{at: 1500 ms, rate: 5 Mbit/s}],"
			" outages: [{first: 0 s, every: 1 s, for: 500 ms}]}},"
			" steady: {rate: 10 Mbit/s, delay: 1 ms}}\n"
			"sites: [{link: wan}, {link: steady}]\n"
			"workload: {strategy: decoupled-diloco, parameters: 1 k, step: 1 s,"
			" outer: {period: 4, fragments: 4}}\n"
			"run: {steps: 2, warmup: 1}\n");
	char said[2048] = "";
	struct plan p;

	plan_make(&p, file->cases[0]);
	plan_check_links(&p, file->cases[0], collect, said);
	assert_string_equal(said,
		"the plan takes link wan, up, at its base of 10 Mbit/s; in the expected 3 s it is "
		"out for 50 % of the time and carries at most 3.333 Mbit/s on average, which comes "
		"on top\n");
	scenario_file_free(file);
}

/* 1 + 23 steps of an hour on a link that is wide enough: a day, and two at dilation 2. */
static void a_run_of_days(void **state)
{
	struct scenario_file *file =
		load_ok("narrowlink: 1\n"
			"links: {wan: {rate: 10 Gbit/s, delay: 1 ms}}\n"
			"sites: {count: 2, link: wan}\n"
			"workload: {strategy: decoupled-diloco, parameters: 1 k, step: 1 h,"
			" outer: {period: 4, fragments: 4}}\n"
			"run: {steps: 23, warmup: 1}\n");
	char said[2048] = "";
	struct plan p;

	plan_make(&p, file->cases[0]);
	plan_check_time(&p, file->cases[0], collect, said);
	assert_string_equal(said, ""); /* a day is not more than a day */
	file->cases[0]->dilation = 2;
	plan_check_time(&p, file->cases[0], collect, said);
	assert_string_equal(said,
		"on real packets the run takes about 2 d: fewer run.steps or a run.limit make it "
		"shorter, --engine model does not wait\n");
	scenario_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sharded),
		cmocka_unit_test(without_headers),
		cmocka_unit_test(star),
		cmocka_unit_test(the_tightest_link_decides),
		cmocka_unit_test(five_billion),
		cmocka_unit_test(other_strategies),
		cmocka_unit_test(the_fastest_learner_decides),
		cmocka_unit_test(links_that_change),
		cmocka_unit_test(a_run_of_days),
		cmocka_unit_test(faults_outside_the_measured_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
