/*
 * The queueing disciplines of devices as the kernel tells them, each with the raw options that
 * would make it again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "emu/netem/qdisc.h"

struct nl_sock;

struct qdisc_node {
	struct qdisc qdisc;
	uint8_t *options; /* the payload of TCA_OPTIONS; NULL: there is none */
	size_t options_size;
};

struct qdiscs {
	size_t n;
	struct qdisc_node *nodes; /* in the kernel's order: parents before children */
};

/* Those of all devices of the namespace. STATUS_MACHINE. */
int qdiscs_read(struct qdiscs *out, struct nl_sock *sock, struct error *err);
void qdiscs_release(struct qdiscs *t); /* a zeroed one too */

/* The one at a place of a device (TC_H_ROOT, TC_H_INGRESS, a class); NULL when there is none. */
const struct qdisc_node *qdiscs_at(const struct qdiscs *t, int index, uint32_t parent);
/* Whether one has this handle's major number. */
const struct qdisc_node *qdiscs_handle(const struct qdiscs *t, int index, uint32_t handle);

/* Is it one that somebody set? The kernel's own have no handle. */
static inline bool qdisc_is_set(const struct qdisc_node *n)
{
	return n && n->qdisc.place.handle;
}

/* "fq_codel 8001:" or, for one of the kernel's own, "fq_codel". Returns text. */
char *qdisc_name(char *text, size_t size, const struct qdisc_node *n);
