/* Payload bytes on the links equal the formulas exactly: all strategies, even and uneven. */
#include "tests/job/job.h"
#include "tests/job/virtual.h"
#include "tests/test.h"

struct counts {
	const struct job *job;
	uint64_t exchanges[PARTICIPANTS_MAX]; /* over the whole run, warm-up too */
};

static void count(void *user, int self, int64_t at_ns, const struct rt_report *report)
{
	struct counts *c = user;

	c->exchanges[self] += report->kind == REPORT_EXCHANGE;
}

static int64_t planned(const struct strategy *s, const struct job *job, int who, uint64_t n)
{
	int64_t sum = 0;

	for (uint64_t round = 0; round < n; round++)
		sum += s->bytes_sent(job, who, (int64_t)round);
	return sum;
}

/* Runs until the last message has arrived; every byte on an uplink must be in the plan. */
static void check(const char *name, const struct job *job, uint64_t exchanges, int64_t jitter_ns)
{
	static struct virtual_result r;
	struct counts counts = {.job = job};
	const struct virtual_setup setup = {
		.job = job,
		.strategy = strategy_find(name),
		.rate_bps = 1000000000,
		.one_way_ns = 10 * NS_PER_MS,
		.jitter_ns = jitter_ns,
		.pieces = 3,
		.run_on = true,
		.user = &counts,
		.on_report = count,
	};
	int64_t up = 0, sent = 0;

	virtual_run(&setup, &r);
	assert_true(r.all_done);
	for (int i = 0; i < job_participants(job); i++) {
		if (job_role(job, i) == ROLE_LEARNER)
			assert_int_equal(counts.exchanges[i], exchanges);
		assert_int_equal(r.sent_bytes[i], planned(setup.strategy, job, i, exchanges));
		sent += r.sent_bytes[i];
		up += r.up_bytes[i];
	}
	assert_int_equal(up, sent);
}

static const int sizes[] = {2, 3, 5, 8};
static const int64_t parameters[] = {1, 3, 101, 12345679, 12000000};

#define EACH_CASE                                                                                  \
	for (size_t m = 0; m < 4; m++)                                                             \
		for (size_t n = 0; n < 5; n++)                                                     \
			for (int64_t jitter_ns = 0; jitter_ns <= 1500 * NS_PER_MS;                 \
				jitter_ns += 1500 * NS_PER_MS)

static void data_parallel(void **state)
{
	EACH_CASE
	{
		struct job job = job_make(sizes[m], SYNCER_NONE);

		job.parameters = parameters[n];
		job.steps = 5;
		job.warmup = 2;
		job.buckets = n == 1 ? 1 : 7;
		check("data-parallel", &job, 7, jitter_ns);
	}
}

static void diloco(void **state)
{
	EACH_CASE
	{
		struct job job = job_make(sizes[m], SYNCER_NONE);

		job.parameters = parameters[n];
		job.steps = 13; /* the thirteenth is in no exchange */
		job.buckets = n == 1 ? 1 : 5;
		check("diloco", &job, 2, jitter_ns);
	}
}

static void streaming(void **state)
{
	EACH_CASE
	{
		struct job job = job_make(sizes[m], SYNCER_NONE);

		job.parameters = parameters[n];
		job.fragments = 4; /* sent at steps 1, 3, 4, 6, 7, 9, ... */
		job.overlap = n == 0 ? 0 : 2;
		job.steps = 20; /* floor(e 6/4) <= 20: e <= 13 */
		check("streaming-diloco", &job, 13, jitter_ns);
	}
}

static void decoupled(void **state)
{
	EACH_CASE
	{
		for (int syncer = SYNCER_STAR; syncer <= SYNCER_SHARDED; syncer++) {
			struct job job = job_make(sizes[m], (enum syncer)syncer);

			job.parameters = parameters[n];
			job.overlap = n == 0 ? 1 : 2;
			job.quorum = n == 1 ? job.n_learners : 1;
			job.grace = 0.5;
			job.steps = 20;
			check("decoupled-diloco", &job, 20, jitter_ns);
		}
	}
}

/* The oracle of facts: a ring's links carry 2 S (M-1), whatever the chunks. */
static void rings_carry_2s_m_minus_1(void **state)
{
	for (size_t m = 0; m < 4; m++) {
		for (size_t n = 0; n < 5; n++) {
			struct job job = job_make(sizes[m], SYNCER_NONE);
			int64_t S, sums[3] = {0};

			job.parameters = parameters[n];
			job.fragments = 5;
			S = job_payload_bytes(&job);
			for (int i = 0; i < job.n_learners; i++) {
				sums[0] += strategy_data_parallel.bytes_sent(&job, i, 3);
				sums[1] += strategy_diloco.bytes_sent(&job, i, 3);
				for (int p = 0; p < job.fragments; p++)
					sums[2] += strategy_streaming_diloco.bytes_sent(&job, i, p);
			}
			for (int k = 0; k < 3; k++)
				assert_int_equal(sums[k], 2 * S * (job.n_learners - 1));
		}
	}
}

/* And the syncers' of the table: star S up and S down, sharded 2 S (M-1)/M at each site. */
static void syncers_carry_what_the_table_says(void **state)
{
	struct job job = job_make(8, SYNCER_STAR);
	const struct strategy *s = &strategy_decoupled_diloco;

	job.parameters = INT64_C(12000000000);
	job.bits = 4;
	job.fragments = 24;
	assert_int_equal(s->bytes_sent(&job, 3, 0), 250000000);
	assert_int_equal(s->bytes_sent(&job, 8, 0), INT64_C(2000000000));
	assert_near(s->factor(&job), 1, 0);
	job.syncer = SYNCER_SHARDED;
	assert_int_equal(s->bytes_sent(&job, 3, 0) + s->bytes_sent(&job, 11, 0),
		2 * INT64_C(250000000) * 7 / 8);
	assert_near(s->factor(&job), 1.75, 1e-15);
	assert_near(strategy_streaming_diloco.factor(&job), 1.75, 1e-15);
	assert_int_equal(s->period(&job), 6);
	assert_int_equal(strategy_data_parallel.period(&job), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_parallel),
		cmocka_unit_test(diloco),
		cmocka_unit_test(streaming),
		cmocka_unit_test(decoupled),
		cmocka_unit_test(rings_carry_2s_m_minus_1),
		cmocka_unit_test(syncers_carry_what_the_table_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
