/* The rig's two sites joined by a bare veth pair instead of the relay, for comparison. */
#pragma once

#include "tests/emu/relay/rig.h"

void veth_up(struct rig *rig, const char *congestion, int64_t window_bytes);
