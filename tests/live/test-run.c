/*
 * From a scenario's text to finished learners: the strategies over the relay's links, with the
 * payload that their formulas say, and with a crash and a blackout.
 */
#include "tests/live/stage.h"

#define ONE_WAY_NS INT64_C(7000000) /* 3 ms of each link, 1 ms of the core */

#define COMMON                                                                                     \
	"narrowlink: 1\n"                                                                          \
	"sites: {count: 3, link: wan}\n"                                                           \
	"links: {wan: {rate: 100 Mbit/s, delay: 3 ms, queue: 50 ms}}\n"                            \
	"core: {delay: 1 ms}\n"                                                                    \
	"transport: {connections: 2, silence: 400 ms}\n"

/* The run has an end, and everybody's events came in order. */
static void run_to_the_end(struct stage *st)
{
	stage_run(st);
	assert_int_equal(st->result.end, END_DONE);
	assert_false(st->watch.out_of_order);
}

static void check_ledgers(const struct stage *st)
{
	for (int i = 0; i < st->s->job.n_learners; i++) {
		double wall = (double)ledger_wall_ns(&st->watch.ledgers[i]);
		double want = (double)(st->watch.done_at[i] - st->watch.ledgers[i].from_ns);

		assert_near(wall, want, 0.005 * want);
		assert_true(st->watch.ledgers[i].in_ns[STATE_COMPUTE] > 0);
	}
}

/* Loss-free and finished: what was sent is the formula's, and all of it arrived. */
static void check_payload(const struct stage *st, uint64_t exchanges)
{
	const struct job *job = &st->s->job;
	uint64_t want, sent = 0, received = 0;

	for (int i = 0; i < job_participants(job); i++) {
		/* the last ones may be answered after the end, but they are sent */
		if (job_role(job, i) == ROLE_LEARNER)
			assert_in_range(
				st->exchanges[i], exchanges - (uint64_t)job->overlap, exchanges);
		want = 0;
		for (uint64_t round = 0; round < exchanges; round++)
			want += (uint64_t)st->s->strategy->bytes_sent(job, i, (int64_t)round);
		assert_int_equal(st->result.bytes[i].payload_sent, want);
		sent += st->result.bytes[i].payload_sent;
		received += st->result.bytes[i].payload_received;
	}
	assert_true(sent > 0);
	assert_int_equal(received, sent);
}

/* No packet is faster than the link; ten in a row are not all slow. */
static void check_idle_rtt(const struct stage *st)
{
	for (int i = 0; i < st->s->n_sites; i++)
		for (int j = 0; j < i; j++) {
			assert_true(st->result.idle_rtt_ns[i][j] >= 2 * ONE_WAY_NS);
			assert_true(st->result.idle_rtt_ns[i][j] < 20 * ONE_WAY_NS);
		}
}

static void data_parallel(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: data-parallel, parameters: 200 k, step: 100 ms, "
			     "buckets: 4, checkpoint: {every: 0 steps}}\n"
			     "run: {steps: 8, warmup: 2}\n");
	run_to_the_end(&st);
	check_payload(&st, 10);
	check_idle_rtt(&st);
	check_ledgers(&st);
	stage_down(&st);
}

/* Every fourth step everything, around the ring. */
static void diloco(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: diloco, parameters: 600 k, step: 100 ms, "
			     "buckets: 4, outer: {period: 4, bits: 16}}\n"
			     "run: {steps: 8, warmup: 4}\n");
	run_to_the_end(&st);
	check_payload(&st, 3);
	check_ledgers(&st);
	stage_down(&st);
}

/* A third of it every second step, applied a step later. */
static void streaming(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: streaming-diloco, parameters: 600 k, "
			     "step: 100 ms, "
			     "outer: {period: 6, fragments: 3, overlap: 1, bits: 16}}\n"
			     "run: {steps: 10, warmup: 2}\n");
	run_to_the_end(&st);
	check_payload(&st, 6);
	check_ledgers(&st);
	stage_down(&st);
}

static void decoupled(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: decoupled-diloco, parameters: 2400 k, "
			     "step: 100 ms, outer: {period: 6, fragments: 6, overlap: 2, bits: 4, "
			     "syncer: sharded, quorum: 1}}\n"
			     "run: {steps: 10, warmup: 2}\n");
	run_to_the_end(&st);
	check_payload(&st, 12);
	check_ledgers(&st);
	stage_down(&st);
}

/* The star syncer has a site of its own. */
static void decoupled_star(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: decoupled-diloco, parameters: 2400 k, "
			     "step: 100 ms, outer: {period: 6, fragments: 6, overlap: 2, bits: 4, "
			     "syncer: star, quorum: 1}}\n"
			     "run: {steps: 10, warmup: 0}\n");
	assert_int_equal(st.s->n_sites, 4);
	run_to_the_end(&st);
	check_payload(&st, 10);
	check_ledgers(&st);
	stage_down(&st);
}

static void check_crash(const struct stage *st)
{
	const struct watch *w = &st->watch;

	assert_int_equal(w->downs[1], 1);
	assert_int_equal(w->recovers[1], 1);
	assert_int_equal(w->recovered[1], 1);
	assert_int_equal(w->ledgers[1].in_ns[STATE_DOWN], w->recover_at[1] - w->down_at[1]);
	assert_true(w->down_at[1] >= 1000000000 && w->recover_at[1] >= 1500000000);
	assert_true(w->ledgers[1].in_ns[STATE_RECOVER] > 0);
	assert_true(w->done_at[1] > w->recover_at[1]);
	assert_int_equal(w->downs[0] + w->downs[2], 0);
}

#define CRASH "faults: [{kind: crash, target: site 2, at: 1 s, for: 500 ms}]\n"

/* The others go on computing while one is away. */
static void decoupled_with_a_crash(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: decoupled-diloco, parameters: 2400 k, "
			     "step: 100 ms, state: 1 MB, outer: {period: 6, fragments: 6, "
			     "overlap: 2, bits: 4, syncer: sharded, quorum: 1}}\n"
			     "run: {steps: 30, warmup: 2}\n" CRASH);
	run_to_the_end(&st);
	check_crash(&st);
	check_ledgers(&st);
	for (int i = 0; i < 3; i += 2)
		assert_true(st.watch.ledgers[i].in_ns[STATE_BARRIER_WAIT] < 100000000);
	stage_down(&st);
}

/* All wait for it, and steps are done again. */
static void data_parallel_with_a_crash(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: data-parallel, parameters: 200 k, step: 100 ms, "
			     "state: 1 MB, buckets: 4, checkpoint: {every: 5 steps, cost: 20 ms}}\n"
			     "run: {steps: 20, warmup: 2}\n" CRASH);
	run_to_the_end(&st);
	check_crash(&st);
	check_ledgers(&st);
	for (int i = 0; i < 3; i += 2)
		assert_true(st.watch.ledgers[i].in_ns[STATE_BARRIER_WAIT] > 400000000);
	stage_down(&st);
}

/* An exchange breaks, and all wait until it can be made with everybody. */
static void diloco_with_a_crash(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: diloco, parameters: 600 k, step: 100 ms, "
			     "state: 1 MB, buckets: 4, outer: {period: 4, bits: 16}}\n"
			     "run: {steps: 20, warmup: 0}\n" CRASH);
	run_to_the_end(&st);
	check_crash(&st);
	check_ledgers(&st);
	for (int i = 0; i < 3; i += 2)
		assert_true(st.watch.ledgers[i].in_ns[STATE_BARRIER_WAIT] > 100000000);
	stage_down(&st);
}

/* A site that is cut off is noticed, and no connection breaks. */
static void blackout_is_silence(void **state)
{
	struct stage st;

	stage_up(&st, COMMON "workload: {strategy: decoupled-diloco, parameters: 2400 k, "
			     "step: 100 ms, outer: {period: 6, fragments: 6, overlap: 2, bits: 4, "
			     "syncer: sharded, quorum: 1}}\n"
			     "run: {steps: 30, warmup: 2}\n"
			     "faults: [{kind: blackout, target: site 3, at: 1 s, for: 1500 ms}]\n");
	run_to_the_end(&st);
	assert_int_equal(st.watch.fault_begins, 1);
	assert_int_equal(st.watch.fault_ends, 1);
	/* site 3's learner and syncer each miss the other sites' two; those miss these two */
	assert_true(st.watch.silent[2] >= 4 && st.watch.silent[0] >= 2);
	for (int i = 0; i < 6; i++)
		assert_int_equal(st.watch.silent[i], st.watch.heard[i]);
	check_ledgers(&st);
	stage_down(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_parallel),
		cmocka_unit_test(diloco),
		cmocka_unit_test(streaming),
		cmocka_unit_test(decoupled),
		cmocka_unit_test(decoupled_star),
		cmocka_unit_test(decoupled_with_a_crash),
		cmocka_unit_test(data_parallel_with_a_crash),
		cmocka_unit_test(diloco_with_a_crash),
		cmocka_unit_test(blackout_is_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
