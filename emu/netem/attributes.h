/*
 * Attribute numbers of sch_netem that are younger than the headers we build with. They are part
 * of the kernel's ABI and never change; a kernel that does not know one ignores it.
 */
#pragma once

#include <linux/pkt_sched.h>

#define NETEM_ATTR_PRNG_SEED 14 /* TCA_NETEM_PRNG_SEED: u64, Linux 6.6 */
#define NETEM_ATTR_MAX NETEM_ATTR_PRNG_SEED
