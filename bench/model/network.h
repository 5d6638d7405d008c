/*
 * What carries messages between the participants of a world. The model has one network
 * (flows.h); tests put others behind the same seam.
 */
#pragma once

#include "bench/runtime.h"

/* A message under way. Made by the world, and its again once it has arrived or was forgotten. */
struct parcel {
	int from, to; /* participants on different sites */
	uint32_t from_incarnation, to_incarnation;
	struct rt_message message; /* sent_ns is set */
	struct parcel *next;	   /* the network's while it has the parcel */
};

struct network {
	/* Takes a parcel; world_arrive or world_forget gives it back. */
	void (*send)(struct network *network, struct parcel *parcel);
	/* Forgets what is not on the line yet from a participant to another (-1: to anyone). */
	void (*purge)(struct network *network, int from, int to);
	/* Everything that happens at this instant has happened. May be NULL. */
	void (*settle)(struct network *network);
};
