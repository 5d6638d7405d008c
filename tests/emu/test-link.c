/* What a link is at an instant: values worked out by hand, then a naive
 * evaluator on random links. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "emu/link.h"
#include "tests/test.h"

#define MS NS_PER_MS
#define S NS_PER_S
#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct link_state at(
	const struct link_direction *d, enum direction which, int64_t t_ns, int64_t want_until)
{
	struct link_state s;
	int64_t until;

	link_at(d, which, t_ns, &s, &until);
	assert_int_equal(until, want_until);
	return s;
}

static struct link_direction plain(void)
{
	return (struct link_direction){
		.base = {.rate_bps = 1000000000,
			.queue_bytes = 1000000,
			.delay_ns = 15 * MS,
			.jitter_ns = 1 * MS,
			.loss = 0.001,
			.burst_length = 1},
		.overhead_bytes = LINK_OVERHEAD_ETHERNET,
	};
}

static void names(void **state)
{
	assert_string_equal(direction_name(UP), "up");
	assert_string_equal(direction_name(DOWN), "down");
}

static void a_constant_link(void **state)
{
	struct link_direction d = plain();

	for (int64_t t = -S; t <= S; t += S) {
		struct link_state s = at(&d, UP, t, TIME_NEVER);

		assert_int_equal(s.rate_bps, 1000000000);
		assert_int_equal(s.queue_bytes, 1000000);
		assert_int_equal(s.delay_ns, 15 * MS);
		assert_int_equal(s.jitter_ns, MS);
		assert_false(s.down);
	}
}

/* 50 ms at 1 Gbit/s are 6.25 MB; at 100 Mbit/s 625 kB; at 10 kbit/s less than a frame. */
static void queue_in_time_follows_rate(void **state)
{
	struct link_step steps[] = {
		{.at_ns = S, .set = LINK_RATE, .to.rate_bps = 100000000},
		{.at_ns = 2 * S, .set = LINK_RATE, .to.rate_bps = 10000},
		{.at_ns = 3 * S, .set = LINK_QUEUE, .to.queue_bytes = 4242},
		{.at_ns = 4 * S,
			.set = LINK_RATE | LINK_QUEUE,
			.to.rate_bps = 8000000,
			.queue_ns = 10 * MS},
	};
	struct link_direction d = plain();

	d.queue_ns = 50 * MS;
	d.steps = steps;
	d.n_steps = COUNT(steps);
	assert_int_equal(at(&d, UP, 0, S).queue_bytes, 6250000);
	assert_int_equal(at(&d, UP, S, 2 * S).queue_bytes, 625000);
	assert_int_equal(at(&d, UP, 2 * S, 3 * S).queue_bytes, 1514);
	assert_int_equal(at(&d, UP, 3 * S, 4 * S).queue_bytes, 4242);
	assert_int_equal(at(&d, UP, 4 * S, TIME_NEVER).queue_bytes, 10000);
}

static void steps_add_up(void **state)
{
	struct link_step steps[] = {
		{.at_ns = 0, .set = LINK_LOSS, .to.loss = 0.5},
		{.at_ns = S, .set = LINK_DELAY, .to.delay_ns = 500000},
		{.at_ns = 2 * S,
			.set = LINK_DELAY | LINK_JITTER,
			.to = {.delay_ns = 30 * MS, .jitter_ns = 7 * MS}},
		{.at_ns = 3 * S, .set = LINK_BURST, .to = {.burst_loss = 0.01, .burst_length = 8}},
	};
	struct link_direction d = plain();
	struct link_state s;

	d.steps = steps;
	d.n_steps = COUNT(steps);
	assert_near(at(&d, UP, -5, S).loss, 0.5, 0);
	s = at(&d, UP, S - 1, S);
	assert_int_equal(s.delay_ns, 15 * MS);
	s = at(&d, UP, S, 2 * S);
	assert_int_equal(s.delay_ns, 500000);
	assert_int_equal(s.jitter_ns, 500000); /* 1 ms told, but no more than the delay */
	s = at(&d, UP, 5 * S, TIME_NEVER);
	assert_int_equal(s.delay_ns, 30 * MS);
	assert_int_equal(s.jitter_ns, 7 * MS);
	assert_near(s.burst_loss, 0.01, 0);
	assert_near(s.burst_length, 8, 0);
	assert_near(s.loss, 0.5, 0);
	assert_int_equal(s.rate_bps, 1000000000);
}

/* 0.7 s down every 15 s, first at 12 s. */
static void outages_repeat(void **state)
{
	struct link_outage outage = {.first_ns = 12 * S, .every_ns = 15 * S, .for_ns = 700 * MS};
	struct link_direction d = plain();

	d.outages = &outage;
	d.n_outages = 1;
	assert_false(at(&d, DOWN, 0, 12 * S).down);
	assert_false(at(&d, DOWN, 12 * S - 1, 12 * S).down);
	assert_true(at(&d, DOWN, 12 * S, 12700 * MS).down);
	assert_true(at(&d, DOWN, 12700 * MS - 1, 12700 * MS).down);
	assert_false(at(&d, DOWN, 12700 * MS, 27 * S).down);
	assert_true(at(&d, DOWN, 27 * S, 27700 * MS).down);
	assert_true(at(&d, DOWN, 12 * S + 1000 * 15 * S, 15012700 * MS).down);
	outage.first_ns = 0; /* down from the start, but not before it */
	assert_false(at(&d, DOWN, -1, 0).down);
	assert_true(at(&d, DOWN, 0, 700 * MS).down);
}

static void blackouts_happen_once(void **state)
{
	struct link_window blackouts[] = {{S, 2 * S}, {2 * S, 3 * S}, {10 * S, 11 * S}};
	struct link_direction d = plain();

	d.blackouts = blackouts;
	d.n_blackouts = COUNT(blackouts);
	assert_false(at(&d, UP, 0, S).down);
	assert_true(at(&d, UP, S, 2 * S).down);
	assert_true(at(&d, UP, 2 * S, 3 * S).down);
	assert_false(at(&d, UP, 3 * S, 10 * S).down);
	assert_true(at(&d, UP, 11 * S - 1, 11 * S).down);
	assert_false(at(&d, UP, 11 * S, TIME_NEVER).down);
}

/* The delay at t_ns and, by the slope, what it comes to by the end of the state. */
static void assert_delay(const struct link_direction *d, enum direction which, int64_t t_ns,
	int64_t want, int64_t want_until, int64_t want_then)
{
	struct link_state s = at(d, which, t_ns, want_until);

	assert_int_equal(s.delay_ns, want);
	assert_true(llabs(link_delay_after(&s, want_until - t_ns) - want_then) <= 1);
}

/*
 * Delays 10 ms at 0 and 30 ms at 100 ms, lost in [40, 60) ms, every 200 ms; DOWN 30 ms later.
 * Between them it is in proportion: UP 18 ms at 40 ms, 20 ms at 150 ms.
 */
static struct link_trace_delay up_delays[] = {{0, 10 * MS}, {100 * MS, 30 * MS}};
static struct link_trace_delay down_delays[] = {{30 * MS, 10 * MS}, {210 * MS, 30 * MS}};
static struct link_window up_losses[] = {{40 * MS, 60 * MS}};
static struct link_window down_losses[] = {{190 * MS, 205 * MS}};
static const struct link_trace trace = {
	.period_ns = 200 * MS,
	.side = {[UP] = {2, up_delays, 1, up_losses}, [DOWN] = {2, down_delays, 1, down_losses}},
};

static void traces_play_again(void **state)
{
	struct link_direction d = plain();

	d.trace = &trace;
	assert_int_equal(at(&d, UP, -1, 0).delay_ns, 10 * MS);
	assert_true(at(&d, UP, -1, 0).delay_slope == 0);
	assert_delay(&d, UP, 0, 10 * MS, 40 * MS, 18 * MS);
	assert_true(at(&d, UP, 40 * MS, 60 * MS).down);
	assert_false(at(&d, UP, 60 * MS, 100 * MS).down);
	assert_delay(&d, UP, 60 * MS, 22 * MS, 100 * MS, 30 * MS);
	assert_delay(&d, UP, 100 * MS, 30 * MS, 200 * MS, 10 * MS);
	assert_delay(&d, UP, 150 * MS, 20 * MS, 200 * MS, 10 * MS);
	assert_delay(&d, UP, 200 * MS, 10 * MS, 240 * MS, 18 * MS);
	assert_true(at(&d, UP, 2059 * MS, 2060 * MS).down);

	assert_delay(&d, DOWN, 0, 10 * MS, 30 * MS, 10 * MS); /* nothing heard before */
	assert_true(at(&d, DOWN, 199 * MS, 200 * MS).down);
	assert_true(at(&d, DOWN, 200 * MS, 205 * MS).down); /* the first lap's tail */
	assert_delay(&d, DOWN, 120 * MS, 20 * MS, 190 * MS, 10 * MS + 20 * MS * 160 / 180);
	assert_false(at(&d, DOWN, 205 * MS, 210 * MS).down);
	assert_delay(&d, DOWN, 210 * MS, 30 * MS, 230 * MS, 10 * MS); /* to the next lap's first */
	assert_delay(&d, DOWN, 230 * MS, 10 * MS, 390 * MS, 10 * MS + 20 * MS * 160 / 180);
}

/* --- random links against a naive evaluator ------------------------------------------------- */

#define STEPS 12
#define WINDOWS 9
#define DELAYS 17

struct random_link {
	struct link_direction d;
	struct link_step steps[STEPS];
	struct link_outage outages[3];
	struct link_window blackouts[WINDOWS], losses[WINDOWS];
	struct link_trace_delay delays[DELAYS];
	struct link_trace trace;
};

static int64_t draw(uint64_t seed, uint64_t *counter, int64_t below)
{
	return (int64_t)(random_u64(seed, 0, RANDOM_LOSS, (*counter)++) % (uint64_t)below);
}

static void random_windows(struct link_window *w, size_t n, uint64_t seed, uint64_t *c)
{
	int64_t t = 0;

	for (size_t i = 0; i < n; i++) {
		w[i].from_ns = t += draw(seed, c, 50);
		w[i].until_ns = t += draw(seed, c, 20);
	}
}

static void random_link(struct random_link *l, uint64_t seed)
{
	uint64_t c = 0;
	int64_t t = 0;

	memset(l, 0, sizeof *l);
	l->d = plain();
	l->d.queue_ns = draw(seed, &c, 2) * 40 * MS;
	for (int i = 0; i < STEPS; i++) {
		struct link_step *s = &l->steps[i];

		s->at_ns = t += draw(seed, &c, 60);
		s->set = (unsigned)draw(seed, &c, 64);
		s->to = (struct link_state){(1 + draw(seed, &c, 1000)) * 4000000,
			2000 + draw(seed, &c, 1000000), draw(seed, &c, 1000), draw(seed, &c, 1000),
			0.25 * (double)draw(seed, &c, 4), 0.25 * (double)draw(seed, &c, 4),
			1 + (double)draw(seed, &c, 9), false, 0};
		s->queue_ns = draw(seed, &c, 2) * 4 * MS;
	}
	for (int i = 0; i < 3; i++)
		l->outages[i] = (struct link_outage){
			draw(seed, &c, 100), 100 + draw(seed, &c, 200), draw(seed, &c, 60)};
	random_windows(l->blackouts, WINDOWS, seed, &c);
	random_windows(l->losses, WINDOWS, seed, &c);
	t = draw(seed, &c, 40);
	for (int i = 0; i < DELAYS; i++) {
		l->delays[i] = (struct link_trace_delay){t, draw(seed, &c, 500)};
		t += draw(seed, &c, 30);
	}
	l->trace.period_ns = 300 + draw(seed, &c, 300);
	for (int w = 0; w < DIRECTIONS; w++)
		l->trace.side[w] = (struct link_trace_side){DELAYS, l->delays, WINDOWS, l->losses};
	l->d.steps = l->steps;
	l->d.n_steps = STEPS;
	l->d.outages = l->outages;
	l->d.n_outages = (size_t)draw(seed, &c, 4);
	l->d.blackouts = l->blackouts;
	l->d.n_blackouts = WINDOWS;
	l->d.trace = draw(seed, &c, 2) ? &l->trace : NULL;
}

static bool naive_window(const struct link_window *w, size_t n, int64_t t)
{
	for (size_t i = 0; i < n; i++)
		if (t >= w[i].from_ns && t < w[i].until_ns)
			return true;
	return false;
}

/*
 * Laps are played one after another; a later lap's entry hides those of the lap before. From the
 * last entry the delay goes straight to the next one of its own lap or of a later one. *least is
 * the lesser of the two.
 */
static void naive_delay(
	const struct random_link *l, int64_t t, struct link_state *s, int64_t *least)
{
	int64_t period = l->trace.period_ns, lap = -1;
	struct link_trace_delay a = {0, l->delays[0].delay_ns}, b = {INT64_MAX, 0};

	for (int64_t start = 0; start <= t; start += period)
		for (int i = 0; i < DELAYS; i++)
			if (start + l->delays[i].at_ns <= t) {
				lap = start;
				a.at_ns = start + l->delays[i].at_ns;
				a.delay_ns = l->delays[i].delay_ns;
			}
	for (int64_t start = lap < 0 ? 0 : lap; start <= t + period; start += period)
		for (int i = 0; i < DELAYS; i++) {
			int64_t at_ns = start + l->delays[i].at_ns;

			if (at_ns > t && at_ns < b.at_ns)
				b = (struct link_trace_delay){at_ns, l->delays[i].delay_ns};
		}
	s->delay_slope = (double)(b.delay_ns - a.delay_ns) / (double)(b.at_ns - a.at_ns);
	s->delay_ns = a.delay_ns + (int64_t)(s->delay_slope * (double)(t - a.at_ns));
	*least = a.delay_ns < b.delay_ns ? a.delay_ns : b.delay_ns;
}

static void naive_trace(
	const struct random_link *l, int64_t t, struct link_state *s, int64_t *least)
{
	int64_t period = l->trace.period_ns;

	naive_delay(l, t, s, least);
	for (int64_t start = 0; start <= t; start += period)
		s->down |= naive_window(l->losses, WINDOWS, t - start);
}

static struct link_state naive(const struct random_link *l, int64_t t)
{
	struct link_state s = l->d.base;
	int64_t queue_ns = l->d.queue_ns, least;

	for (int i = 0; i < STEPS; i++) {
		const struct link_step *step = &l->steps[i];

		if (step->at_ns > t)
			continue;
		if (step->set & LINK_RATE)
			s.rate_bps = step->to.rate_bps;
		if (step->set & LINK_QUEUE)
			s.queue_bytes = step->to.queue_bytes, queue_ns = step->queue_ns;
		if (step->set & LINK_DELAY)
			s.delay_ns = step->to.delay_ns;
		if (step->set & LINK_JITTER)
			s.jitter_ns = step->to.jitter_ns;
		if (step->set & LINK_LOSS)
			s.loss = step->to.loss;
		if (step->set & LINK_BURST)
			s.burst_loss = step->to.burst_loss, s.burst_length = step->to.burst_length;
	}
	for (size_t i = 0; i < l->d.n_outages; i++)
		for (int64_t from = l->outages[i].first_ns; from <= t;
			from += l->outages[i].every_ns)
			s.down |= t < from + l->outages[i].for_ns;
	s.down |= naive_window(l->blackouts, WINDOWS, t);
	least = s.delay_ns;
	if (l->d.trace)
		naive_trace(l, t, &s, &least);
	if (queue_ns)
		s.queue_bytes = (int64_t)((double)queue_ns * (double)s.rate_bps / 8e9);
	if (queue_ns && s.queue_bytes < 1514)
		s.queue_bytes = 1514;
	if (s.jitter_ns > least)
		s.jitter_ns = least;
	return s;
}

/* The delay of a trace to a nanosecond: it is a fraction. */
static void assert_same(const struct link_state *a, const struct link_state *b, int64_t t)
{
	if (a->rate_bps != b->rate_bps || a->queue_bytes != b->queue_bytes ||
		llabs(a->delay_ns - b->delay_ns) > 1 || a->jitter_ns != b->jitter_ns ||
		a->loss != b->loss || a->burst_loss != b->burst_loss ||
		a->burst_length != b->burst_length || a->down != b->down)
		fail_msg(
			"states differ at %jd: delay %jd and %jd, rate %jd and %jd, down %d and %d",
			(intmax_t)t, (intmax_t)a->delay_ns, (intmax_t)b->delay_ns,
			(intmax_t)a->rate_bps, (intmax_t)b->rate_bps, a->down, b->down);
}

/* Every instant of the first 1500 ns agrees, and stays until the time promised. */
static void as_a_naive_evaluator(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct link_state now = {0}, kept, want;
		struct random_link l;
		int64_t until = -1, kept_at = 0;
		int asked = 0;

		random_link(&l, seed);
		for (int64_t t = 0; t < 1500; t++) {
			struct link_state fresh;
			int64_t next;

			want = naive(&l, t);
			link_at(&l.d, UP, t, &fresh, &next);
			assert_true(next > t);
			assert_same(&fresh, &want, t);
			if (t >= until) {
				now = fresh;
				until = next;
				kept_at = t;
				asked++;
			}
			kept = now; /* what a caller has kept is still true */
			kept.delay_ns = link_delay_after(&now, t - kept_at);
			assert_same(&kept, &want, t);
		}
		/* steps, windows, outages and samples are far fewer than instants */
		assert_true(asked < 600);
	}
}

/* A link k times slower is at k t what the link is at t. */
static void dilation_is_equivalent(void **state)
{
	static const int factors[] = {1, 2, 4};

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct random_link l;

		random_link(&l, seed);
		for (size_t f = 0; f < COUNT(factors); f++) {
			struct link_direction slow;
			int k = factors[f];

			link_direction_dilate(&slow, &l.d, k);
			for (int64_t t = -2; t < 1500; t++) {
				struct link_state a, b;
				int64_t until_a, until_b;

				link_at(&l.d, DOWN, t, &a, &until_a);
				link_at(&slow, DOWN, t * k, &b, &until_b);
				assert_int_equal(
					until_b, until_a == TIME_NEVER ? TIME_NEVER : until_a * k);
				b.rate_bps *= k;
				b.delay_ns /= k;
				b.jitter_ns /= k;
				assert_same(&a, &b, t);
			}
			link_direction_release(&slow);
			assert_null(slow.steps);
		}
	}
}

/* Times that do not fit become never; a rate is never zero. */
static void dilation_does_not_overflow(void **state)
{
	struct link_window blackout = {INT64_MAX / 2, INT64_MAX - 1};
	struct link_direction d = plain(), slow;

	d.base.rate_bps = 3;
	d.base.delay_ns = INT64_MAX / 3;
	d.blackouts = &blackout;
	d.n_blackouts = 1;
	link_direction_dilate(&slow, &d, 1e6);
	assert_int_equal(slow.base.rate_bps, 1);
	assert_int_equal(slow.base.delay_ns, TIME_NEVER);
	assert_int_equal(slow.blackouts[0].from_ns, TIME_NEVER);
	assert_int_equal(d.blackouts[0].from_ns, INT64_MAX / 2);
	link_direction_release(&slow);
}

static void far_in_the_future(void **state)
{
	struct link_outage outage = {0, 15 * S, S};
	struct link_direction d = plain();
	struct link_state s;
	int64_t until;

	d.outages = &outage;
	d.n_outages = 1;
	d.trace = &trace;
	link_at(&d, DOWN, TIME_NEVER - 1, &s, &until);
	assert_true(until > TIME_NEVER - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(a_constant_link),
		cmocka_unit_test(queue_in_time_follows_rate),
		cmocka_unit_test(steps_add_up),
		cmocka_unit_test(outages_repeat),
		cmocka_unit_test(blackouts_happen_once),
		cmocka_unit_test(traces_play_again),
		cmocka_unit_test(as_a_naive_evaluator),
		cmocka_unit_test(dilation_is_equivalent),
		cmocka_unit_test(dilation_does_not_overflow),
		cmocka_unit_test(far_in_the_future),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
