/* Weighted max-min sharing against allocations worked out by hand. */
#include "bench/model/share.h"
#include "tests/test.h"

/* Bertsekas and Gallager's kind of example: a link of 6 for three, of which one
 * has only 1 beyond. */
static void what_one_cannot_use_goes_to_the_others(void **state)
{
	struct share_link links[] = {{.capacity = 6}, {.capacity = 1}, {.capacity = 9}};
	struct share_flow a = {.link = {0, 1}, .weight = 1}, b = {.link = {0, 2}, .weight = 1},
			  c = {.link = {0, 2}, .weight = 1};
	struct share_flow *flows[] = {&a, &b, &c};

	share_fill(links, 3, flows, 3);
	assert_near(a.rate, 1, 1e-12);
	assert_int_equal(a.bottleneck, 1);
	assert_near(b.rate, 2.5, 1e-12);
	assert_near(c.rate, 2.5, 1e-12);
	assert_int_equal(c.bottleneck, 0);
}

static void weights_share_a_link_in_proportion(void **state)
{
	struct share_link links[] = {{.capacity = 12}, {.capacity = 100}};
	struct share_flow a = {.link = {0, 1}, .weight = 1}, b = {.link = {0, 1}, .weight = 2},
			  c = {.link = {0, 1}, .weight = 3};
	struct share_flow *flows[] = {&c, &a, &b};

	share_fill(links, 2, flows, 3);
	assert_near(a.rate, 2, 1e-12);
	assert_near(b.rate, 4, 1e-12);
	assert_near(c.rate, 6, 1e-12);
}

/* A link of 12 for three, of which one wants only 2: 5 each for the others, which
 * it was offered 4. */
static void what_one_does_not_want_goes_to_the_others(void **state)
{
	struct share_link links[] = {{.capacity = 12}, {.capacity = 100}};
	struct share_flow a = {.link = {0, 1}, .weight = 1, .want = 2},
			  b = {.link = {0, 1}, .weight = 1},
			  c = {.link = {0, 1}, .weight = 1, .want = 6};
	struct share_flow *flows[] = {&a, &b, &c};

	share_fill(links, 2, flows, 3);
	assert_near(a.rate, 2, 1e-12);
	assert_near(a.offered, 4, 1e-12);
	assert_near(b.rate, 5, 1e-12);
	assert_near(c.rate, 5, 1e-12);
}

/* Eight sites, each to each of the others: everybody a seventh of the link. */
static void a_mesh_is_even(void **state)
{
	struct share_link links[16];
	struct share_flow flow[56], *flows[56];
	size_t n = 0;

	for (int i = 0; i < 16; i++)
		links[i] = (struct share_link){.capacity = 7};
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++)
			if (i != k) {
				flow[n] = (struct share_flow){
					.link = {2 * i, 2 * k + 1}, .weight = 1};
				flows[n] = &flow[n];
				n++;
			}
	share_fill(links, 16, flows, n);
	for (size_t i = 0; i < n; i++)
		assert_near(flow[i].rate, 1, 1e-9);
}

static void nobody_sends_nothing_happens(void **state)
{
	struct share_link link = {.capacity = 1};

	share_fill(&link, 1, NULL, 0);
	assert_int_equal(link.flows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_cannot_use_goes_to_the_others),
		cmocka_unit_test(weights_share_a_link_in_proportion),
		cmocka_unit_test(what_one_does_not_want_goes_to_the_others),
		cmocka_unit_test(a_mesh_is_even),
		cmocka_unit_test(nobody_sends_nothing_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
