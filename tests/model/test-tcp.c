/*
 * Transfers against what was measured through kernel netem, one connection from cold, deep
 * queue: reno, cubic, bbr in seconds, until the last acknowledgement. Ours end half a round trip
 * earlier, with the last byte.
 */
#include <math.h>

#include "bench/model/tcp.h"
#include "tests/model/burst.h"
#include "tests/test.h"

struct measured {
	int rtt_ms, mbps;
	int64_t bytes;
	double reno, cubic, bbr;
};

static const struct measured table[] = {
	{100, 840, 1000000, 0.706, 0.719, 0.823},
	{100, 840, 10000000, 1.053, 1.040, 1.150},
	{100, 840, 100000000, 2.019, 1.971, 2.035},
	{100, 840, 300000000, 4.013, 3.946, 3.977},
	{600, 100, 1000000, 4.219, 4.234, 4.499},
	{600, 100, 10000000, 6.225, 6.315, 6.483},
	{600, 100, 100000000, 13.755, 13.781, 14.017},
};

static double transfer(const struct measured *m, const char *congestion, const char *more)
{
	_free_ char *text =
		memory_format("narrowlink: 1\n"
			      "links: {wan: {rate: %d Mbit/s, delay: %d us, queue: 10 s%s}}\n"
			      "sites: {count: 2, link: wan}\n"
			      "workload: {strategy: diloco, parameters: %lld, step: 1 s}\n"
			      "transport: {connections: 1, congestion: %s, buffers: 1 GB}\n"
			      "run: {limit: 1 h}\n",
			m->mbps, m->rtt_ms * 250, more, (long long)m->bytes, congestion);
	struct burst b = burst_load(text);
	double s = burst_run(&b, NULL);

	burst_free(&b);
	return s + m->rtt_ms / 2e3;
}

static void loss_free_transfers_take_what_was_measured(void **state)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const struct measured *m = &table[i];
		double reno = transfer(m, "reno", ""), cubic = transfer(m, "cubic", "");
		double bbr = transfer(m, "bbr", "");

		print_message(
			"# %d ms, %d Mbit/s, %.0e B: reno %.3f (%.3f), cubic %.3f (%.3f), bbr "
			"%.3f (%.3f)\n",
			m->rtt_ms, m->mbps, (double)m->bytes, reno, m->reno, cubic, m->cubic, bbr,
			m->bbr);
		assert_near(reno, m->reno, .04 * m->reno);
		assert_near(cubic, m->cubic, .04 * m->cubic);
		assert_near(bbr, m->bbr, .04 * m->bbr);
	}
}

/* bbr leaves losses below 15 to 20 % alone (Cardwell et al., 2016); cubic halves and halves. */
static void losses_slow_cubic_and_not_bbr(void **state)
{
	const struct measured *m = &table[2];
	double bbr = transfer(m, "bbr", ", loss: 1 %"), cubic = transfer(m, "cubic", ", loss: 1 %");

	print_message("# 1 %% lost: bbr %.3f s, cubic %.3f s\n", bbr, cubic);
	assert_true(bbr < 1.25 * m->bbr);
	assert_true(cubic > 5 * m->cubic);
}

/*
 * Cubic after a loss at 100 segments (RFC 9438): W(t) = 100 - 0.4 (K - t)^3, K = cbrt(0.3 * 100 /
 * 0.4) = 4.22 s, so 97 segments after 2.26 s; of TCP's clock, which at dilation 2 are 1.13 s of the
 * scenario.
 */
static void cubic_is_back_sooner_in_a_dilated_run(void **state)
{
	for (int k = 1; k <= 2; k++) {
		struct tcp_round r = {.rtt_ns = 100 * NS_PER_MS,
			.base_rtt_ns = 100 * NS_PER_MS,
			.train_ns = -1,
			.rounds = 1,
			.limit = 1e6};
		struct tcp_conn c;

		tcp_open(&c);
		c.cwnd = 100;
		tcp_lose(&c, TCP_CUBIC, 0, 0);
		assert_near(c.cwnd, 70, .1);
		while (c.cwnd < 97) {
			struct tcp_round own;

			r.now_ns += r.rtt_ns;
			r.acked = c.cwnd;
			own = tcp_dilate(r, k);
			tcp_grow(&c, TCP_CUBIC, &own);
		}
		assert_near((double)r.now_ns / NS_PER_S, 2.26 / k, .15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loss_free_transfers_take_what_was_measured),
		cmocka_unit_test(losses_slow_cubic_and_not_bbr),
		cmocka_unit_test(cubic_is_back_sooner_in_a_dilated_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
