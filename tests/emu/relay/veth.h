/* The rig's sites joined by the kernel's own devices instead of the relay, for comparison. */
#pragma once

#include "tests/emu/relay/rig.h"

/* Two sites: a bare veth pair. */
void veth_up(struct rig *rig, const char *congestion, int64_t window_bytes);

/*
 * All sites on a bridge. What goes to site 0 passes a token bucket (tbf) of rate_bps, Ethernet
 * frames counted, with a queue of queue_ns in bytes; nothing else is limited. The sites send
 * single segments, since tbf would drop super-packets whole.
 */
void bridge_up(struct rig *rig, const char *congestion, int64_t window_bytes, int64_t rate_bps,
	int64_t queue_ns);
void bridge_down(struct rig *rig); /* instead of rig_down */
