/*
 * How long connecting may take, against the arithmetic of patience.h done by hand. With p lost on
 * each link, a round trip between two sites fails with 1 - (1-p)^4.
 */
#include "bench/live/patience.h"

#include <string.h>

#include "base/clock.h"
#include "tests/test.h"

#define S NS_PER_S
#define MS NS_PER_MS

static struct link_profile wan;
static struct scenario s;

static void begin(double loss)
{
	wan = (struct link_profile){0};
	for (int d = 0; d < DIRECTIONS; d++)
		wan.direction[d].base = (struct link_state){.rate_bps = 1000000000,
			.delay_ns = 10 * MS,
			.loss = loss,
			.burst_length = 1};
	memset(&s, 0, sizeof s);
	s.links = &wan;
	s.n_links = 1;
	s.n_sites = s.job.n_learners = 2;
	s.dilation = 1;
	s.limit_ns = 600 * S;
	s.transport.connections = 4;
}

/* 6 round trips of 40 ms, 3 s, and 5 connections of 400 bytes at 1 Gbit/s: 16 us. */
static void without_loss(void **state)
{
	struct patience p;

	begin(0);
	p = patience_for(&s);
	assert_int_equal(p.attempt_ns, 3 * S + 240 * MS + 16000);
	assert_int_equal(p.connect_ns, 5 * p.attempt_ns);
	s.limit_ns = S; /* the run's limit does not make it less */
	assert_int_equal(patience_for(&s).connect_ns, 5 * p.attempt_ns);
	s.dilation = 10;
	assert_int_equal(patience_for(&s).attempt_ns, 3 * S + 2400 * MS + 160000);
	s.dilation = 1;
	s.core_delay_ns[0][1] = 100 * MS;
	assert_int_equal(patience_for(&s).attempt_ns, 3 * S + 840 * MS + 16000);
}

/*
 * All five within n tries with 90 %: q^n <= 1 - .9^(1/5) = .0209. 1 %: q = .0394, n = 2 (.0016).
 * 5 %: q = .185, n = 3 (.0064). 10 %: q = .344, n = 4 (.0140). 15 %: q = .478, n = 6 (.0119).
 * 30 %: q = .760, n = 15, of which 6 are waited for.
 */
static void with_loss(void **state)
{
	static const struct {
		double loss;
		int tries_s;
	} cases[] = {{.01, 3}, {.05, 7}, {.10, 15}, {.15, 63}, {.30, 63}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct patience p;

		begin(cases[i].loss);
		p = patience_for(&s);
		assert_int_equal(p.attempt_ns, cases[i].tries_s * S + 240 * MS + 16000);
		assert_true(p.connect_ns >= 3 * p.attempt_ns);
		s.limit_ns = 40 * S;
		if (cases[i].tries_s == 63)
			assert_int_equal(patience_for(&s).connect_ns, 40 * S);
		s.dilation = 3; /* a slowed run's limit is as much later */
		if (cases[i].tries_s == 63)
			assert_int_equal(patience_for(&s).connect_ns, 120 * S);
	}
}

/* 1 kbit/s: 63 sites, 2 by 2 participants, 5 connections of 3200 bits each. */
static void a_slow_link(void **state)
{
	begin(0);
	s.n_sites = s.job.n_learners = 64;
	s.job.syncer = SYNCER_SHARDED;
	wan.direction[UP].base.rate_bps = 1000;
	assert_int_equal(patience_for(&s).attempt_ns,
		3 * S + 240 * MS + INT64_C(63) * 4 * 5 * 3200 * NS_PER_MS);
}

/* The loss from one site to the other is that of two links, of either kind. */
static void loss_of_a_pair(void **state)
{
	begin(.1);
	assert_near(patience_loss(&s, 0, 1), .19, 1e-12);
	wan.direction[DOWN].base.loss = 0;
	wan.direction[DOWN].base.burst_loss = .5;
	wan.direction[DOWN].base.burst_length = 3;
	assert_near(patience_loss(&s, 0, 1), 1 - .9 * .5, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_loss),
		cmocka_unit_test(with_loss),
		cmocka_unit_test(a_slow_link),
		cmocka_unit_test(loss_of_a_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
