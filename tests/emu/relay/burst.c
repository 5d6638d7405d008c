/* See burst.h; a full segment has 1448 bytes of payload in an Ethernet frame of 1514. */
#include "tests/emu/relay/burst.h"

#include <math.h>

#define PAYLOAD 1448
#define FRAME 1514
#define FIRST_WINDOW 10

double burst_s(double bytes, double rtt_s, double rate_bps)
{
	double s = 8.0 * FRAME / rate_bps, bdp = rtt_s / s, window = FIRST_WINDOW, t = 0;
	double remaining = ceil(bytes / PAYLOAD);

	while (window < bdp && remaining > window) {
		t += rtt_s;
		remaining -= window;
		window *= 2;
	}
	return t + remaining * s + rtt_s;
}
