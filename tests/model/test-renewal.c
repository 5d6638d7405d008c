/*
 * The renewal model against renewal theory. Expected values are closed formulas, written out or
 * computed by hand before the model ran; a mean over seeds must lie within the tolerance of its
 * formula, and the 95 % interval of the mean, which is printed, must be narrower than that.
 */
#include <math.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/stats.h"
#include "bench/model/renewal.h"
#include "bench/model/renewal_plan.h"
#include "tests/test.h"

#define SEEDS 100

/* A single chip as a learner that stops as a whole. */
static struct fleet single(double mtbf_s, double duration_s)
{
	return (struct fleet){
		.chips = 1,
		.mtbf_ns = (int64_t)(mtbf_s * 1e9),
		.learners = 1,
		.quorum = 1,
		.replica = 1,
		.duration_ns = (int64_t)(duration_s * 1e9),
		.seeds = SEEDS,
	};
}

static void settle_near(const char *what, const double *got, double want, double tolerance)
{
	double mean, half;

	stats_mean(got, SEEDS, &mean, &half);
	print_message("# %s: %.5f +- %.5f, formula %.5f\n", what, mean, half, want);
	assert_true(half < tolerance * want);
	assert_near(mean, want, tolerance * want);
}

static void run_all(const struct fleet *f, double *goodput, double *uptime)
{
	struct renewal r;

	for (int i = 0; i < SEEDS; i++) {
		renewal_run(&r, f, 1000 + (uint64_t)i);
		goodput[i] = renewal_goodput(&r, f);
		uptime[i] = renewal_uptime(&r, f);
	}
}

static void goodput_is(const char *what, const struct fleet *f, double want, double tolerance)
{
	double goodput[SEEDS], uptime[SEEDS];

	run_all(f, goodput, uptime);
	settle_near(what, goodput, want, tolerance);
}

/* U = tau / (M e^(R/M) (e^((tau+d)/M) - 1)), Daly 2006. */
static const struct {
	double tau, d, r, m, want;
} daly[] = {
	{600, 30, 120, 3600, .84291},
	{1800, 60, 600, 7200, .78031},
	{300, 60, 600, 1200, .43341},
};

static void test_daly(void **state)
{
	for (size_t i = 0; i < 3; i++) {
		struct fleet f = single(daly[i].m, daly[i].m * 5000);

		f.checkpoint_every_ns = (int64_t)daly[i].tau * NS_PER_S;
		f.checkpoint_cost_ns = (int64_t)daly[i].d * NS_PER_S;
		f.repair_ns = (int64_t)daly[i].r * NS_PER_S;
		f.repeat = true;
		assert_near(plan_daly(daly[i].tau, daly[i].d, daly[i].r, daly[i].m), daly[i].want,
			5e-6);
		goodput_is("Daly", &f, daly[i].want, .005);
	}
}

/* The same when a restart is never interrupted: M + R instead of M e^(R/M). */
static void test_checkpoints_without_repeat(void **state)
{
	struct fleet f = single(1200, 5e6);

	f.checkpoint_every_ns = 300 * NS_PER_S;
	f.checkpoint_cost_ns = 60 * NS_PER_S;
	f.repair_ns = 600 * NS_PER_S;
	/* 300 / (1800 (e^0.3 - 1)) */
	goodput_is("restart without interruptions", &f, .476383, .005);
	assert_near(plan_renewal(300, 60, 600, 1200), .476383, 1e-6);
}

static void test_best_interval(void **state)
{
	assert_near(plan_young_interval(60, 7200), 929.5, .05);
	assert_near(plan_daly_interval(60, 7200), 889.9, .05);
	assert_near(plan_daly_interval(500, 100), 100, 0); /* d >= 2 M: one per M */
	/* and no interval beside it is better */
	for (double tau = 800; tau < 980; tau += 5)
		assert_true(plan_daly(tau, 60, 0, 7200) <= plan_daly(889.9, 60, 0, 7200) + 2e-6);
}

/* n units of failure rate l that all stop for r: 1/(1 + n l r), or exp(-n l r) when repeated. */
static void test_all_stop(void **state)
{
	static const int64_t chips[] = {1, 40, 4000};

	for (size_t i = 0; i < 3; i++) {
		struct fleet f = single(1000. * (double)chips[i], 5e6); /* together 1000 s */

		f.chips = chips[i];
		f.repair_ns = 600 * NS_PER_S;
		goodput_is("1/(1 + n l r)", &f, 1 / 1.6, .005);
		f.repeat = true;
		goodput_is("exp(-n l r)", &f, .548812, .005);
	}
}

/* 1/(1 + (n/M) l r), whatever M is when n/M stays; uptime: at least K of M, each with A = 0.7. */
static void test_independent_learners(void **state)
{
	/* sum over j >= K of C(4,j) .7^j .3^(4-j) */
	static const double at_least[] = {.9919, .9163, .6517, .2401};
	double goodput[SEEDS], uptime[SEEDS];

	for (int k = 1; k <= 4; k++) {
		struct fleet f = single(1400 * 10., 4e6); /* 10 chips a learner */

		f.chips = 40;
		f.learners = 4;
		f.quorum = k;
		f.repair_ns = 600 * NS_PER_S;
		run_all(&f, goodput, uptime);
		assert_near(plan_quorum(4, k, .7), at_least[k - 1], 1e-9);
		settle_near("quorum", uptime, at_least[k - 1], .005);
		settle_near("useful with quorum", goodput, plan_quorum_share(4, k, .7), .005);
	}
	assert_near(plan_quorum_share(8, 1, .7), .7, 1e-12);
	assert_near(plan_quorum_share(8, 8, .7), .05764801, 1e-7);
	assert_near(plan_quorum(8, 8, 1), 1, 0);
	assert_near(plan_quorum(8, 1, 0), 0, 0);
}

/* max of M exponential steps of mean m: m H_M; the K-th: m (H_M - H_(M-K)). */
static void test_stragglers(void **state)
{
	static const struct {
		int n, k;
		double want;
	} cases[] = {{8, 8, 2.717857143}, {8, 1, .125}, {8, 4, .634523810}, {64, 64, 4.743890903}};
	double done[64], sum;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t steps = cases[i].n == 64 ? 10000 : 50000;

		sum = 0;
		for (uint64_t step = 0; step < steps; step++) {
			for (int l = 0; l < cases[i].n; l++)
				done[l] = random_exponential(7, (uint32_t)l, RANDOM_COMPUTE, step);
			sum += stats_quantile(done, (size_t)cases[i].n,
				(double)(cases[i].k - 1) / (cases[i].n - 1));
		}
		sum /= (double)steps;
		print_message("# %d of %d exponential steps: %.4f, formula %.4f\n", cases[i].k,
			cases[i].n, sum, cases[i].want);
		assert_near(plan_straggler(cases[i].n, cases[i].k), cases[i].want, 1e-8);
		assert_near(sum, cases[i].want, .01 * cases[i].want);
	}
}

/* Work that is merged every H T and lost with the learner: H T/2 a failure, when failures are rare.
 */
static void test_lost_work(void **state)
{
	struct fleet f = single(500 * 100., 1e8); /* H = 500, T = 1 s, a failure in 100 periods */
	struct renewal r;
	double lost[SEEDS];

	f.checkpoint_every_ns = 500 * NS_PER_S;
	for (int i = 0; i < SEEDS; i++) {
		renewal_run(&r, &f, (uint64_t)i);
		lost[i] = (double)r.in[FLEET_LOST] / 1e9 / (double)r.interruptions;
	}
	settle_near("lost work, s", lost, 250, .01); /* H T/2 - (H T)^2/(12 M) = 249.6 */
}

/* A replica in repair is missing, the others go on: 1/(1 + g l r) of the chips, no stop at all. */
static void test_capacity(void **state)
{
	struct fleet f = single(40000, 3e5);

	f.chips = 400;
	f.elastic = true;
	f.replica = 40; /* 10 replicas, each interrupted every 1000 s */
	f.repair_ns = 500 * NS_PER_S;
	goodput_is("capacity of an elastic learner", &f, 1 / 1.5, .005);
}

/* Stops of scale_down + scale_up and many replicas, so that few join together. */
static void test_elastic_stops(void **state)
{
	struct fleet f = single(1e6 * 2000, 1e6);
	struct fleet_plan plan;
	double want;

	f.chips = 1000000;
	f.elastic = true;
	f.repair_ns = 600 * NS_PER_S;
	f.scale_down_ns = 10 * NS_PER_S;
	f.scale_up_ns = 11 * NS_PER_S;
	want = 1 / (1 + 21. / 2000);
	goodput_is("stops of an elastic learner", &f, want, .001);
	fleet_plan_make(&plan, &f);
	assert_near(plan.goodput, want, 1e-6);
}

/* Without a replica left the state is lost, and the learner is down until one is back. */
static void test_last_replica(void **state)
{
	struct fleet f = single(1000, 1e7);
	struct renewal r;

	f.elastic = true;
	f.repair_ns = 300 * NS_PER_S;
	f.scale_up_ns = 20 * NS_PER_S;
	f.checkpoint_every_ns = 100 * NS_PER_S;
	renewal_run(&r, &f, 3);
	assert_true(r.losses > 9 * r.interruptions / 10 && r.in[FLEET_LOST] > 0);
	assert_true(r.in[FLEET_RECONFIGURE] == 0); /* its chip is still counted as in repair */
	assert_near((double)r.in[FLEET_REPAIR], 320e9 * (double)r.interruptions, 320e9);
}

/* Replicas that are repaired while the learner is stopped join in one stop. */
static void test_joins_together(void **state)
{
	struct fleet f = single(1e6, 1e6);
	struct renewal r;

	f.chips = 1000; /* together 1000 s */
	f.elastic = true;
	f.repair_ns = NS_PER_S;
	f.scale_down_ns = 100 * NS_PER_S; /* longer than the repair */
	f.scale_up_ns = 50 * NS_PER_S;
	renewal_run(&r, &f, 1);
	/* one down and one up for each interruption, nothing is interrupted meanwhile */
	assert_near((double)r.in[FLEET_RECONFIGURE] / 999 / 150e9, (double)r.interruptions, 1);
}

static struct fleet any_fleet(uint64_t i)
{
	struct fleet f = {.seeds = 1};
#define PICK(n, below) ((int64_t)(random_u64(99, n, RANDOM_COMPUTE, i) % (below)))

	f.learners = 1 + (int)PICK(1, 12);
	f.quorum = 1 + (int)PICK(2, (uint64_t)f.learners);
	f.chips = f.learners + PICK(3, 5000);
	f.mtbf_ns = 1 + PICK(4, UINT64_C(1000000000000000));
	f.elastic = PICK(5, 2);
	f.replica = 1 + PICK(6, 700);
	f.repair_ns = PICK(7, 4) ? PICK(7, UINT64_C(600000000000)) : 0;
	f.scale_down_ns = PICK(8, 3) ? PICK(8, UINT64_C(30000000000)) : 0;
	f.scale_up_ns = PICK(9, 3) ? PICK(9, UINT64_C(30000000000)) : 0;
	f.checkpoint_every_ns = PICK(10, 3) ? 1000000000 + PICK(10, UINT64_C(900000000000)) : 0;
	f.checkpoint_cost_ns = f.checkpoint_every_ns ? PICK(11, UINT64_C(9000000000)) : 0;
	f.repeat = PICK(12, 2);
	f.duration_ns = 1 + PICK(13, UINT64_C(100000000000000));
	return f;
#undef PICK
}

static bool too_many_events(const struct fleet *f)
{
	return (double)f->duration_ns * (double)f->chips / (double)f->mtbf_ns > 5000;
}

/* Every chip-nanosecond is in one bucket, in fleets of any kind, to the last. */
static void test_ledger(void **state)
{
	struct renewal r, again;
	int run = 0;

	for (uint64_t i = 0; i < 1500; i++) {
		struct fleet f = any_fleet(i);
		chip_ns sum = 0;

		if (too_many_events(&f))
			continue;
		renewal_run(&r, &f, i);
		for (int b = 0; b < FLEET_BUCKETS; b++)
			sum += r.in[b];
		assert_true(sum == (chip_ns)f.chips * (chip_ns)f.duration_ns);
		assert_true(r.up_ns >= 0 && r.up_ns <= f.duration_ns);
		assert_true(f.checkpoint_every_ns || !r.in[FLEET_LOST]);
		renewal_run(&again, &f, i);
		assert_memory_equal(&r, &again, sizeof r);
		run++;
	}
	assert_true(run > 500);
}

/* A year of 365 days between interruptions of a chip, nobody stops for longer than told. */
static void test_published(void **state)
{
	/* Decoupled DiLoCo, arXiv 2604.21428, Table 1: goodput in %. */
	static const double chips[] = {150e3, 300e3, 600e3, 1.2e6, 2.4e6};
	static const struct {
		bool elastic;
		int learners;
		double goodput[5];
	} rows[] = {
		{false, 1, {72, 57, 38, 27, 18}},
		{true, 1, {88, 80, 69, 58, 40}},
		{true, 2, {94, 88, 80, 70, 54}},
		{true, 8, {98, 96, 94, 88, 80}},
	};
	struct renewal r;

	for (size_t i = 0; i < 4; i++) {
		for (size_t c = 0; c < 5; c++) {
			struct fleet f = {
				.chips = (int64_t)chips[c],
				.mtbf_ns = 365 * 86400 * NS_PER_S,
				.learners = rows[i].learners,
				.quorum = 1,
				.elastic = rows[i].elastic,
				.replica = 256,
				.repair_ns = (rows[i].elastic ? 600 : 75) * NS_PER_S,
				.scale_down_ns = 10 * NS_PER_S,
				.scale_up_ns = 11 * NS_PER_S,
				.duration_ns = 86400 * NS_PER_S,
			};

			renewal_run(&r, &f, 1);
			print_message("# %d learners, %.2g chips: %.1f %%, published %.0f %%\n",
				rows[i].learners, chips[c], 100 * renewal_goodput(&r, &f),
				rows[i].goodput[c]);
			assert_near(100 * renewal_goodput(&r, &f), rows[i].goodput[c], 5);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_daly),
		cmocka_unit_test(test_checkpoints_without_repeat),
		cmocka_unit_test(test_best_interval),
		cmocka_unit_test(test_all_stop),
		cmocka_unit_test(test_independent_learners),
		cmocka_unit_test(test_stragglers),
		cmocka_unit_test(test_lost_work),
		cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_elastic_stops),
		cmocka_unit_test(test_last_replica),
		cmocka_unit_test(test_joins_together),
		cmocka_unit_test(test_ledger),
		cmocka_unit_test(test_published),
	};

	return cmocka_run_group_tests_name("renewal", tests, NULL, NULL);
}
