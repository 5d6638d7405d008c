/* What the figures are held against: formulas of TCP, as published. */
#pragma once

/*
 * Seconds from the first write of a burst of `bytes` on an established but cold connection (window
 * 10 segments, slow start) to its last acknowledgement, loss-free, limited by no buffer: whole
 * windows double every round trip until they fill the link or the burst ends. The receiver has it
 * half a round trip earlier; a new connection takes a round trip more.
 */
double burst_s(double bytes, double rtt_s, double rate_bps);
