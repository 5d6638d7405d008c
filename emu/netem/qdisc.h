/*
 * Queueing disciplines of a device: set, read back, compare. Every change is one message with
 * every attribute; what the kernel did not take is an error.
 */
#pragma once

#include "emu/netem/netem.h"
#include "emu/netem/tbf.h"

struct nl_msg;
struct nl_sock;
struct nlmsghdr;

#define QDISC_KIND_MAX 16

/* Where: TC_H_ROOT or a class of another as parent; handle 0: the kernel chooses. */
struct qdisc_place {
	int index; /* of the device */
	uint32_t parent, handle;
};

/* QDISC_CHANGE leaves packets and counters as they are. */
enum qdisc_verb { QDISC_ADD, QDISC_CHANGE, QDISC_REPLACE };

/* The kernel's counters. Of a device's root; bytes as its size table counts them. */
struct qdisc_counters {
	uint64_t bytes, packets; /* that left it */
	uint64_t drops;		 /* packets */
	uint64_t backlog_bytes, backlog_packets;
};

/* A qdisc as the kernel tells it. */
struct qdisc {
	char kind[QDISC_KIND_MAX];
	struct qdisc_place place;
	struct qdisc_counters counters;
	struct netem netem; /* of kind netem; its tables are not known */
	struct tbf tbf;	    /* of kind tbf */
	int frame_overhead; /* of its size table: what a packet counts more than its bytes */
};

/*
 * The requests, to be sent with rtnl_request; NULL when there is no memory. frame_overhead: what
 * each packet counts more than its bytes on the device, may be negative (the kernel's size
 * table, "stab"); what is below a qdisc with an overhead counts it too.
 */
struct nl_msg *qdisc_netem_message(enum qdisc_verb verb, const struct qdisc_place *place,
	const struct netem *n, int frame_overhead, uint32_t attributes);
struct nl_msg *qdisc_tbf_message(enum qdisc_verb verb, const struct qdisc_place *place,
	const struct tbf *t, int frame_overhead);
struct nl_msg *qdisc_delete_message(const struct qdisc_place *place);

/*
 * Sets and reads back. Negative errno and STATUS_MACHINE with the kernel's words, with what to
 * do where a module is missing (-ENOENT), or -EBADE with the fields that the kernel did not
 * take; the qdisc is then as the kernel made it.
 */
int qdisc_set_netem(struct nl_sock *sock, enum qdisc_verb verb, const struct qdisc_place *place,
	const struct netem *n, int frame_overhead, struct error *err);
int qdisc_set_tbf(struct nl_sock *sock, enum qdisc_verb verb, const struct qdisc_place *place,
	const struct tbf *t, int frame_overhead, struct error *err);
/*
 * One of any kind with raw options, as the kernel told them (NULL: none). Nothing is read
 * back.
 */
int qdisc_set_raw(struct nl_sock *sock, enum qdisc_verb verb, const struct qdisc_place *place,
	const char *kind, const void *options, size_t size, int frame_overhead, struct error *err);
int qdisc_delete(struct nl_sock *sock, const struct qdisc_place *place, struct error *err);

/*
 * A qdisc from a message of the kernel (its options are decoded where their kind is known):
 * -ENOMSG for another message, -EINVAL (STATUS_MACHINE) for one that makes no sense.
 */
int qdisc_parse(struct qdisc *out, struct nlmsghdr *message, struct error *err);

/* The qdisc at a place (its handle is not looked at); kind "" when only the kernel's own is there.
 */
int qdisc_read(struct nl_sock *sock, const struct qdisc_place *place, struct qdisc *out,
	struct error *err);
