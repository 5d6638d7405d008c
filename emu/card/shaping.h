/*
 * A link applied to a device of this machine: what is to be set, setting it, changing it when the
 * profile says so, and looking whether it still is what it was set to.
 *
 * What the device sends is the profile's direction up, what it receives, on demand, is down: that
 * is redirected to an ifb, which has the qdiscs a device cannot have for its input. With a
 * prefix only what goes to (comes from) it is concerned; the rest passes by a band of prio of its
 * own. Packets are made to come one by one: netem decides per packet it is handed.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "emu/card/layout.h"
#include "emu/card/prefix.h"
#include "emu/card/view.h"

/* Where a direction's qdiscs are. */
struct shaping_place {
	int index;	     /* of the device; of an ifb that is not there yet: 0 */
	uint32_t top;	     /* handle of prio; 0: there is none */
	uint32_t netem, tbf; /* handles */
};

struct shaping_wish {
	const struct link_profile *link; /* borrowed */
	bool incoming;
	bool has_prefix;
	struct prefix prefix;
};

/* What is now set of a direction. */
struct shaping_line {
	struct layout layout;
	struct link_state state;
	int64_t until_ns; /* time after the beginning; TIME_NEVER: it does not change any more */
};

struct shaping {
	struct shaping_wish wish;
	struct device device;
	struct shaping_place place[DIRECTIONS];
	char ifb[IFNAMSIZ];
	struct shaping_line line[DIRECTIONS];
};

/* Chooses handles that nobody has. Nothing is set yet. */
void shaping_plan(struct shaping *s, const struct shaping_wish *wish, const struct device *d,
	const struct view *v);

/* Sets all of it, as the profile is in the beginning. Negative: what was set until then stays. */
int shaping_apply(struct shaping *s, struct nl_sock *sock, struct error *err);

/*
 * The profile t_ns after the beginning: what has changed is set, in place; *changed tells whether
 * anything was. -ENODEV when the device has gone.
 */
int shaping_follow(
	struct shaping *s, struct nl_sock *sock, int64_t t_ns, bool *changed, struct error *err);

/* The name of the ifb for what a device receives. Returns name. */
char *shaping_ifb(char name[static IFNAMSIZ], int index);

/* When shaping_follow is due next, TIME_NEVER if never. */
int64_t shaping_next(const struct shaping *s);

/* Is it all still there as it was set? STATUS_MACHINE with what is not. */
int shaping_verify(const struct shaping *s, struct nl_sock *sock, struct error *err);

/* The directions that there are: 1 or 2. */
static inline int shaping_directions(const struct shaping_wish *w)
{
	return w->incoming ? DIRECTIONS : UP + 1;
}

/* The commands of ip, tc and ethtool that do the same, a line each. */
void shaping_commands(const struct shaping *s, FILE *out);
