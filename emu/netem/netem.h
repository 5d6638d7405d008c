/*
 * sch_netem's options as a struct, and as the netlink attributes that carry them.
 *
 * The kernel merges: what a change leaves out stays as the last message set it. So a struct netem
 * is always complete, and netem_encode with NETEM_ALL sends every attribute, zeros too. What
 * cannot be reset is a distribution table: a struct with jitter should have one (table.h has
 * the uniform one, which is what netem does without).
 *
 * Source: net/sched/sch_netem.c and include/uapi/linux/pkt_sched.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "emu/netem/attributes.h"

struct nl_msg;

#define NETEM_ALWAYS UINT32_MAX /* a probability of 1 */

/* NETEM_LOSS_UNSPEC: independent loss with `loss`; GE: Gilbert-Elliott; GI: four states. */
struct netem_loss_model {
	int kind;		    /* NETEM_LOSS_* of the kernel's header */
	struct tc_netem_gemodel ge; /* h: delivered in the bad state, k1: lost in the good one */
	struct tc_netem_gimodel gi;
};

/* Values of a distribution in units of sigma / 8192, sorted or not. Borrowed. */
struct netem_table {
	const int16_t *values;
	size_t count; /* 0: none; at most NETEM_DIST_MAX */
};

/* Probabilities and correlations are shares of 2^32 - 1. */
struct netem {
	int64_t latency_ns, jitter_ns;
	uint32_t limit; /* packets, of any size */
	uint32_t loss, duplicate;
	uint32_t gap; /* with reorder: one packet of so many may overtake */
	struct tc_netem_corr correlation;
	struct tc_netem_reorder reorder;
	struct tc_netem_corrupt corrupt;
	uint64_t rate;		 /* bytes/s, 0: none */
	int32_t packet_overhead; /* bytes, may be negative */
	uint32_t cell_size;
	int32_t cell_overhead;
	struct netem_loss_model model;
	bool ecn; /* mark instead of dropping, where the packet allows it */
	struct tc_netem_slot slot;
	bool has_seed;
	uint64_t seed;
	struct netem_table delay_table, slot_table; /* the kernel does not give them back */
};

/* Which attributes a message carries: bits 1 << TCA_NETEM_*. The fixed head always goes. */
#define NETEM_SEND(attribute) (1u << (attribute))
#define NETEM_ALL UINT32_MAX

/* A probability (0 to 1) in the kernel's units, rounded as tc does. */
uint32_t netem_probability(double p);

/*
 * Gilbert-Elliott by its mean loss (0 to below 1) and mean burst in packets (>= 1), all lost in
 * the bad state and `good_loss` of the others: r = 1 / burst, p = loss r / (1 - loss).
 */
void netem_gilbert(struct netem *n, double loss, double burst, double good_loss);

/*
 * Appends TCA_OPTIONS. Tables go when their count is not 0, the loss model when it is not plain
 * loss (its absence resets it), the seed when there is one. -NLE_NOMEM when the message is full.
 */
int netem_encode(struct nl_msg *msg, const struct netem *n, uint32_t attributes);

/*
 * From the payload of TCA_OPTIONS. Tables point into it. -EINVAL (STATUS_MACHINE) with the
 * attribute that has a wrong size; unknown attributes are passed over.
 */
int netem_decode(struct netem *out, const void *options, size_t size, struct error *err);
