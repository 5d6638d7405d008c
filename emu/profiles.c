/*
 * The catalogue of access links: five kinds, each at 1, 2, 5 and 10 Gbit/s.
 *
 * A profile is the way between a site and a terrestrial core, so its round trip is twice its
 * delay; two sites with the same profile are two such round trips apart, plus the core's. It is
 * the link in good order: no random loss, no jitter, no fading. docs/profiles.md says what was
 * left out and why, and how the queues were chosen.
 */
#include <string.h>

#include "base/clock.h"
#include "emu/link.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define GBIT INT64_C(1000000000)

/*
 * One-way delays after the handovers at 12 s, 27 s, 42 s, ...: made up, so that the round trips
 * have the quartiles measured over Starlink (40, 50, 60 ms) and about its minimum (20 ms).
 */
#define HANDOVER(n, ms)                                                                            \
	{                                                                                          \
		.at_ns = (12 + 15 * (n)) * NS_PER_S, .set = LINK_DELAY,                            \
		.to.delay_ns = (ms)*NS_PER_MS                                                      \
	}
static struct link_step leo_steps[] = {
	HANDOVER(0, 20),
	HANDOVER(1, 30),
	HANDOVER(2, 17),
	HANDOVER(3, 27),
	HANDOVER(4, 34),
	HANDOVER(5, 23),
	HANDOVER(6, 15),
	HANDOVER(7, 28),
	HANDOVER(8, 32),
	HANDOVER(9, 19),
	HANDOVER(10, 24),
	HANDOVER(11, 38),
	HANDOVER(12, 20),
	HANDOVER(13, 31),
	HANDOVER(14, 22),
	HANDOVER(15, 26),
	HANDOVER(16, 12),
	HANDOVER(17, 33),
	HANDOVER(18, 18),
	HANDOVER(19, 29),
};
static struct link_outage leo_outages[] = {
	{.first_ns = 12 * NS_PER_S, .every_ns = 15 * NS_PER_S, .for_ns = 700 * NS_PER_MS},
};

#define NATIONAL_SOURCE                                                                            \
	"480 km as the crow flies by Bozkurt et al., Dissecting Latency in the Internet's Fiber "  \
	"Infrastructure, arXiv:1811.10737 (distance x 2.1 / speed of light in fibre)"
#define TRANSATLANTIC_SOURCE                                                                       \
	"New York - London: the shortest cable has 59 ms (Hibernia Express, tested 2015), "        \
	"Verizon's transatlantic latency guarantee is 90 ms; 70 ms lies between"
#define LEO_SOURCE                                                                                 \
	"RTT 40/50/60 ms at the quartiles: Michel et al., A First Look at Starlink Performance, "  \
	"IMC 2022; changes every 15 s: Tanveer et al., arXiv:2307.00402; no reply for 0.68-0.75 "  \
	"s at each: ping recording in github.com/clarkzjw/LEONetEM"
#define MEO_SOURCE                                                                                 \
	"O3b at 8062 km: \"a roundtrip latency of less than 150 milliseconds\", its CTO in "       \
	"aviationweek.com/print/awin/o3b-providing-broadband-developing-countries"
#define GEO_SOURCE                                                                                 \
	"RFC 2488, section 2: at least 558 ms by propagation at the edge of the view area; about " \
	"600 ms in practice (Michel et al., IMC 2022)"

/* Both directions alike; rtt_ms is theirs together. What changes over time comes last. */
#define DIRECTION(gbit, rtt_ms, queue_ms, ...)                                                     \
	{                                                                                          \
		.base = {.rate_bps = (gbit)*GBIT,                                                  \
			.queue_bytes = (gbit)*GBIT / 8000 * (queue_ms),                            \
			.delay_ns = (rtt_ms)*NS_PER_MS / 2,                                        \
			.burst_length = 1},                                                        \
		.queue_ns = (queue_ms)*NS_PER_MS, .overhead_bytes = LINK_OVERHEAD_ETHERNET,        \
		__VA_ARGS__                                                                        \
	}
#define PROFILE(gbit, id, words, rtt_ms, queue_ms, origin, ...)                                    \
	{                                                                                          \
		.name = id "-" #gbit "g", .title = words ", " #gbit " Gbit/s, RTT " #rtt_ms " ms", \
		.source = origin,                                                                  \
		.direction = {                                                                     \
			[UP] = DIRECTION(gbit, rtt_ms, queue_ms, __VA_ARGS__),                     \
			[DOWN] = DIRECTION(gbit, rtt_ms, queue_ms, __VA_ARGS__),                   \
		},                                                                                 \
	}
#define AT_EACH_RATE(...)                                                                          \
	PROFILE(1, __VA_ARGS__), PROFILE(2, __VA_ARGS__), PROFILE(5, __VA_ARGS__),                 \
		PROFILE(10, __VA_ARGS__)

static const struct link_profile catalogue[] = {
	AT_EACH_RATE("fibre-national", "Fibre within a country", 10, 10, NATIONAL_SOURCE, ),
	AT_EACH_RATE(
		"fibre-transatlantic", "Fibre across the Atlantic", 70, 35, TRANSATLANTIC_SOURCE, ),
	AT_EACH_RATE("leo", "Low Earth orbit, handover every 15 s", 50, 50, LEO_SOURCE,
		.n_steps = COUNT(leo_steps), .steps = leo_steps, .n_outages = COUNT(leo_outages),
		.outages = leo_outages),
	AT_EACH_RATE("meo", "Medium Earth orbit", 150, 75, MEO_SOURCE, ),
	AT_EACH_RATE("geo", "Geostationary orbit", 600, 150, GEO_SOURCE, ),
};

const struct link_profile *link_catalogue(size_t i)
{
	return i < COUNT(catalogue) ? &catalogue[i] : NULL;
}

const struct link_profile *link_catalogue_find(const char *name)
{
	for (size_t i = 0; i < COUNT(catalogue); i++)
		if (!strcmp(catalogue[i].name, name))
			return &catalogue[i];
	return NULL;
}
