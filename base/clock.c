/* The monotonic clock and the two conversions between bytes and time at a rate. */
#include "base/clock.h"

#include <time.h>

int64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_serialise_ns(int64_t bytes, int64_t rate_bps)
{
	__int128 bit_ns = (__int128)bytes * 8 * NS_PER_S;

	return (int64_t)((bit_ns + rate_bps - 1) / rate_bps);
}

int64_t clock_bytes_in(int64_t ns, int64_t rate_bps)
{
	return (int64_t)((__int128)ns * rate_bps / (8 * NS_PER_S));
}
