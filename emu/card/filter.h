/*
 * Filters of qdiscs: which packets go to a class, or are redirected to another device. We set u32
 * ones, which every kernel with traffic control has, for IPv4 and IPv6 alike.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "emu/card/prefix.h"

struct nl_sock;

/* FILTER_OTHER: something that has no name here. */
enum filter_match { FILTER_ALL, FILTER_TO, FILTER_FROM, FILTER_OTHER };

struct filter {
	enum filter_match match;
	struct prefix prefix; /* TO, FROM */
	uint32_t class_id;    /* 0: none */
	int redirect;	      /* index of the device that they leave by; 0: none */
};

/* Adds one to the qdisc with this handle, as its first. STATUS_MACHINE. */
int filter_add(struct nl_sock *sock, int index, uint32_t parent, const struct filter *f,
	struct error *err);

struct filters {
	size_t n;
	struct filter *list;
};

/* Those of a qdisc, by its handle; of several kinds. filters_release is for a zeroed struct too. */
int filters_read(
	struct filters *out, struct nl_sock *sock, int index, uint32_t parent, struct error *err);
void filters_release(struct filters *f);
