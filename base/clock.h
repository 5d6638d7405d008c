/*
 * Time: int64_t nanoseconds, monotonic. A variable that holds one ends in _ns.
 */
#pragma once

#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define TIME_NEVER INT64_MAX

/* CLOCK_MONOTONIC; the same clock in every process of one machine. */
int64_t clock_now_ns(void);

/*
 * CLOCK_REALTIME minus CLOCK_MONOTONIC, to the microsecond: what the kernel stamps packets with,
 * from what everything else here goes by. It stays as it is until somebody sets the clock.
 */
int64_t clock_real_ahead_ns(void);

/* The time `bytes` take at rate_bps (bit/s, > 0), rounded up. Does not overflow below 2^63 ns. */
int64_t clock_serialise_ns(int64_t bytes, int64_t rate_bps);

/* The bytes that rate_bps carries in ns, rounded down. */
int64_t clock_bytes_in(int64_t ns, int64_t rate_bps);
