/* Exchange times and compute utilisation against the closed formulas of the facts. */
#include <math.h>

#include "tests/job/job.h"
#include "tests/job/virtual.h"
#include "tests/test.h"

struct seen {
	double exchange_s; /* the longest */
	int merges, partial, late;
};

static void look(void *user, int self, int64_t at_ns, const struct rt_report *report)
{
	struct seen *seen = user;

	if (report->kind == REPORT_EXCHANGE)
		seen->exchange_s = fmax(seen->exchange_s, report->amount);
	if (report->kind == REPORT_MERGE) {
		seen->merges++;
		seen->late += (int)report->c;
	}
}

static struct virtual_result *run(const char *name, const struct job *job, int64_t rate_bps,
	int64_t one_way_ns, int pieces, struct seen *seen)
{
	static struct virtual_result r;
	const struct virtual_setup setup = {
		.job = job,
		.strategy = strategy_find(name),
		.rate_bps = rate_bps,
		.hub_bps = rate_bps * 100000, /* FIFO: a narrow one would serve learners in turn */
		.one_way_ns = one_way_ns,
		.pieces = pieces,
		.run_on = true,
		.user = seen,
		.on_report = look,
	};

	*seen = (struct seen){0};
	virtual_run(&setup, &r);
	assert_true(r.all_done);
	for (int i = 0; i < job->n_learners; i++)
		assert_int_equal(
			ledger_wall_ns(&r.ledger[i]), r.ledger[i].until_ns - r.ledger[i].from_ns);
	return &r;
}

static double utilisation(const struct job *job, const struct virtual_result *r)
{
	const struct ledger *ledgers[LEARNERS_MAX];
	int64_t step_ns[LEARNERS_MAX];
	double accelerators[LEARNERS_MAX];
	struct ledger_totals totals;

	for (int i = 0; i < job->n_learners; i++) {
		ledgers[i] = &r->ledger[i];
		step_ns[i] = job->step_ns;
		accelerators[i] = 64;
	}
	ledger_totals(ledgers, step_ns, accelerators, job->n_learners, &totals);
	return totals.compute_utilisation;
}

static struct job job_12b(enum syncer syncer)
{
	struct job job = job_make(8, syncer);

	job.parameters = INT64_C(12000000000);
	job.bits = 4;
	return job;
}

/*
 * 8 sites, 6 GB, 0.84 Gbit/s, 50 ms one way: 14 * 50 ms + 1.75 * 6 GB * 8 / 0.84 Gbit/s =
 * 0.7 s + 100 s. Every stage is rounded to a whole ns.
 */
static void ring_takes_100_7_s(void **state)
{
	struct job job = job_12b(SYNCER_NONE);
	struct seen seen;

	job.period = 1;
	job.buckets = 1;
	job.steps = 2;
	job.step_ns = 3;
	run("diloco", &job, 840000000, 50 * NS_PER_MS, 1, &seen);
	assert_near(seen.exchange_s, 100.7, 14e-9);
	assert_int_equal(strategy_diloco.exchange_bound_ns(&job, 50 * NS_PER_MS, 840e6),
		INT64_C(100700000000));
	job.fragments = 1;
	job.overlap = 0;
	run("streaming-diloco", &job, 840000000, 50 * NS_PER_MS, 1, &seen);
	assert_near(seen.exchange_s, 100.7, 14e-9);
}

/* The synchronous syncer, all at once: 2 alpha + 2 (M-1)/M S beta sharded, 2 alpha +
 * 2 S beta star. */
static void syncers_take_what_the_table_says(void **state)
{
	const struct strategy *s = &strategy_decoupled_diloco;
	struct job job = job_12b(SYNCER_SHARDED);
	struct seen seen;

	job.period = job.fragments = 1;
	job.quorum = 8;
	job.overlap = 1;
	job.steps = 1;
	job.step_ns = 3;
	run("decoupled-diloco", &job, 840000000, 50 * NS_PER_MS, 1, &seen);
	assert_near(seen.exchange_s, 100.1, 100e-9);
	assert_int_equal(s->exchange_bound_ns(&job, 50 * NS_PER_MS, 840e6), INT64_C(100100000000));
	job.syncer = SYNCER_STAR; /* the hub holds a piece of 57 ms up for its tail, each way */
	run("decoupled-diloco", &job, 840000000, 50 * NS_PER_MS, 1000, &seen);
	assert_near(seen.exchange_s, 0.1 + 2 * 6e9 * 8 / 0.84e9, 0.125);
	assert_near((double)s->exchange_bound_ns(&job, 50 * NS_PER_MS, 840e6) / 1e9,
		0.1 + 2 * 6e9 * 8 / 0.84e9, 1e-9);
}

static void infinite_links_cost_nothing(void **state)
{
	for (size_t i = 0; strategy_at(i); i++) {
		struct job job = job_make(5, SYNCER_NONE);
		struct seen seen;

		if (strategy_at(i) == &strategy_decoupled_diloco)
			job.syncer = SYNCER_SHARDED;
		job.step_spread = 0;
		run(strategy_at(i)->name, &job, 0, 0, 1, &seen);
		assert_near(seen.exchange_s,
			strategy_at(i) == &strategy_decoupled_diloco ? 0 : 2. / 3 * 7 / 8, 1e-8);
		assert_near(
			utilisation(&job, run(strategy_at(i)->name, &job, 0, 0, 1, &seen)), 1, 0);
	}
}

/* stall = max(0, max(T/3 + 2T/(3L) + F/R, T + F/(R L)) - T), F = f S. */
static double overlapped_stall(double T, double L, double exchange)
{
	return fmax(0, fmax(T / 3 + 2 * T / (3 * L) + exchange, T + exchange / L) - T);
}

/*
 * The formula has one FIFO link and no stages. Two learners have the fewest; what stages cost is
 * that a bucket's second half cannot start before its first half has come.
 */
static void backward_overlap_follows_the_formula(void **state)
{
	const double exchange_s[] = {0.05, 0.3, 0.6, 1, 3, 30};

	for (size_t i = 0; i < sizeof exchange_s / sizeof *exchange_s; i++) {
		struct job job = job_make(2, SYNCER_NONE);
		int64_t bits = job_payload_bytes(&job) * 8; /* f = 1 */
		int64_t rate_bps = llround((double)bits / exchange_s[i]);
		struct seen seen;
		double stall;

		job.buckets = 128;
		stall = overlapped_stall(1, 128, exchange_s[i]);
		assert_near(utilisation(&job, run("data-parallel", &job, rate_bps, 0, 1, &seen)),
			1 / (1 + stall), 0.005);
		assert_near(utilisation(&job, run("diloco", &job, rate_bps, 0, 1, &seen)),
			6 / (6 + stall), 0.001);
	}
}

/* I = H T/P; a fragment's ring takes x; CU = I/(I + max(0, x - tau T)) while one is in flight. */
static void streaming_follows_the_formula(void **state)
{
	const double x_s[] = {0.2, 0.9, 1.3, 1.9, 2.6};

	for (size_t i = 0; i < sizeof x_s / sizeof *x_s; i++) {
		for (int tau = 0; tau <= 1; tau++) {
			struct job job = job_make(4, SYNCER_NONE);
			double ring_bits, stall = fmax(0, x_s[i] - tau), seconds;
			struct seen seen;
			struct virtual_result *r;

			job.fragments = 3; /* I = 2 T */
			job.overlap = tau;
			job.buckets = 1;
			job.steps = 24;
			job.warmup = 6;
			ring_bits = 1.5 * 8 * (double)job_fragment_bytes(&job, 0);
			seconds = x_s[i] - 6 * 0.01; /* 6 stages of 10 ms */
			r = run("streaming-diloco", &job, llround(ring_bits / seconds),
				10 * NS_PER_MS, 1, &seen);
			assert_near(seen.exchange_s, x_s[i], 1e-6);
			assert_near(utilisation(&job, r), 2 / (2 + stall), 1e-6);
		}
	}
}

/*
 * In B buckets during the backward pass, without delay: the last is ready at the step's end, the
 * first 2/3 (1 - 1/B) before. Stall as above, with that much hidden, while the link is never idle.
 */
static void streaming_hides_in_the_backward_pass(void **state)
{
	const double x_s[] = {0.3, 0.7, 1.1, 1.8, 2.2};
	const int buckets[] = {1, 3, 16, 128};

	for (size_t i = 0; i < 5 * 4; i++) {
		for (int tau = 0; tau <= 1; tau++) {
			struct job job = job_make(2, SYNCER_NONE);
			double x = x_s[i / 4], stall;
			int B = buckets[i % 4];
			struct seen seen;

			job.fragments = 3; /* I = 2 T */
			job.overlap = tau;
			job.buckets = B;
			job.steps = 24;
			job.warmup = 6;
			stall = fmax(fmax(x - 2. / 3 * (1 - 1. / B), x / B) - tau, 0);
			assert_near(
				utilisation(&job,
					run("streaming-diloco", &job,
						llround(8 * (double)job_fragment_bytes(&job, 0) /
							x),
						0, 1, &seen)),
				2 / (2 + stall), .004);
		}
	}
}

/* Throughput bound, tau large: CU = H T/(f N b / R), here T over a fragment's time on the link. */
static void decoupled_saturates_at_the_bound(void **state)
{
	for (int syncer = SYNCER_STAR; syncer <= SYNCER_SHARDED; syncer++) {
		struct job job = job_12b((enum syncer)syncer);
		struct seen seen;
		double rate_bps, f = strategy_decoupled_diloco.factor(&job);

		job.fragments = 24;
		job.period = 24;
		job.overlap = 12;
		job.steps = 1200;
		job.warmup = 240; /* until twelve are in flight */
		for (double cu = 0.3; cu < 0.95; cu += 0.2) {
			rate_bps = f * 250e6 * 8 * cu;
			assert_near(
				utilisation(&job, run("decoupled-diloco", &job, llround(rate_bps),
							  10 * NS_PER_MS, 4, &seen)),
				cu, 0.02);
		}
	}
}

/* K = M: every merge has everybody, nobody is ever late, the slowest sets the pace. */
static void a_full_quorum_is_synchronous(void **state)
{
	for (int syncer = SYNCER_STAR; syncer <= SYNCER_SHARDED; syncer++) {
		struct job job = job_make(4, (enum syncer)syncer);
		struct virtual_result *r;
		struct seen seen;

		job.quorum = 4;
		job.speed[2] = 0.5;
		r = run("decoupled-diloco", &job, 0, 0, 1, &seen);
		for (int i = 0; i < 4; i++)
			assert_true(r->done_ns[i] >= 44 * NS_PER_S);
		assert_int_equal(r->done_ns[2], 48 * NS_PER_S);
		assert_int_equal(seen.late, 0);
		for (int i = 4; i < job_participants(&job); i++)
			assert_near(r->merges[i], 24, 0);

		job.quorum = 1; /* and with the default nobody waits for it */
		r = run("decoupled-diloco", &job, 0, 0, 1, &seen);
		for (int i = 0; i < 4; i++)
			assert_int_equal(r->done_ns[i], (i == 2 ? 48 : 24) * NS_PER_S);
		assert_near(utilisation(&job, r), 1, 0);
	}
}

/* tau in flight, none answered: stall costs time, skip costs exchanges. */
static void late_answers_stall_or_skip(void **state)
{
	struct job job = job_make(2, SYNCER_SHARDED);
	struct virtual_result *r;
	struct seen seen;

	/* Answers after 4.8 s, two in flight: two sends per 4.8 s, or per 5 steps. */
	job.steps = 100;
	r = run("decoupled-diloco", &job, 0, 2400 * NS_PER_MS, 1, &seen);
	assert_near((double)r->done_ns[0] / 1e9, 240, 3);
	assert_near(utilisation(&job, r), 2 / 4.8, 0.01);
	assert_in_range(r->ledger[0].exchanges, 97, 100);
	job.when_late = WHEN_LATE_SKIP;
	r = run("decoupled-diloco", &job, 0, 2400 * NS_PER_MS, 1, &seen);
	assert_int_equal(r->done_ns[0], 100 * NS_PER_S);
	assert_near(utilisation(&job, r), 1, 0);
	assert_in_range(r->ledger[0].exchanges, 37, 41);
	/* Steps skipped are sent later: nothing is lost. */
	assert_near(r->ledger[0].steps_useful + ledger_steps_pending(&r->ledger[0]), 100, 1e-9);
}

/* Everyone waits for the slowest: T / 0.5 a step; what the others wait is exposed. */
static void stragglers_hold_up_synchronous_learners(void **state)
{
	struct job job = job_make(3, SYNCER_NONE);
	struct virtual_result *r;
	struct seen seen;

	job.speed[1] = 0.5;
	job.speed[2] = 2;
	r = run("data-parallel", &job, 0, 0, 1, &seen);
	assert_int_equal(r->done_ns[0], 48 * NS_PER_S);
	assert_int_equal(r->ledger[0].in_ns[STATE_COMPUTE], 24 * NS_PER_S);
	assert_int_equal(r->ledger[0].in_ns[STATE_EXPOSED_COMM], 24 * NS_PER_S);
	assert_int_equal(r->ledger[1].in_ns[STATE_COMPUTE], 48 * NS_PER_S);
	assert_int_equal(r->ledger[2].in_ns[STATE_COMPUTE], 12 * NS_PER_S);
}

/* 24 steps, a checkpoint of 0.5 s after every 7: three of them. */
static void checkpoints_cost_what_they_cost(void **state)
{
	struct job job = job_make(3, SYNCER_NONE);
	struct virtual_result *r;
	struct seen seen;

	job.checkpoint_steps = 7;
	job.checkpoint_ns = NS_PER_S / 2;
	r = run("data-parallel", &job, 0, 0, 1, &seen);
	assert_int_equal(r->done_ns[0], 25500 * NS_PER_MS);
	assert_int_equal(r->ledger[1].in_ns[STATE_CHECKPOINT], 1500 * NS_PER_MS);
	assert_near(r->ledger[1].steps_useful, 21, 0);
	assert_near(ledger_steps_pending(&r->ledger[1]), 3, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_takes_100_7_s),
		cmocka_unit_test(syncers_take_what_the_table_says),
		cmocka_unit_test(infinite_links_cost_nothing),
		cmocka_unit_test(backward_overlap_follows_the_formula),
		cmocka_unit_test(streaming_follows_the_formula),
		cmocka_unit_test(streaming_hides_in_the_backward_pass),
		cmocka_unit_test(decoupled_saturates_at_the_bound),
		cmocka_unit_test(a_full_quorum_is_synchronous),
		cmocka_unit_test(late_answers_stall_or_skip),
		cmocka_unit_test(stragglers_hold_up_synchronous_learners),
		cmocka_unit_test(checkpoints_cost_what_they_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
