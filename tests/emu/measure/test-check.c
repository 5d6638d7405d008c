/* Checks: what holds, what is off, and what cannot be known, from made-up measurements. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "emu/measure/check.h"
#include "tests/test.h"

static struct link_plan plan;
static struct path there, back;

/* 100 Mbit/s, 10 ms and a queue of 50 ms up; nothing but four times the rate down. */
static struct check_context make(double dilation)
{
	memset(&plan, 0, sizeof plan);
	plan.dilation = dilation;
	for (int i = 0; i < 2; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			plan.links[i][d] = (struct link_direction){
				.base = {.rate_bps = (int64_t)(1e8 / dilation),
					.queue_bytes = 625000},
				.overhead_bytes = 14,
			};
	plan.links[0][UP].base.delay_ns = (int64_t)(10e6 * dilation);
	plan.links[1][DOWN].base.rate_bps *= 4;
	plan.core_delay_ns[0][1] = (int64_t)(2e6 * dilation);
	path_make(&there, &plan, 0, 1);
	path_make(&back, &plan, 1, 0);
	return (struct check_context){.path = &there, .back = &back, .dilation = dilation};
}

static void a_way_is_both_links(void **state)
{
	make(1);
	assert_int_equal(there.delay_ns, 12 * NS_PER_MS);
	assert_int_equal(there.rate_bps, 100000000);
	assert_int_equal(there.probe_ns, 12 * NS_PER_MS + 5920 + 1480); /* 74 B at both rates */
	assert_near(path_queue_s(&there), .05, 1e-12);
	plan.links[0][UP].base.loss = .01;
	plan.links[1][DOWN].base.loss = .02;
	path_make(&there, &plan, 0, 1);
	assert_near(there.loss, .01 + .02 - .0002, 1e-12);
	assert_near(there.loss_events, .03, 1e-12);
	assert_true(isnan(there.burst));
	plan.links[1][DOWN].base.loss = 0;
	plan.links[0][UP].base.loss = 0;
	plan.links[0][UP].base.burst_loss = .05;
	plan.links[0][UP].base.burst_length = 8;
	path_make(&there, &plan, 0, 1);
	assert_near(there.burst, 8, 0);
	assert_near(there.loss_events, .05 / 8, 1e-12);
	assert_near(there.correlation, 1 - 1 / (8 * .95), 1e-12); /* 1 - p - r */
}

/* Mathis et al.: 1448 B, 50 ms, 1 %: 1.22 / 0.1 segments a round trip. */
static void mathis(void **state)
{
	make(1);
	there.loss_events = .01;
	assert_near(path_mathis_bps(&there, .05), 1448 * 8 / .05 * 12.247, 300);
}

static struct probe_summary probes(double p50_s)
{
	return (struct probe_summary){
		.sent = 10000, .min_s = p50_s, .p50_s = p50_s, .p99_s = p50_s, .max_s = p50_s};
}

static void delays(void **state)
{
	struct check_context x = make(1);
	struct probe_summary s = probes(.01245);
	struct check c;

	check_delay(&c, &x, &s);
	assert_int_equal(c.result, CHECK_HOLDS); /* 0.44 ms above */
	assert_near(c.want, .0120074, 1e-7);
	s = probes(.01255);
	check_delay(&c, &x, &s);
	assert_int_equal(c.result, CHECK_OFF);
	s.late_p50_s = 40e-6; /* 0.5426 ms above; 0.5 and what timers take are 0.54 */
	check_delay(&c, &x, &s);
	assert_int_equal(c.result, CHECK_OFF);
	s.late_p50_s = 50e-6;
	check_delay(&c, &x, &s);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	assert_non_null(strstr(c.why, "timers are late"));
	s.p50_s = .011; /* too short is nobody else's doing */
	check_delay(&c, &x, &s);
	assert_int_equal(c.result, CHECK_OFF);
	s.p50_s = NAN;
	check_delay(&c, &x, &s);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	x = make(10); /* ten times slower: the same 0.55 ms are a tenth of that */
	s = probes(.12055);
	check_delay(&c, &x, &s);
	assert_int_equal(c.result, CHECK_HOLDS);
	assert_near(c.got, .012055, 1e-9);
}

static void losses(void **state)
{
	struct check_context x = make(1);
	struct probe_summary s = probes(.012);
	struct check c;

	check_loss(&c, &x, &s, 0);
	assert_int_equal(c.result, CHECK_HOLDS);
	assert_near(c.high, 6.6315e-4, 1e-7); /* Wilson, 0 of 10000: z2 / (n + z2) */
	s.lost = 10;
	check_loss(&c, &x, &s, 0);
	assert_int_equal(c.result, CHECK_OFF); /* 0.1 % where nothing is to be lost */
	check_loss(&c, &x, &s, 10);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	assert_non_null(strstr(c.why, "the measuring process dropped 10"));
	there.loss = .01;
	s.lost = 138;
	check_loss(&c, &x, &s, 0);
	assert_int_equal(c.result, CHECK_HOLDS); /* 3.82 sigma */
	s.lost = 139;
	check_loss(&c, &x, &s, 0);
	assert_int_equal(c.result, CHECK_OFF); /* 3.92 */
	there.correlation = .5;		       /* a third as many that are independent */
	check_loss(&c, &x, &s, 0);
	assert_int_equal(c.result, CHECK_HOLDS);
}

static void bursts(void **state)
{
	struct check_context x = make(1);
	struct probe_summary s = probes(.012);
	struct check c;

	there.burst = 8;
	s.lost = 880;
	s.bursts = 100;
	check_burst(&c, &x, &s);
	assert_int_equal(c.result, CHECK_HOLDS);
	s.lost = 1100; /* 11: the limit is 8 + 3.891 sqrt(56 / 100) = 10.91 */
	check_burst(&c, &x, &s);
	assert_int_equal(c.result, CHECK_OFF);
	s.bursts = 9;
	check_burst(&c, &x, &s);
	assert_int_equal(c.result, CHECK_UNKNOWN);
}

static void datagrams_at_more_than_the_rate(void **state)
{
	struct check_context x = make(1);
	const struct flow_spec spec = {.rate_bps = 120000000};
	struct flow_result r = {.received_bps = .995e8 * 1472 / 1514, .sent_bps = 1.2e8};
	struct flow_watch w = {.idle_s = .012, .filled = {.min_s = .055}, .busy = .99};
	struct check c;

	check_rate_udp(&c, &x, &spec, &r, &w);
	assert_int_equal(c.result, CHECK_HOLDS);
	assert_near(c.got, .995e8, 1);
	r.received_bps = .97e8 * 1472 / 1514;
	check_rate_udp(&c, &x, &spec, &r, &w);
	assert_int_equal(c.result, CHECK_OFF); /* a busy machine, and yet the link's doing */
	w.filled.min_s = .0122;
	check_rate_udp(&c, &x, &spec, &r, &w);
	assert_int_equal(c.result, CHECK_UNKNOWN); /* a pause */
	w.filled.min_s = .055;
	r.seconds = 1;
	w.filled.late_max_s = .019; /* 1 % and 1.9 are less than 3 */
	check_rate_udp(&c, &x, &spec, &r, &w);
	assert_int_equal(c.result, CHECK_OFF);
	w.filled.late_max_s = .021;
	check_rate_udp(&c, &x, &spec, &r, &w);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	assert_non_null(strstr(c.why, "stood still for up to 21 of 1000 ms"));
	r.sent_bps = 1e8 * 1472 / 1514;
	check_rate_udp(&c, &x, &spec, &r, &w);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	r.sent_bps = 1.2e8;
	w.receiver_drops = 1;
	check_rate_udp(&c, &x, &spec, &r, &w);
	assert_int_equal(c.result, CHECK_UNKNOWN);
}

static void tcp_is_judged_where_a_queue_stood(void **state)
{
	struct check_context x = make(1);
	struct flow_result r = {.received_bps = .97e8 * 1448 / 1514};
	struct flow_watch w = {.idle_s = .012, .filled = {.min_s = .012}, .busy = 1};
	struct check c;

	check_rate_tcp(&c, &x, &r, &w);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	assert_non_null(strstr(c.why, "this machine"));
	w.busy = .5;
	check_rate_tcp(&c, &x, &r, &w);
	assert_non_null(strstr(c.why, "sender"));
	w.filled.min_s = .030;
	r.seconds = 1;
	check_rate_tcp(&c, &x, &r, &w);
	assert_int_equal(c.result, CHECK_OFF);
	w.filled.late_max_s = .050;
	check_rate_tcp(&c, &x, &r, &w);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	r.received_bps = 1.03e8 * 1448 / 1514; /* read late */
	check_rate_tcp(&c, &x, &r, &w);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	w.filled.late_max_s = 0;
	check_rate_tcp(&c, &x, &r, &w);
	assert_int_equal(c.result, CHECK_OFF);
	r.received_bps = .97e8 * 1448 / 1514;
	r.retransmits = 3;
	w.filled.late_max_s = .007;
	check_rate_tcp(&c, &x, &r, &w);
	assert_int_equal(c.result, CHECK_UNKNOWN);
	assert_non_null(strstr(c.why, "lost 3 segments"));
	assert_non_null(strstr(c.why, "for up to 7 ms"));
	assert_non_null(strstr(c.why, "queue of 50 ms"));
	r.received_bps = .999e8 * 1448 / 1514;
	check_rate_tcp(&c, &x, &r, &w);
	assert_int_equal(c.result, CHECK_HOLDS);
}

static void queues(void **state)
{
	struct check_context x = make(2);
	struct check c;

	check_queue(&c, &x, .097); /* 100 ms in real time */
	assert_int_equal(c.result, CHECK_HOLDS);
	assert_near(c.want, .05, 1e-12);
	check_queue(&c, &x, .094);
	assert_int_equal(c.result, CHECK_OFF);
	check_queue(&c, &x, NAN);
	assert_int_equal(c.result, CHECK_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_way_is_both_links),
		cmocka_unit_test(mathis),
		cmocka_unit_test(delays),
		cmocka_unit_test(losses),
		cmocka_unit_test(bursts),
		cmocka_unit_test(datagrams_at_more_than_the_rate),
		cmocka_unit_test(tcp_is_judged_where_a_queue_stood),
		cmocka_unit_test(queues),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
