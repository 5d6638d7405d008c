/*
 * The most that links hold at once, so that the relay asks for as much memory as these links
 * need and not for what the machine has: address space may be limited (ulimit -v, strict
 * overcommit).
 */
#pragma once

#include <stdint.h>

#include "emu/backend.h"

/*
 * An upper bound of the bytes of frames, with an Ethernet header each, in all queues and on all
 * ways of the plan at any time: for each direction its largest rate times its longest delay (and
 * 0.1 s by which a relay may be late), and its largest queue. UINT64_MAX at most.
 */
uint64_t flight_bytes(const struct link_plan *plan, int n_sites);
