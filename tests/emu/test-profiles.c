/* The catalogue against the figures it claims, written out here once more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "emu/link.h"
#include "tests/test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
	const char *kind;
	double rtt_ms, queue_ms;
} kinds[] = {
	{"fibre-national", 10, 10},
	{"fibre-transatlantic", 70, 35},
	{"leo", 50, 50},
	{"meo", 150, 75},
	{"geo", 600, 150},
};
static const int rates[] = {1, 2, 5, 10};

static void every_kind_at_every_rate(void **state)
{
	size_t n = 0;

	for (size_t k = 0; k < COUNT(kinds); k++)
		for (size_t r = 0; r < COUNT(rates); r++, n++) {
			const struct link_profile *p;
			struct link_state up, down;
			int64_t until;
			char name[64];

			snprintf(name, sizeof name, "%s-%dg", kinds[k].kind, rates[r]);
			p = link_catalogue_find(name);
			assert_non_null(p);
			link_at(&p->direction[UP], UP, 0, &up, &until);
			link_at(&p->direction[DOWN], DOWN, 0, &down, &until);
			assert_near(
				(double)(up.delay_ns + down.delay_ns) / 1e6, kinds[k].rtt_ms, 0);
			assert_near((double)up.rate_bps / 1e9, rates[r], 0);
			assert_near((double)down.rate_bps / 1e9, rates[r], 0);
			/* bytes = rate / 8 x time */
			assert_near(
				(double)up.queue_bytes, rates[r] * 125e3 * kinds[k].queue_ms, 0);
			assert_int_equal(p->direction[UP].base.queue_bytes, up.queue_bytes);
			assert_int_equal(p->direction[UP].overhead_bytes, 14);
			assert_near(up.loss + up.burst_loss + (double)up.jitter_ns, 0, 0);
			assert_near(up.burst_length, 1, 0);
		}
	assert_non_null(link_catalogue(n - 1));
	assert_null(link_catalogue(n));
	assert_null(link_catalogue(SIZE_MAX));
}

static void names_and_words(void **state)
{
	const struct link_profile *p, *q;

	for (size_t i = 0; (p = link_catalogue(i)); i++) {
		assert_ptr_equal(link_catalogue_find(p->name), p);
		assert_true(strlen(p->title) > 0 && strlen(p->title) < 72);
		assert_true(strlen(p->source) > 20);
		for (size_t j = 0; j < i && (q = link_catalogue(j)); j++)
			assert_string_not_equal(p->name, q->name);
	}
	assert_null(link_catalogue_find("geo"));
	assert_null(link_catalogue_find(""));
	assert_string_equal(link_catalogue_find("geo-10g")->title,
		"Geostationary orbit, 10 Gbit/s, RTT 600 ms");
}

/* Down 0.7 s in 15, from 12 s on; quartiles of the round trips after handovers 40, 50, 60 ms. */
static void handovers(void **state)
{
	const struct link_profile *p = link_catalogue_find("leo-1g");
	double rtt_ms[20], down_s = 0;
	int64_t t = 0, until;

	while (t < 312 * NS_PER_S) {
		struct link_state s;

		link_at(&p->direction[UP], UP, t, &s, &until);
		down_s += s.down ? (double)(until - t) / 1e9 : 0;
		t = until;
	}
	assert_near(down_s, 20 * 0.7, 1e-9);
	for (int i = 0; i < 20; i++) {
		struct link_state up, down;

		link_at(&p->direction[UP], UP, (20 + 15 * i) * NS_PER_S, &up, &until);
		link_at(&p->direction[DOWN], DOWN, (20 + 15 * i) * NS_PER_S, &down, &until);
		rtt_ms[i] = (double)(up.delay_ns + down.delay_ns) / 1e6;
	}
	assert_near(stats_quantile(rtt_ms, 20, 0), 20, 5);
	assert_near(stats_quantile(rtt_ms, 20, 0.25), 40, 1);
	assert_near(stats_quantile(rtt_ms, 20, 0.5), 50, 1);
	assert_near(stats_quantile(rtt_ms, 20, 0.75), 60, 1);
}

/* The manual's table has a row for each kind, with its round trip and queue. */
static void documented(void **state)
{
	const char *source = getenv("NARROWLINK_SOURCE");
	char path[4096], line[2048], want[128];
	_fclose_ FILE *f = NULL;
	size_t rows = 0;

	snprintf(path, sizeof path, "%s/docs/profiles.md", source ? source : ".");
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		for (size_t k = 0; k < COUNT(kinds); k++) {
			snprintf(want, sizeof want, "| `%s` |", kinds[k].kind);
			if (strncmp(line, want, strlen(want)))
				continue;
			snprintf(want, sizeof want, " | %g ms | %g ms | ", kinds[k].rtt_ms,
				kinds[k].queue_ms);
			assert_non_null(strstr(line, want));
			rows++;
		}
	assert_int_equal(rows, COUNT(kinds));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_at_every_rate),
		cmocka_unit_test(names_and_words),
		cmocka_unit_test(handovers),
		cmocka_unit_test(documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
