/* The clocks and the two conversions between bytes and time at a rate. */
#include "base/clock.h"

#include <time.h>

#define READINGS 8

static int64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* One is read between two readings of the other; the process may have been interrupted there. */
int64_t clock_real_ahead_ns(void)
{
	int64_t least_ns = TIME_NEVER, ahead_ns = 0;

	for (int i = 0; i < READINGS; i++) {
		int64_t before = clock_now_ns(), real = read_clock(CLOCK_REALTIME);
		int64_t apart = clock_now_ns() - before;

		if (apart >= least_ns)
			continue;
		least_ns = apart;
		ahead_ns = real - before - apart / 2;
	}
	return ahead_ns;
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
