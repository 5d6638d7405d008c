/* A range of addresses as users write it: 10.0.0.0/8, 2001:db8::/32; without a length one host. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PREFIX_TEXT 64

struct prefix {
	int family;	     /* AF_INET or AF_INET6 */
	int length;	     /* bits */
	uint8_t address[16]; /* of IPv4 the first 4; zero beyond the length */
};

/* STATUS_INPUT: what is wrong with it, and what would be right. */
int prefix_parse(struct prefix *out, const char *text, struct error *err);
char *prefix_format(char text[static PREFIX_TEXT], const struct prefix *p);
/* Of an address: 32 or 128. */
int prefix_bits(int family);
