/*
 * Drives fuzz-trace.c without libFuzzer: sound inputs, and 20000 mutations of them by a fixed
 * seed. Each is given in a block of its exact size, so that the address sanitizer sees a read
 * past the end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "tests/test.h"

#define SEED 20260
#define ROUNDS 20000
#define SIZE_MAX_MUTATED 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const sound[] = {
	"relative,rtt\n0,20\n0.1,20\n0.2,20\n0.5,40\n0.6,20\n",
	"timestamp,relative,rtt\n17.5,0.0,144.0\n17.6,0.1,155\n17.7,0.2,145\n17.9,0.4,140\n",
	"rtt,relative\r\n1e1,-5\r\n+2.5e1,-4\r\n30,-3\r\n",
	"relative,rtt\n0,100\n0,100\n0.001,100\n1,0\n2,0\n",
};
static const char *const pieces[] = {"\n", ",", "-", "e9", "e-9", "999999999", "nan", "0x", ".",
	"\r\n", "relative", "rtt", " ", "\t", "3600000", ",,", "\n\n", "1000000000", "0.0", "\377"};

static uint64_t draw(uint64_t *counter, uint64_t below)
{
	return random_u64(SEED, 0, RANDOM_LOSS, (*counter)++) % below;
}

static void give(const char *text, size_t size)
{
	_free_ uint8_t *exact = memory_zero(size, 1);

	memcpy(exact, text, size);
	LLVMFuzzerTestOneInput(exact, size);
}

/* Replaces up to 4 bytes at a place by a piece, a byte, nothing, or another place's bytes. */
static size_t mutate(char *text, size_t size, uint64_t *c)
{
	size_t at = draw(c, size + 1), cut = draw(c, 5), n;
	const char *piece = pieces[draw(c, sizeof pieces / sizeof *pieces)];
	char new[16], byte = (char)draw(c, 256);

	if (cut > size - at)
		cut = size - at;
	n = draw(c, 4);
	if (n == 0)
		n = strlen(strcpy(new, piece));
	else if (n == 1)
		memcpy(new, &byte, 1);
	else if (n == 2)
		n = 0;
	else
		memcpy(new, text + (size > 3 ? draw(c, size - 3) : 0), size < 3 ? n = size : n);
	if (size - cut + n > SIZE_MAX_MUTATED)
		return size;
	memmove(text + at + n, text + at + cut, size - at - cut);
	memcpy(text + at, new, n);
	return size - cut + n;
}

static void sound_inputs(void **state)
{
	for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
		give(sound[i], strlen(sound[i]));
	give("", 0);
}

static void mutated_inputs(void **state)
{
	uint64_t c = 0;

	for (int i = 0; i < ROUNDS; i++) {
		const char *from = sound[draw(&c, sizeof sound / sizeof *sound)];
		char text[SIZE_MAX_MUTATED];
		size_t size = strlen(from);

		memcpy(text, from, size);
		for (uint64_t n = 1 + draw(&c, 6); n; n--)
			size = mutate(text, size, &c);
		give(text, size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_inputs),
		cmocka_unit_test(mutated_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
