/*
 * What instruments found decides whether a run counts: links that are off, instruments that
 * disagree, a machine that set the pace.
 */
#include <math.h>
#include <string.h>

#include "tests/run/played.h"

static struct fixture *played(void)
{
	struct fixture *f = make();

	play(f);
	return f;
}

static void is(struct fixture *f, bool valid, const char *because)
{
	judge(f, false);
	assert_int_equal(f->c->valid, valid);
	if (*because && !strstr(f->c->because, because))
		fail_msg("\"%s\" lacks \"%s\"", f->c->because, because);
	release(f);
}

static struct record_check *check(struct fixture *f, const char *what, const char *result)
{
	struct record_check *k = record_add_check(f->c, "site-1", "site-2", what);

	record_check_result(k, result, "");
	return k;
}

/* What could not be measured says nothing against the link. */
static void a_link_that_is_off(void **state)
{
	struct fixture *f = played();
	struct record_check *k;

	check(f, "rate_udp", "unmeasured");
	check(f, "loss", "holds");
	is(f, true, "");
	f = played();
	k = check(f, "rate_udp", "off");
	k->want = 100e6;
	k->got = 97e6;
	is(f, false, "rate_udp from site-1 to site-2 is 9.7e+07");
}

static struct fixture *captured(double bytes, double drops)
{
	struct fixture *f = played();
	struct record_capture *k = record_add_capture(f->c, "site-1", "up");

	k->relay_bytes = 1e9;
	k->bytes = bytes;
	k->kernel_drops = drops;
	return f;
}

/* 0.1 %; a capture that knows that it missed packets says nothing of the link. */
static void instruments_that_disagree(void **state)
{
	is(captured(1.0009e9, 0), true, "");
	is(captured(1.0011e9, 0), false, "site-1 up: the capture counted 1001100000 bytes");
	is(captured(.9989e9, 0), false, "site-1 up");
	is(captured(.9e9, 17), true, "");
}

static struct fixture *on_machine(struct headroom_result *h, double saturated, double waited)
{
	struct fixture *f = played();

	*h = (struct headroom_result){.relay = NAN,
		.agents = NAN,
		.softirq = NAN,
		.saturated = saturated,
		.waited = waited};
	f->in.headroom = h;
	return f;
}

static void a_machine_without_headroom(void **state)
{
	struct headroom_result h;

	is(on_machine(&h, .02, .16), false,
		"this machine, not the link, set the pace; try --dilation 2");
	is(on_machine(&h, .02, .14), true, ""); /* busy, but nobody waited */
	is(on_machine(&h, .005, .16), true, "");
	is(on_machine(&h, NAN, NAN), true, "");
}

/* Of 10 s with something to send from learner 2 to learner 1. */
static struct fixture *held_up(bool buffers_auto, int64_t window_ns, int64_t buffer_ns)
{
	struct fixture *f = played();

	f->s.transport.buffers_auto = buffers_auto;
	f->s.transport.buffer_bytes = 4000000;
	f->o.held_up[0][1] = (struct held_up){10 * NS_PER_S, 0, NS_PER_S};
	f->o.held_up[1][0] = (struct held_up){10 * NS_PER_S, window_ns, buffer_ns};
	return f;
}

/* A fifth; the receiver is to blame for its window, the sender for its buffer. */
static void agents_that_set_the_pace(void **state)
{
	struct fixture *f;

	is(held_up(true, 19 * NS_PER_S / 10, 0), true, "");
	is(held_up(true, 21 * NS_PER_S / 10, NS_PER_S), false,
		"the agent of site-1, not the link, limited what site-2 sent it: for 21 % of the "
		"time its window was full, since it read too slowly; try --dilation 2");
	is(held_up(true, NS_PER_S, 3 * NS_PER_S), false,
		"the agent of site-2, not the link, limited what it sent to site-1: for 30 %");
	f = held_up(false, 5 * NS_PER_S, 0);
	judge(f, false);
	assert_true(f->c->valid);
	assert_true(f->c->window_limited == .5 && f->c->buffer_limited == 0);
	assert_non_null(strstr(f->c->notes[0], "transport.buffers, 4 MB, and not the link limited "
					       "TCP for 50 % of the time"));
	release(f);
	f = held_up(true, 0, 0); /* too little was sent to say anything */
	f->o.held_up[0][1] = f->o.held_up[1][0] = (struct held_up){NS_PER_S / 2, NS_PER_S / 2, 0};
	is(f, true, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_that_is_off),
		cmocka_unit_test(instruments_that_disagree),
		cmocka_unit_test(a_machine_without_headroom),
		cmocka_unit_test(agents_that_set_the_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
