/* The command lines of goldens.txt as structs, in its order; see goldens.h. */
#include "tests/emu/netem/goldens.h"

#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MS INT64_C(1000000)
#define MBIT UINT64_C(125000) /* bytes/s */
#define GBIT (1000 * MBIT)
#define P(percent) ((uint32_t)((percent) / 100.0 * 4294967295.0 + .5))
#define ADD .type = RTM_NEWQDISC, .flags = NLM_F_CREATE | NLM_F_EXCL, .parent = TC_H_ROOT
#define NETEM(...) .netem = {.limit = 1000, __VA_ARGS__}
#define SEND(...) .attributes = (__VA_ARGS__)
#define CORR NETEM_SEND(TCA_NETEM_CORR)
#define REORDER NETEM_SEND(TCA_NETEM_REORDER)
#define CORRUPT NETEM_SEND(TCA_NETEM_CORRUPT)
#define LOSS NETEM_SEND(TCA_NETEM_LOSS)
#define RATE (NETEM_SEND(TCA_NETEM_RATE) | NETEM_SEND(TCA_NETEM_RATE64))
#define ECN NETEM_SEND(TCA_NETEM_ECN)
#define SLOT NETEM_SEND(TCA_NETEM_SLOT)
#define DIST NETEM_SEND(TCA_NETEM_DELAY_DIST)
#define SLOT_DIST NETEM_SEND(TCA_NETEM_SLOT_DIST)
#define GE(P_, R_, H_, K1_)                                                                        \
	.model = {.kind = NETEM_LOSS_GE, .ge = {.p = P_, .r = R_, .h = H_, .k1 = K1_}}
#define GI(P13, P31, P32, P14, P23)                                                                \
	.model = {.kind = NETEM_LOSS_GI,                                                           \
		.gi = {.p13 = P13, .p31 = P31, .p32 = P32, .p14 = P14, .p23 = P23}}
#define TBF(...) .tbf = {__VA_ARGS__}

const struct golden goldens[] = {
	{"add dev lo root netem", ADD, NETEM()},
	{"add dev lo root netem limit 50000", ADD, .netem = {.limit = 50000}},
	{"add dev lo root netem delay 100ms", ADD, NETEM(.latency_ns = 100 * MS)},
	{"add dev lo root netem delay 1us", ADD, NETEM(.latency_ns = 1000)},
	{"add dev lo root netem delay 300.123456ms", ADD, NETEM(.latency_ns = 300123456)},
	{"add dev lo root netem delay 100ms 10ms", ADD,
		NETEM(.latency_ns = 100 * MS, .jitter_ns = 10 * MS)},
	{"add dev lo root netem delay 100ms 10ms 25%", ADD,
		NETEM(.latency_ns = 100 * MS, .jitter_ns = 10 * MS, .correlation = {P(25), 0, 0}),
		SEND(CORR)},
	{"add dev lo root netem loss 1%", ADD, NETEM(.loss = P(1))},
	{"add dev lo root netem loss 0.001%", ADD, NETEM(.loss = P(0.001))},
	{"add dev lo root netem loss 100%", ADD, NETEM(.loss = NETEM_ALWAYS)},
	{"add dev lo root netem loss random 5% 25%", ADD,
		NETEM(.loss = P(5), .correlation = {0, P(25), 0}), SEND(CORR)},
	{"add dev lo root netem loss gemodel 1%", ADD, NETEM(GE(P(1), P(99), 0, 0)), SEND(LOSS)},
	{"add dev lo root netem loss gemodel 1% 10%", ADD, NETEM(GE(P(1), P(10), 0, 0)),
		SEND(LOSS)},
	{"add dev lo root netem loss gemodel 1% 10% 70%", ADD, NETEM(GE(P(1), P(10), P(30), 0)),
		SEND(LOSS)},
	{"add dev lo root netem loss gemodel 1% 10% 70% 0.1%", ADD,
		NETEM(GE(P(1), P(10), P(30), P(.1))), SEND(LOSS)},
	{"add dev lo root netem loss state 1%", ADD, NETEM(GI(P(1), P(99), 0, 0, NETEM_ALWAYS)),
		SEND(LOSS)},
	{"add dev lo root netem loss state 1% 90%", ADD, NETEM(GI(P(1), P(90), 0, 0, NETEM_ALWAYS)),
		SEND(LOSS)},
	{"add dev lo root netem loss state 1% 90% 2% 95% 3%", ADD,
		NETEM(GI(P(1), P(90), P(2), P(3), P(95))), SEND(LOSS)},
	{"add dev lo root netem loss 2% ecn", ADD, NETEM(.loss = P(2), .ecn = true), SEND(ECN)},
	{"add dev lo root netem loss gemodel 1% 10% ecn", ADD,
		NETEM(GE(P(1), P(10), 0, 0), .ecn = true), SEND(LOSS | ECN)},
	{"add dev lo root netem duplicate 3%", ADD, NETEM(.duplicate = P(3))},
	/* iproute2 6.1 forgets the correlation when there is no other */
	{"add dev lo root netem duplicate 3% 10%", ADD, NETEM(.duplicate = P(3))},
	{"add dev lo root netem corrupt 0.1%", ADD, NETEM(.corrupt = {P(.1), 0}), SEND(CORRUPT)},
	{"add dev lo root netem corrupt 0.1% 5%", ADD, NETEM(.corrupt = {P(.1), P(5)}),
		SEND(CORR | CORRUPT)},
	{"add dev lo root netem delay 10ms reorder 25%", ADD,
		NETEM(.latency_ns = 10 * MS, .gap = 1, .reorder = {P(25), 0}), SEND(REORDER)},
	{"add dev lo root netem delay 10ms reorder 25% 50%", ADD,
		NETEM(.latency_ns = 10 * MS, .gap = 1, .reorder = {P(25), P(50)}),
		SEND(CORR | REORDER)},
	{"add dev lo root netem delay 10ms reorder 25% 50% gap 5", ADD,
		NETEM(.latency_ns = 10 * MS, .gap = 5, .reorder = {P(25), P(50)}),
		SEND(CORR | REORDER)},
	{"add dev lo root netem rate 10mbit", ADD, NETEM(.rate = 10 * MBIT), SEND(RATE)},
	{"add dev lo root netem rate 0.84gbit", ADD, NETEM(.rate = 840 * MBIT), SEND(RATE)},
	{"add dev lo root netem rate 34gbit", ADD, NETEM(.rate = 34 * GBIT), SEND(RATE)},
	{"add dev lo root netem rate 40gbit", ADD, NETEM(.rate = 40 * GBIT), SEND(RATE)},
	{"add dev lo root netem rate 1tbit 20", ADD,
		NETEM(.rate = 1000 * GBIT, .packet_overhead = 20), SEND(RATE)},
	{"add dev lo root netem rate 5mbit -14", ADD,
		NETEM(.rate = 5 * MBIT, .packet_overhead = -14), SEND(RATE)},
	{"add dev lo root netem rate 5mbit 24 48 5", ADD,
		NETEM(.rate = 5 * MBIT, .packet_overhead = 24, .cell_size = 48, .cell_overhead = 5),
		SEND(RATE)},
	{"add dev lo root netem slot 10ms", ADD, NETEM(.slot = {10 * MS, 10 * MS}), SEND(SLOT)},
	{"add dev lo root netem slot 10ms 20ms", ADD, NETEM(.slot = {10 * MS, 20 * MS}),
		SEND(SLOT)},
	{"add dev lo root netem slot 10ms 20ms packets 8 bytes 64k", ADD,
		NETEM(.slot = {10 * MS, 20 * MS, 8, 65536}), SEND(SLOT)},
	{"add dev lo root netem delay 20ms 5ms distribution normal", ADD,
		NETEM(.latency_ns = 20 * MS, .jitter_ns = 5 * MS), SEND(DIST)},
	{"add dev lo root netem delay 20ms 5ms 30% distribution pareto", ADD,
		NETEM(.latency_ns = 20 * MS, .jitter_ns = 5 * MS,
			.correlation = {0x4ccccccc, 0, 0}), /* tc: rounded down here */
		SEND(CORR | DIST)},
	{"add dev lo root netem slot distribution normal 10ms 2ms packets 4", ADD,
		NETEM(.slot = {.max_packets = 4, .dist_delay = 10 * MS, .dist_jitter = 2 * MS}),
		SEND(SLOT | SLOT_DIST)},
	{"add dev lo root handle 7: netem limit 100 delay 50ms 5ms 20% loss 0.5% duplicate 0.1% "
	 "corrupt 0.01% reorder 2% gap 3 rate 100mbit 38",
		ADD, .handle = 0x70000,
		.netem = {.limit = 100,
			.latency_ns = 50 * MS,
			.jitter_ns = 5 * MS,
			.correlation = {P(20), 0, 0},
			.loss = P(.5),
			.duplicate = P(.1),
			.corrupt = {P(.01), 0},
			.reorder = {P(2), 0},
			.gap = 3,
			.rate = 100 * MBIT,
			.packet_overhead = 38},
		SEND(CORR | CORRUPT | REORDER | RATE)},
	{"change dev lo root handle 7: netem delay 60ms", RTM_NEWQDISC, 0, TC_H_ROOT, 0x70000,
		NETEM(.latency_ns = 60 * MS)},
	{"replace dev lo root netem delay 70ms loss 1%", RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE,
		TC_H_ROOT, 0, NETEM(.latency_ns = 70 * MS, .loss = P(1))},
	{"add dev lo parent 1:1 handle 10: netem delay 5ms", RTM_NEWQDISC,
		NLM_F_CREATE | NLM_F_EXCL, 0x10001, 0x100000, NETEM(.latency_ns = 5 * MS)},
	{"add dev lo root tbf rate 10mbit burst 10kb limit 100kb", ADD,
		TBF(.rate = 10 * MBIT, .burst = 10 << 10, .limit = 100 << 10)},
	{"add dev lo root tbf rate 1gbit burst 1mb limit 30mb", ADD,
		TBF(.rate = GBIT, .burst = 1 << 20, .limit = 30 << 20)},
	{"add dev lo root tbf rate 40gbit burst 4mb limit 100mb", ADD,
		TBF(.rate = 40 * GBIT, .burst = 4 << 20, .limit = 100 << 20)},
	{"add dev lo root tbf rate 840mbit burst 256kb latency 50ms", ADD,
		TBF(.rate = 840 * MBIT, .burst = 256 << 10, .limit = 5250000 + (256 << 10))},
	{"add dev lo root tbf rate 10mbit burst 10kb limit 100kb peakrate 20mbit minburst 1540",
		ADD,
		TBF(.rate = 10 * MBIT, .burst = 10 << 10, .limit = 100 << 10, .peak = 20 * MBIT,
			.peak_burst = 1540)},
	{"add dev lo root tbf rate 40gbit burst 4mb limit 100mb peakrate 50gbit minburst 9000", ADD,
		TBF(.rate = 40 * GBIT, .burst = 4 << 20, .limit = 100 << 20, .peak = 50 * GBIT,
			.peak_burst = 9000)},
	{"add dev lo root tbf rate 100mbit burst 64kb limit 1mb overhead 24", ADD,
		TBF(.rate = 100 * MBIT, .burst = 64 << 10, .limit = 1 << 20, .overhead = 24)},
	{"add dev lo root tbf rate 100mbit burst 64kb limit 1mb mpu 64", ADD,
		TBF(.rate = 100 * MBIT, .burst = 64 << 10, .limit = 1 << 20, .mpu = 64)},
	{"add dev lo root handle 1: tbf rate 5mbit burst 5kb/8 limit 50kb", ADD, .handle = 0x10000,
		TBF(.rate = 5 * MBIT, .burst = 5 << 10, .limit = 50 << 10)},
	{"add dev lo root stab overhead 24 tbf rate 10mbit burst 10kb limit 100kb", ADD,
		TBF(.rate = 10 * MBIT, .burst = 10 << 10, .limit = 100 << 10), .stab_overhead = 24},
	{"del dev lo root", .type = RTM_DELQDISC, .parent = TC_H_ROOT},
};
const size_t n_goldens = sizeof goldens / sizeof *goldens;

static FILE *open_goldens(void)
{
	_free_ char *path =
		memory_format("%s/tests/emu/netem/goldens.txt", getenv("NARROWLINK_SOURCE"));
	FILE *f = fopen(path, "re");

	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static size_t add_digits(uint8_t *message, size_t n, const char *digits)
{
	unsigned byte;

	for (; n < GOLDEN_MAX && sscanf(digits, "%2x", &byte) == 1; digits += 2)
		message[n++] = (uint8_t)byte;
	return n;
}

size_t golden_bytes(uint8_t message[static GOLDEN_MAX], const char *command)
{
	_fclose_ FILE *f = open_goldens();
	_free_ char *wanted = memory_format("$ tc qdisc %s\n", command), *line = NULL;
	size_t room = 0, n = 0;
	bool here = false;

	while (getline(&line, &room, f) > 0) {
		if (*line == '$')
			here = !strcmp(line, wanted);
		else if (here)
			n = add_digits(message, n, line);
	}
	if (!n) {
		fprintf(stderr, "goldens.txt: no block for: %s", wanted);
		exit(1);
	}
	return n;
}

size_t golden_count(void)
{
	_fclose_ FILE *f = open_goldens();
	_free_ char *line = NULL;
	size_t room = 0, n = 0;

	while (getline(&line, &room, f) > 0)
		n += *line == '$';
	return n;
}
