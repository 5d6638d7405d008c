/*
 * The network devices of the namespace that the program is in: who they are, what they stand on,
 * and the two settings that decide whether packets come one by one or as super-packets.
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct nl_sock;

struct device {
	int index;
	char name[IFNAMSIZ];
	char kind[16];	     /* "veth", "ifb", ...; "" for a card */
	unsigned short type; /* ARPHRD_* */
	int mtu;
	bool up;
	int master; /* the bridge, bond or VRF that it belongs to; 0: none */
	int below;  /* the device in this namespace that it stands on (of a VLAN); 0: none */
	uint32_t gso_max_segs, tso_max_segs; /* 0: the kernel does not tell */
};

struct devices {
	size_t n;
	struct device *list;
};

/* All devices, by index. STATUS_MACHINE. devices_release is for a zeroed struct too. */
int devices_read(struct devices *out, struct nl_sock *sock, struct error *err);
void devices_release(struct devices *d);

/* NULL when there is none. */
const struct device *devices_find(const struct devices *d, int index);
/* STATUS_INPUT, with the nearest or with all there are, when there is none of this name. */
int devices_named(
	const struct device **out, const struct devices *d, const char *name, struct error *err);

/* The bytes in front of a packet that a qdisc on the device counts: 14 on Ethernet, else 0. */
int device_header(const struct device *d);

/* How many segments a super-packet may have when it is sent: 1 sends every packet by itself. */
int device_set_gso(struct nl_sock *sock, int index, uint32_t segments, struct error *err);

/* Whether the device merges what it receives (GRO); false too where it cannot be asked. */
bool device_merges(const char *name);
int device_set_merges(const char *name, bool on, struct error *err);

/* A device that hands what is redirected to it back to the stack, through a qdisc; it is up. */
int device_add_ifb(struct nl_sock *sock, const char *name, int *index, struct error *err);
int device_delete(struct nl_sock *sock, int index, struct error *err);
