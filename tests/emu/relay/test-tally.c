/*
 * The tally: counts that are true to their time to the segment, whoever reads them and when.
 */
#include "tests/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "tests/emu/relay/rig.h"
#include "tests/emu/relay/sim.h"

#define POOL (UINT64_C(512) << 20)
#define MS NS_PER_MS
#define SEGMENT_NS 121120 /* 1514 bytes at 100 Mbit/s */

static int64_t fake_now_ns;

static int64_t fake_now(void)
{
	return fake_now_ns;
}

static void put(struct tally *t, int64_t at_ns, int64_t until_ns, uint64_t bytes)
{
	struct tally_page *page = tally_begin(t);

	page->at_ns = at_ns;
	page->until_ns = until_ns;
	page->counts[1][DOWN] = (struct tally_count){bytes, bytes / 2};
	tally_end(t);
}

static void read_is(const struct tally *t, int64_t now_ns, int64_t at_ns, uint64_t bytes)
{
	struct tally_count count;

	fake_now_ns = now_ns;
	assert_int_equal(tally_read(t, 1, DOWN, fake_now, &count), at_ns);
	assert_int_equal(count.sent_bytes, bytes);
	assert_int_equal(count.delivered_bytes, bytes / 2);
}

/* Awake: the page's time, however late it is read. Asleep: now, until something is due. */
static void times(void **state)
{
	struct tally *t = memory_zero(1, sizeof *t);

	read_is(t, 70, 70, 0);
	put(t, 100, 500, 10);
	read_is(t, 100, 100, 10);
	read_is(t, 400, 100, 10);
	tally_asleep(t, true);
	read_is(t, 400, 400, 10);
	read_is(t, 500, 500, 10);
	read_is(t, 900, 500, 10);
	read_is(t, 90, 100, 10); /* never before the page */
	tally_asleep(t, false);
	read_is(t, 900, 100, 10);
	put(t, 950, TIME_NEVER, 30);
	read_is(t, 960, 950, 30);
	free(t);
}

/* The version's wrap does not look like a tally that was never written. */
static void wrap(void **state)
{
	struct tally *t = memory_zero(1, sizeof *t);

	atomic_store(&t->version, UINT32_MAX - 1);
	for (int i = 1; i < 5; i++) {
		put(t, i, i, (uint64_t)(2 * i));
		read_is(t, 1000, i, (uint64_t)(2 * i));
	}
	free(t);
}

struct race {
	struct tally *tally;
	_Atomic bool ended;
};

static void *write_on(void *arg)
{
	struct race *r = arg;

	for (int64_t i = 1; !atomic_load(&r->ended); i++) {
		tally_asleep(r->tally, false);
		put(r->tally, i, i, (uint64_t)(2 * i));
		tally_asleep(r->tally, true);
	}
	return NULL;
}

/* What is read together was written together: bytes are twice the time. */
static void pages_are_whole(void **state)
{
	struct race r = {.tally = memory_zero(1, sizeof *r.tally)};
	pthread_t writer;

	fake_now_ns = TIME_NEVER;
	assert_int_equal(pthread_create(&writer, NULL, write_on, &r), 0);
	for (int i = 0; i < 20000; i++) {
		struct tally_count count;
		int64_t at_ns = tally_read(r.tally, 1, DOWN, fake_now, &count);

		if (count.sent_bytes)
			assert_int_equal(count.sent_bytes, 2 * at_ns);
	}
	atomic_store(&r.ended, true);
	pthread_join(writer, NULL);
	free(r.tally);
}

static void begin(struct sim *sim)
{
	struct rig_link link = {.rate_bps = 100000000, .delay_ns = 10 * MS};

	sim_new(sim, 2);
	rig_plan(sim->plan, 2, &link);
	sim_begin(sim, POOL);
}

static struct tally_page *tally_at(struct sim *sim, int64_t at_ns)
{
	static struct tally_page page;

	sim_run(sim, at_ns);
	engine_run(sim->engine, at_ns, 0);
	engine_tally(sim->engine, at_ns, &page);
	assert_int_equal(page.at_ns, at_ns);
	return &page;
}

/* Seven segments leave one by one, although they go on in runs of two. */
static void to_the_segment(void **state)
{
	struct sim sim;
	int64_t t0;

	begin(&sim);
	t0 = sim.now_ns;
	assert_true(tally_at(&sim, t0)->until_ns == TIME_NEVER);
	sim_send_tcp(&sim, 0, 1, 7, 1);
	for (int k = 0; k < 7; k++) {
		int64_t end_ns = t0 + (k + 1) * SEGMENT_NS;

		assert_int_equal(tally_at(&sim, end_ns - 10)->counts[0][UP].sent_bytes, k * 1514);
		assert_true(tally_at(&sim, end_ns - 9)->until_ns <= end_ns);
		assert_int_equal(tally_at(&sim, end_ns)->counts[0][UP].sent_bytes, (k + 1) * 1514);
	}
	assert_int_equal(tally_at(&sim, t0 + 9 * MS)->counts[1][DOWN].sent_bytes, 0);
	assert_int_equal(tally_at(&sim, t0 + 60 * MS)->counts[1][DOWN].sent_bytes, 7 * 1514);
	assert_int_equal(tally_at(&sim, t0 + 61 * MS)->counts[1][DOWN].delivered_bytes, 7 * 1514);
	sim_end(&sim);
}

/* A full queue, looked at at uneven times: never more than the rate, and never a segment less. */
static void never_above_the_rate(void **state)
{
	struct sim sim;
	int64_t t0, last_ns;
	uint64_t last;

	begin(&sim);
	t0 = last_ns = sim.now_ns;
	last = 0;
	for (int i = 0; i < 5; i++)
		sim_send_tcp(&sim, 0, 1, 40, 1);
	for (int64_t at_ns = t0 + 777; at_ns < t0 + 20 * MS; at_ns += 100003 + at_ns % 50021) {
		uint64_t sent = tally_at(&sim, at_ns)->counts[0][UP].sent_bytes;
		double most = (double)(at_ns - last_ns) * 100e6 / 8e9;

		assert_near((double)(sent - last), most, 1514);
		last = sent;
		last_ns = at_ns;
		assert_near((double)sent, (double)(at_ns - t0) * 100e6 / 8e9 - 757, 758);
	}
	sim_end(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(wrap),
		cmocka_unit_test(pages_are_whole),
		cmocka_unit_test(to_the_segment),
		cmocka_unit_test(never_above_the_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
