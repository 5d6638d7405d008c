/*
 * The writer: every packet put comes back once, in order, with what the write returned, however
 * the two threads sleep and wake.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/relay/pool.h"
#include "emu/relay/writer.h"
#include "tests/test.h"

#define PACKETS 20000

struct context {
	int64_t written; /* by the writer's thread; read when it has ended or all came back */
	int slow_every;
};

/* The packet's `bytes` is its number: every fifth is refused, some take long. */
static int64_t write_one(void *user, const struct packet *p)
{
	struct context *c = user;

	if (c->slow_every && p->bytes % (unsigned)c->slow_every == 0)
		usleep(50);
	c->written++;
	return p->bytes % 5 == 0 ? -1 : (int64_t)p->bytes;
}

static struct packet packets[PACKETS];

static int take_all(struct writer *w, int next)
{
	struct packet *p;
	int64_t at_ns;

	while ((p = writer_take(w, &at_ns))) {
		assert_ptr_equal(p, &packets[next]);
		assert_int_equal(at_ns, next % 5 == 0 ? -1 : next);
		next++;
	}
	return next;
}

/*
 * Sleeps until the writer says that all is written, as the loop does. It may say so once more
 * later, when the loop had not slept after all.
 */
static int sleep_once(struct writer *w, int next)
{
	struct pollfd p = {.fd = writer_fd(w), .events = POLLIN};

	if (writer_sleep(w) && writer_held(w) > 0)
		assert_int_equal(poll(&p, 1, 10000), 1);
	writer_awake(w);
	return take_all(w, next);
}

static void run(int slow_every, int burst)
{
	struct context c = {.slow_every = slow_every};
	struct writer *w;
	struct error err = {0};
	int put = 0, next = 0;

	assert_int_equal(writer_new(&w, write_one, &c, &err), 0);
	while (next < PACKETS) {
		for (int k = 0; k < burst && put < PACKETS && writer_held(w) < WRITER_ROOM; k++) {
			packets[put].bytes = (uint32_t)put;
			writer_put(w, &packets[put++]);
		}
		writer_wake(w);
		next = take_all(w, next);
		if (put == PACKETS || put % 7 == 0)
			next = sleep_once(w, next);
	}
	assert_int_equal(writer_held(w), 0);
	assert_int_equal(c.written, PACKETS);
	assert_null(writer_free(w));
}

static void in_order_and_once(void **state)
{
	run(0, 1);
	run(0, 32);
	run(0, 2 * WRITER_ROOM);
	run(50, 8);
	run(200, 2 * WRITER_ROOM);
}

static void ends_while_it_sleeps_and_while_it_works(void **state)
{
	struct context c = {.slow_every = 1};
	struct writer *w;
	struct error err = {0};

	for (int i = 0; i < 50; i++) {
		assert_int_equal(writer_new(&w, write_one, &c, &err), 0);
		if (i % 2) {
			for (int k = 0; k < 10; k++)
				writer_put(w, &packets[k]);
			writer_wake(w);
		}
		usleep(i % 3 * 100);
		assert_null(writer_free(w));
	}
	assert_null(writer_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_and_once),
		cmocka_unit_test(ends_while_it_sleeps_and_while_it_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
