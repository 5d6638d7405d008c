/*
 * A site's device: a TUN that hands over and takes back super-packets with partial checksums.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"

/*
 * Creates the device in the caller's network namespace; *out is its file, non-blocking,
 * close-on-exec. STATUS_MACHINE with the remedy when this machine or user cannot do it. The
 * device lives as long as the file is open in some process.
 */
int tun_open(int *out, const char *device, struct error *err);

/*
 * What gso_max_size keeps a super-packet to about 0.25 ms at rate_bps: at least one segment, at
 * most 64 KiB. The kernel counts the headers' largest size into it, which is added here.
 */
int tun_gso_max_size(int64_t rate_bps);
