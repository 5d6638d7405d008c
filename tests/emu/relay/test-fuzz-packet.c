/*
 * Drives fuzz-packet.c without libFuzzer: 300,000 mutations of sound packets by a fixed seed, in
 * headers mostly. Each is given in a block of its exact size, so that the address sanitizer sees
 * a read past the end. So that the target cannot pass by refusing everything, most unchanged
 * packets must parse.
 */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "emu/relay/packet.h"
#include "tests/emu/relay/packets.h"

#define ROUNDS 300000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t draw(uint64_t *counter, uint64_t below)
{
	return random_u64(7, 0, RANDOM_LOSS, (*counter)++) % below;
}

static size_t sound_packet(uint8_t *frame, uint64_t *c)
{
	struct packets_tcp tcp = {
		.version = draw(c, 2) ? 4 : 6,
		.to = (int)draw(c, 70),
		.payload = 1 + (int)draw(c, 4000),
		.segment = (int)draw(c, 1500),
		.options = 4 * (int)draw(c, 11),
		.flags = (uint8_t)draw(c, 256),
	};

	if (draw(c, 4) == 0)
		return packets_udp(frame, tcp.version, tcp.to, tcp.payload);
	return packets_tcp(frame, &tcp);
}

static void test_mutated_packets(void **state)
{
	static uint8_t frame[PACKETS_MAX];
	uint64_t c = 0;

	for (int i = 0; i < ROUNDS; i++) {
		size_t n = sound_packet(frame, &c), changes = draw(&c, 4);
		_free_ uint8_t *exact = NULL;

		for (size_t k = 0; k < changes; k++)
			frame[draw(&c, n < 120 ? n : 120)] = (uint8_t)draw(&c, 256);
		if (draw(&c, 8) == 0)
			n = draw(&c, n);
		exact = memory_zero(n, 1);
		memcpy(exact, frame, n);
		LLVMFuzzerTestOneInput(exact, n);
	}
}

static void test_sound_packets_parse(void **state)
{
	static uint8_t frame[PACKETS_MAX];
	uint64_t c = 0;

	for (int i = 0; i < 1000; i++) {
		size_t n = sound_packet(frame, &c);
		struct packet_shape s;

		assert_int_equal(packet_parse(&s, frame, n < 182 ? n : 182, n), 0);
		LLVMFuzzerTestOneInput(frame, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound_packets_parse),
		cmocka_unit_test(test_mutated_packets),
	};

	return cmocka_run_group_tests_name("relay packet fuzz", tests, NULL, NULL);
}
