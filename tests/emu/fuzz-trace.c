/*
 * Any bytes as a recorded trace: refused with a sentence, or a link that can be followed.
 *
 * One entry point for two drivers: libFuzzer (meson -Dfuzz=true with clang), and fuzz-run.c,
 * which gives it a fixed set of mutated inputs in every test run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "emu/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_side(const struct link_trace *trace, enum direction which)
{
	const struct link_trace_side *side = &trace->side[which];
	const struct link_direction link = {.base.rate_bps = 1000000, .trace = trace};

	require(side->n_delays >= 3);
	for (size_t i = 0; i < side->n_delays; i++) {
		require(side->delays[i].at_ns >= 0 && side->delays[i].delay_ns >= 0);
		require(!i || side->delays[i - 1].at_ns <= side->delays[i].at_ns);
	}
	for (size_t i = 0; i < side->n_losses; i++) {
		require(side->losses[i].from_ns < side->losses[i].until_ns);
		require(!i || side->losses[i - 1].until_ns <= side->losses[i].from_ns);
	}
	for (int64_t t = 0, until, n = 0; n < 64 && t != TIME_NEVER; n++, t = until) {
		struct link_state state;

		link_at(&link, which, t, &state, &until);
		require(until > t && state.delay_ns >= 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct link_trace *trace = NULL;
	struct error err = {0};

	if (link_trace_parse(&trace, "fuzz", (const char *)data, size, &err) < 0) {
		require(!trace && err.status == STATUS_INPUT && !strncmp(err.text, "fuzz:", 5));
		return 0;
	}
	require(trace && err.status == STATUS_HOLDS && trace->period_ns > 0);
	check_side(trace, UP);
	check_side(trace, DOWN);
	link_trace_free(trace);
	return 0;
}
