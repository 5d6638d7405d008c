/* Counter-based random numbers on XXH3; see random.h. */
#include "base/random.h"

#include <math.h>
#include <xxhash.h>

uint64_t random_u64(uint64_t seed, uint32_t entity, enum random_stream stream, uint64_t counter)
{
	const uint64_t key[2] = {(uint64_t)entity << 32 | (uint32_t)stream, counter};

	return XXH3_64bits_withSeed(key, sizeof key, seed);
}

double random_unit(uint64_t seed, uint32_t entity, enum random_stream stream, uint64_t counter)
{
	return (double)(random_u64(seed, entity, stream, counter) >> 11) * 0x1p-53;
}

double random_exponential(
	uint64_t seed, uint32_t entity, enum random_stream stream, uint64_t counter)
{
	return -log1p(-random_unit(seed, entity, stream, counter));
}
