/*
 * What the kernel did not take: it ignores attributes that it does not know, cuts what does not
 * fit, and keeps what a predecessor had set, all without an error.
 */
#pragma once

#include "emu/netem/netem.h"
#include "emu/netem/tbf.h"

/*
 * The fields in which what was read back is not what was asked for, as text "FIELD: asked A, the
 * kernel has B; ..." cut to size. Returns their number. Distribution tables cannot be read back,
 * and of a seed that was not asked for any value is right.
 */
int netem_compare(const struct netem *asked, const struct netem *got, char *text, size_t size);

/* Likewise; a burst may differ by tbf_burst_tolerance. */
int tbf_compare(const struct tbf *asked, const struct tbf *got, char *text, size_t size);
