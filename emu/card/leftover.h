/* What nobody answers for any more: qdiscs that a process left which was killed, or that tc set. */
#pragma once

#include "emu/card/view.h"

#define LEFTOVER_TEXT 256

/*
 * Removes the device's qdisc, if somebody set one, and the redirection of what it receives to an
 * ifb, if there is one; an ifb of ours goes, too, and super-packets are allowed again. The kernel's
 * own takes their place. removed: what was, "fq 8001:, what comes in by ifb-nl3"; "" for nothing.
 */
int leftover_remove(char removed[static LEFTOVER_TEXT], const struct view *v,
	const struct device *d, struct nl_sock *sock, struct error *err);
