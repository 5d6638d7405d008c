/*
 * The syncer's rules against numbers worked out by hand: quorum, grace window, merge weights,
 * late contributions, crashed contributors. A recording runtime stands in for the real ones.
 */
#include "base/clock.h"
#include "bench/collective.h"
#include "bench/strategy/syncer.h"
#include "tests/job/job.h"
#include "tests/test.h"

#define MS NS_PER_MS

struct sent {
	int peer;
	struct rt_message message;
};

struct stage {
	struct rt rt;
	struct job job;
	struct syncer_state *syncer;
	int n_sent, n_merges;
	struct sent sent[64];
	struct rt_report merge; /* the last */
	int64_t timer_ns;	/* as set last */
};

static struct stage *stage_of(struct rt *rt)
{
	return (struct stage *)((char *)rt - offsetof(struct stage, rt));
}

static void record_send(struct rt *rt, int peer, const struct rt_message *message)
{
	struct stage *s = stage_of(rt);

	assert_true(s->n_sent < 64);
	s->sent[s->n_sent++] = (struct sent){peer, *message};
}

static void record_timer(struct rt *rt, int timer, int64_t ns)
{
	assert_int_equal(timer, 0);
	stage_of(rt)->timer_ns = ns;
}

static void record_report(struct rt *rt, const struct rt_report *report)
{
	struct stage *s = stage_of(rt);

	assert_int_equal(report->kind, REPORT_MERGE);
	s->merge = *report;
	s->n_merges++;
}

static void record_state(struct rt *rt, enum state state)
{
	assert_int_equal(state, STATE_IDLE);
}

/* A star syncer of 3 learners, T = 4 s, tau = 2, gamma = 1/2, one fragment. */
static struct stage *set_stage(int quorum)
{
	static const struct rt_ops ops = {
		.send = record_send,
		.timer = record_timer,
		.report = record_report,
		.state = record_state,
	};
	struct stage *s = test_calloc(1, sizeof *s);

	s->job = job_make(3, SYNCER_STAR);
	s->job.step_ns = 4 * NS_PER_S;
	s->job.grace = 0.5;
	s->job.quorum = quorum;
	s->job.period = s->job.fragments = 1;
	s->rt = (struct rt){&ops, &s->job, 3};
	s->syncer = syncer_new(&s->rt);
	syncer_event(s->syncer, &(struct rt_event){.kind = RT_START});
	return s;
}

static void strike(struct stage *s)
{
	syncer_free(s->syncer);
	test_free(s);
}

/* Round r of the only fragment: from a learner, sent and arrived at these ms. */
static void contribute(struct stage *s, int learner, uint64_t round, int64_t sent_ms, int64_t at_ms,
	uint64_t tokens, uint64_t steps)
{
	struct rt_event event = {.kind = RT_MESSAGE, .peer = learner, .at_ns = at_ms * MS};

	event.message = (struct rt_message){
		.kind = MESSAGE_CONTRIBUTION,
		.round = round,
		.tokens = tokens,
		.steps = steps,
		.bytes = 24000000,
		.sent_ns = sent_ms * MS,
	};
	syncer_event(s->syncer, &event);
}

static void at(struct stage *s, enum rt_kind kind, int peer, int64_t at_ms)
{
	const struct rt_event event = {.kind = kind, .peer = peer, .at_ns = at_ms * MS};

	syncer_event(s->syncer, &event);
}

static void assert_answer(const struct stage *s, int i, int peer, uint64_t round, uint64_t weight)
{
	assert_true(i < s->n_sent);
	assert_int_equal(s->sent[i].peer, peer);
	assert_int_equal(s->sent[i].message.kind, MESSAGE_MERGED);
	assert_int_equal(s->sent[i].message.round, round);
	assert_int_equal(s->sent[i].message.tokens, weight);
	assert_int_equal(s->sent[i].message.bytes, 24000000);
}

static void assert_merge(
	const struct stage *s, int n, int64_t round, double contributors, int64_t carried)
{
	assert_int_equal(s->n_merges, n);
	assert_int_equal(s->merge.a, round);
	assert_near(s->merge.amount, contributors, 0);
	assert_int_equal(s->merge.c, carried);
}

static void formulas(void **state)
{
	/* 4000 tokens in 2 steps: 4000 * 2000. */
	assert_near(syncer_weight(4000, 2), 8e6, 0);
	/* 2 * 4 s - (1 s + 2 s) = 5 s of slack, half of it. */
	assert_int_equal(syncer_grace_ns(0.5, 2, 4 * NS_PER_S, 1e9, 2e9), 2500 * MS);
	assert_int_equal(syncer_grace_ns(0, 2, 4 * NS_PER_S, 1e9, 2e9), 0);
	assert_int_equal(syncer_grace_ns(0.9, 2, 4 * NS_PER_S, 5e9, 4e9), 0);
	assert_int_equal(syncer_grace_ns(0.9, 0, 4 * NS_PER_S, 0, 0), 0);
}

/* K = 1: the first makes the quorum 2 s after it sent; slack 8 - (2 + 2) = 4 s, window 2 s. */
static void who_comes_within_the_window_is_merged(void **state)
{
	struct stage *s = set_stage(1);

	contribute(s, 0, 1, 0, 2000, 1000, 1);
	assert_int_equal(s->timer_ns, 2000 * MS);
	contribute(s, 1, 1, 1000, 3000, 4000, 2);
	assert_int_equal(s->timer_ns, 1000 * MS); /* the same end */
	assert_int_equal(s->n_sent, 0);
	at(s, RT_TIMER, 0, 4000);
	/* w = 1000^2/1 = 1e6 and 4000^2/2 = 8e6: a ninth and eight. */
	assert_merge(s, 1, 1, 2, 0);
	assert_int_equal(s->n_sent, 2);
	assert_answer(s, 0, 0, 1, 111111111);
	assert_answer(s, 1, 1, 1, 888888889);
	assert_int_equal(s->timer_ns, -1);
	strike(s);
}

static void the_late_are_answered_at_once_and_carried_over(void **state)
{
	struct stage *s = set_stage(1);

	contribute(s, 0, 1, 0, 2000, 1000, 1);
	at(s, RT_TIMER, 0, 4000);
	assert_int_equal(s->n_sent, 1);
	contribute(s, 2, 1, 1000, 5000, 3000, 1);
	assert_int_equal(s->n_sent, 2);
	assert_answer(s, 1, 2, 1, 0);
	assert_int_equal(s->n_merges, 1);
	/*
	 * Round 2: learner 2 has 3000 + 1000 tokens in 1 + 1 steps, 8e6; learner 0 has 2000 in 1,
	 * 4e6. Two thirds and one third. All three are there: no window.
	 */
	contribute(s, 0, 2, 6000, 6000, 2000, 1);
	contribute(s, 2, 2, 6000, 6100, 1000, 1);
	assert_int_equal(s->n_merges, 1);
	contribute(s, 1, 2, 6000, 6200, 0, 1);
	assert_merge(s, 2, 2, 3, 1);
	assert_int_equal(s->n_sent, 5);
	assert_answer(s, 2, 0, 2, 333333333);
	assert_answer(s, 3, 2, 2, 666666667);
	assert_answer(s, 4, 1, 2, 0);
	/* Carried over once only. */
	contribute(s, 0, 3, 7000, 7000, 1000, 1);
	contribute(s, 1, 3, 7000, 7000, 1000, 1);
	contribute(s, 2, 3, 7000, 7000, 1000, 1);
	assert_merge(s, 3, 3, 3, 0);
	assert_answer(s, 7, 2, 3, 333333333);
	strike(s);
}

/* Averages: x += (measured - x) / 8, begun with the first. */
static void the_window_follows_moving_averages(void **state)
{
	struct stage *s = set_stage(2);

	/* Transfers of 1 s and 2 s: sync 1 + 1/8 = 1.125 s. Quorum 3 s after the first sent. */
	contribute(s, 0, 1, 0, 1000, 1000, 1);
	assert_int_equal(s->timer_ns, -1);
	contribute(s, 1, 1, 1000, 3000, 1000, 1);
	/* (8 - 3 - 1.125)/2 */
	assert_int_equal(s->timer_ns, 1937500 * (MS / 1000));
	at(s, RT_TIMER, 0, 4938);
	assert_merge(s, 1, 1, 2, 0);
	/* Then 0.5 s twice: 1.125 -> 1.046875 -> 0.978515625. Quorum 1.5 s: 3 -> 2.8125. */
	contribute(s, 0, 2, 10000, 10500, 1000, 1);
	contribute(s, 1, 2, 11000, 11500, 1000, 1);
	/* (8 - 2.8125 - 0.978515625)/2 = 2.1044921875 */
	assert_int_equal(s->timer_ns, INT64_C(2104492187));
	strike(s);
}

/* The one who stalls first is the fastest: its step counts, 4 s / 2. */
static void a_fast_contributor_shortens_the_window(void **state)
{
	struct stage *s = set_stage(1);

	s->job.speed[1] = 2;
	contribute(s, 1, 1, 0, 1000, 1000, 1);
	assert_int_equal(s->timer_ns, 1000 * MS); /* (2 * 2 - 1 - 1)/2 */
	strike(s);
}

static void a_full_house_needs_no_window(void **state)
{
	struct stage *s = set_stage(1);

	contribute(s, 0, 1, 0, 1000, 1000, 1);
	contribute(s, 1, 1, 0, 1000, 1000, 1);
	assert_int_equal(s->n_merges, 0);
	contribute(s, 2, 1, 0, 1500, 1000, 1);
	assert_merge(s, 1, 1, 3, 0);
	strike(s);
}

/* Nobody waits for one that is down; its own contribution counts, but is not answered. */
static void a_crash_closes_the_window_and_needs_no_answer(void **state)
{
	struct stage *s = set_stage(2);

	contribute(s, 0, 1, 0, 1000, 1000, 1);
	contribute(s, 1, 1, 0, 1000, 1000, 1);
	assert_int_equal(s->n_merges, 0);
	at(s, RT_PEER_DOWN, 2, 1100);
	assert_merge(s, 1, 1, 2, 0);
	contribute(s, 0, 2, 2000, 3000, 1000, 1);
	at(s, RT_PEER_DOWN, 0, 3500);
	assert_int_equal(s->n_merges, 1);
	contribute(s, 1, 2, 2000, 4000, 3000, 1);
	assert_merge(s, 2, 2, 2, 0);
	assert_int_equal(s->n_sent, 3); /* two of round 1, one of round 2 */
	assert_answer(s, 2, 1, 2, 900000000);
	strike(s);
}

/* A restarted learner's contribution to a round takes its old one's place: one head, one answer. */
static void a_restarted_learner_is_counted_once(void **state)
{
	struct stage *s = set_stage(2);

	contribute(s, 0, 1, 0, 1000, 1000, 1);
	at(s, RT_PEER_DOWN, 0, 1500);
	at(s, RT_PEER_UP, 0, 2000);
	contribute(s, 0, 1, 2500, 3000, 2000, 1);
	assert_int_equal(s->n_merges, 0);
	contribute(s, 1, 1, 2500, 3000, 2000, 1);
	contribute(s, 2, 1, 2500, 3000, 2000, 1);
	assert_merge(s, 1, 1, 3, 0);
	assert_int_equal(s->n_sent, 3);
	assert_answer(s, 0, 0, 1, 333333333);
	strike(s);
}

/* K = 2 over rounds: one skipped round 1, the other waits in it; together in round 2. */
static void rounds_with_too_few_are_merged_with_the_next(void **state)
{
	struct stage *s = set_stage(2);

	contribute(s, 0, 1, 0, 1000, 1000, 1);
	contribute(s, 1, 2, 4000, 5000, 2000, 2);
	at(s, RT_TIMER, 0, 9000);
	assert_merge(s, 1, 2, 2, 0);
	assert_int_equal(s->n_sent, 2);
	assert_answer(s, 0, 0, 1, 333333333); /* 1e6 of 3e6 */
	assert_answer(s, 1, 1, 2, 666666667);
	strike(s);
}

static uint64_t ask(struct stage *s, int learner, bool has_state)
{
	struct rt_event event = {.kind = RT_MESSAGE, .peer = learner};

	event.message = (struct rt_message){.kind = MESSAGE_ASK, .steps = has_state, .stage = 5};
	syncer_event(s->syncer, &event);
	assert_int_equal(s->sent[s->n_sent - 1].message.kind, MESSAGE_POSITION);
	assert_int_equal(s->sent[s->n_sent - 1].message.stage, 5);
	assert_int_equal(s->sent[s->n_sent - 1].message.bytes, 0);
	return s->sent[s->n_sent - 1].message.round;
}

static uint64_t fit(const struct stage *s)
{
	return s->sent[s->n_sent - 1].message.tokens;
}

static void positions_and_donors(void **state)
{
	struct stage *s = set_stage(2);

	assert_int_equal(ask(s, 0, false), 1); /* the first exchange there is */
	assert_int_equal(fit(s), 6);	       /* not itself */
	at(s, RT_PEER_DOWN, 1, 0);
	assert_int_equal(ask(s, 0, false), 1);
	assert_int_equal(fit(s), 4);
	contribute(s, 0, 1, 0, 1000, 1000, 1);
	contribute(s, 2, 1, 0, 1000, 1000, 1); /* merged: both that are there */
	assert_int_equal(s->n_merges, 1);
	assert_int_equal(ask(s, 1, false), 2);
	contribute(s, 0, 2, 0, 1000, 1000, 1);
	contribute(s, 0, 3, 0, 2000, 1000, 1);
	assert_int_equal(ask(s, 1, false), 2); /* what learner 0 waits for */
	assert_int_equal(fit(s), 5);
	at(s, RT_PEER_UP, 1, 2000);
	assert_int_equal(ask(s, 2, false), 2);
	assert_int_equal(fit(s), 1); /* 1 is up but has no state */
	ask(s, 1, true);
	assert_int_equal(ask(s, 2, false), 2);
	assert_int_equal(fit(s), 3);
	at(s, RT_PEER_DOWN, 0, 3000); /* nobody waits any more */
	assert_int_equal(ask(s, 1, false), 2);
	strike(s);
}

/* P = 2: exchange 2 is round 1 of fragment 0; 3 is round 1 of fragment 1, merged before it. */
static void nobody_stalls_in_vain(void **state)
{
	struct stage *s = set_stage(2);
	struct rt_event event = {.kind = RT_MESSAGE, .peer = 0};

	syncer_free(s->syncer);
	s->job.period = s->job.fragments = 2;
	s->syncer = syncer_new(&s->rt);
	contribute(s, 0, 1, 0, 0, 1000, 1);
	event.message = (struct rt_message){
		.kind = MESSAGE_CONTRIBUTION, .fragment = 1, .round = 1, .tokens = 1, .steps = 1};
	syncer_event(s->syncer, &event);
	event.peer = 1;
	syncer_event(s->syncer, &event);
	at(s, RT_PEER_DOWN, 2, 0);
	assert_int_equal(s->n_merges, 1);
	assert_int_equal(ask(s, 2, false), 2);
	s->job.when_late = WHEN_LATE_SKIP; /* then learner 0 does not stall for it */
	assert_int_equal(ask(s, 2, false), 4);
	strike(s);
}

/* A shard's own learner sends over no link: its transfer says nothing about the link's. */
static void only_links_count_as_sync_time(void **state)
{
	struct stage *s = set_stage(2);

	syncer_free(s->syncer);
	s->job.syncer = SYNCER_SHARDED;
	s->syncer = syncer_new(&s->rt); /* shard 0, on learner 0's site */
	contribute(s, 1, 1, 0, 1000, 1000, 1);
	contribute(s, 0, 1, 1000, 1000, 1000, 1);
	assert_int_equal(s->timer_ns, 3000 * MS); /* (8 - 1 - 1)/2 */
	strike(s);
}

static void shards_hold_shares(void **state)
{
	struct job job = job_make(3, SYNCER_SHARDED);
	int64_t sum = 0;

	assert_int_equal(syncer_count(&job), 3);
	for (int k = 0; k < 3; k++)
		sum += syncer_share(&job, 100, k);
	assert_int_equal(sum, 100);
	job.syncer = SYNCER_STAR;
	assert_int_equal(syncer_count(&job), 1);
	assert_int_equal(syncer_share(&job, 100, 0), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas),
		cmocka_unit_test(who_comes_within_the_window_is_merged),
		cmocka_unit_test(the_late_are_answered_at_once_and_carried_over),
		cmocka_unit_test(the_window_follows_moving_averages),
		cmocka_unit_test(a_fast_contributor_shortens_the_window),
		cmocka_unit_test(a_full_house_needs_no_window),
		cmocka_unit_test(a_crash_closes_the_window_and_needs_no_answer),
		cmocka_unit_test(a_restarted_learner_is_counted_once),
		cmocka_unit_test(rounds_with_too_few_are_merged_with_the_next),
		cmocka_unit_test(positions_and_donors),
		cmocka_unit_test(nobody_stalls_in_vain),
		cmocka_unit_test(only_links_count_as_sync_time),
		cmocka_unit_test(shards_hold_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
