/* From scenario and faults to links: blackouts land in both directions of the right site. */
#include "base/clock.h"
#include "bench/links.h"
#include "tests/test.h"

static struct link_window own[] = {{10 * NS_PER_S, 12 * NS_PER_S}};
static struct link_profile links[] = {
	{.direction = {{.base = {.rate_bps = 1000000,
				.queue_bytes = 10000,
				.delay_ns = 5 * NS_PER_MS},
			       .n_blackouts = 1,
			       .blackouts = own},
		 {.base = {.rate_bps = 2000000, .queue_bytes = 10000, .delay_ns = 7 * NS_PER_MS}}}},
};

static const struct fault faults[] = {
	{FAULT_BLACKOUT, 1, 11 * NS_PER_S, 3 * NS_PER_S}, /* overlaps the link's own */
	{FAULT_CRASH, 1, 20 * NS_PER_S, 5 * NS_PER_S},
	{FAULT_BLACKOUT, 0, 30 * NS_PER_S, 2 * NS_PER_S},
};

static struct scenario *two_sites(double dilation)
{
	static struct scenario s;

	s = (struct scenario){
		.seed = 9, .dilation = dilation, .n_sites = 2, .n_links = 1, .links = links};
	s.core_delay_ns[0][1] = 3 * NS_PER_MS;
	s.core_delay_ns[1][0] = 4 * NS_PER_MS;
	return &s;
}

static void blackouts_of_the_schedule(void **state)
{
	static struct link_plan plan;
	const struct link_direction *d;

	links_make(&plan, two_sites(1), faults, 3);
	d = &plan.links[1][UP];
	assert_int_equal(d->n_blackouts, 1);
	assert_int_equal(d->blackouts[0].from_ns, 10 * NS_PER_S);
	assert_int_equal(d->blackouts[0].until_ns, 14 * NS_PER_S);
	d = &plan.links[1][DOWN];
	assert_int_equal(d->n_blackouts, 1);
	assert_int_equal(d->blackouts[0].from_ns, 11 * NS_PER_S);
	assert_int_equal(plan.links[0][UP].n_blackouts, 2);
	assert_int_equal(plan.links[0][UP].blackouts[1].until_ns, 32 * NS_PER_S);
	assert_int_equal(plan.seed, 9);
	assert_int_equal(own[0].until_ns, 12 * NS_PER_S); /* the scenario's own are untouched */
	links_release(&plan, 2);
}

static void dilation_slows_everything(void **state)
{
	static struct link_plan plan;

	links_make(&plan, two_sites(4), faults, 3);
	assert_int_equal(plan.links[0][DOWN].base.rate_bps, 500000);
	assert_int_equal(plan.links[0][DOWN].base.delay_ns, 28 * NS_PER_MS);
	assert_int_equal(plan.core_delay_ns[0][1], 12 * NS_PER_MS);
	assert_int_equal(plan.links[1][DOWN].blackouts[0].from_ns, 44 * NS_PER_S);
	links_release(&plan, 2);
}

static void one_way_is_up_core_down(void **state)
{
	assert_int_equal(links_one_way_ns(two_sites(1), 0, 1), (5 + 3 + 7) * NS_PER_MS);
	assert_int_equal(links_one_way_ns(two_sites(1), 1, 0), (5 + 4 + 7) * NS_PER_MS);
}

/* 84 bytes of IP four times: at 1 Mbit/s up 672 us, at 2 Mbit/s down 336
 * us, no overhead counted. */
static void a_round_trip_is_serialised_four_times(void **state)
{
	int64_t delays_ns = (5 + 3 + 7 + 5 + 4 + 7) * NS_PER_MS;

	assert_int_equal(links_round_trip_ns(two_sites(1), 0, 1, 32),
		delays_ns + 2 * (672 + 336) * NS_PER_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blackouts_of_the_schedule),
		cmocka_unit_test(dilation_slows_everything),
		cmocka_unit_test(one_way_is_up_core_down),
		cmocka_unit_test(a_round_trip_is_serialised_four_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
