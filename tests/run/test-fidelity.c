/*
 * What instruments found decides whether a run counts: links that are off, instruments that disagree, a
 * machine that set the pace.
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
	if (!strstr(f->c->because, because))
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

	is(on_machine(&h, .02, .16), false, "this machine, not the link, set the pace; try --dilation 2");
	is(on_machine(&h, .02, .14), true, ""); /* busy, but nobody waited */
	is(on_machine(&h, .005, .16), true, "");
	is(on_machine(&h, NAN, NAN), true, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_that_is_off),
		cmocka_unit_test(instruments_that_disagree),
		cmocka_unit_test(a_machine_without_headroom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
