/*
 * The published simulators' closed form: how much of the time is compute when exchanges go over
 * an ideal link, beside the compute.
 *
 * A step is a forward pass, T/3, and a backward pass, 2T/3. The exchange that belongs to a step is
 * cut into buckets; one is ready when the backward pass has come to it, and they are sent one
 * after another, first in, first out, at R bit/s. An exchange that has not ended tau steps after
 * the end of its step holds up the next by what is missing:
 *
 *   ready_k = T/3 + position_k * 2T/3
 *   end_k   = max(ready_k, end_(k-1)) + bits_k / R
 *   stall   = max(0, end_last - (1 + tau) T)
 *   CU      = H T / (H T + sum of the stalls of the P exchanges in H steps)
 *
 * position_k, of B buckets: (k+1)/B when they are even. When fragments are strided (Streaming
 * DiLoCo, arXiv 2501.18512: layers p, p+P, p+2P, ... of L), bucket j of fragment p is a layer and
 * (p + j P + 1)/L. On average over p the first layer of three leaves 5/9 T of the pass, which is
 * what one finds in Table 4 of that paper; fragments that leave less stall first.
 *
 * bits = f N b / P with f = 2 (M-1)/M, a ring's.
 *
 * Sources: the public simulator at https://arthurdouillard.com/diloco/ for the even form; Table 4
 * and the text of arXiv 2501.18512 for the strided one.
 */
#pragma once

#include "results/published/published.h"

/* Compute utilisation, 0..1, of the job over a link of rate_bps. */
double ideal_utilisation(const struct published_job *job, double rate_bps);

/* The least rate, bit/s, at which it is `utilisation` (0..1). */
double ideal_rate_bps(const struct published_job *job, double utilisation);

/*
 * As some tables print it: the largest point of the published grid at which utilisation is still
 * below. -1: it is nowhere below.
 */
int ideal_grid_point(const struct published_job *job, double utilisation);
