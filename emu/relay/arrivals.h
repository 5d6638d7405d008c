/*
 * When a packet came to a device whose reader sleeps. A processor that sleeps takes a tenth of a
 * millisecond or more to wake up on a virtual machine, and the device does not say when the packet
 * came. So a program of a few instructions runs in the kernel at the moment a site's stack hands
 * a packet to its device, and notes the time, once after each reset.
 *
 * Where the kernel does not permit that (it takes CAP_BPF outside of user namespaces) the times
 * stay unknown, and a packet counts as come when it is read.
 */
#pragma once

#include <stdint.h>

struct arrivals;

/* Never fails: see arrivals_known. The devices take their program along when they are closed. */
struct arrivals *arrivals_new(const int *tun_fds, int n);
struct arrivals *arrivals_free(struct arrivals *a); /* accepts NULL, returns NULL */
int arrivals_known(const struct arrivals *a); /* 0, or the negative errno for which they are not */

void arrivals_reset(struct arrivals *a);
/* CLOCK_MONOTONIC ns of the first packet to device i since the reset; 0: none, or unknown. */
int64_t arrivals_first_ns(const struct arrivals *a, int i);
