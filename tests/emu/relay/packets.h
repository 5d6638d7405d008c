/* Hand-made packets, and checksums by RFC 1071's definition, for the relay's tests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKETS_MAX 70000

struct packets_tcp {
	int version;	      /* 4 or 6 */
	int to;		      /* destination site */
	int payload, segment; /* TCP payload bytes; gso_size, 0: not a super-packet */
	int options;	      /* bytes of TCP options, a multiple of 4 */
	uint8_t flags;
	uint32_t sequence;
	uint16_t id;
};

/* Writes vnet header, IP, TCP and a payload of byte i = i * 7 + i / 251; returns the length. */
size_t packets_tcp(uint8_t *frame, const struct packets_tcp *tcp);

/* A UDP datagram over IPv4 or IPv6 with a complete checksum; returns the frame's length. */
size_t packets_udp(uint8_t *frame, int version, int to, int payload);

/* One's complement sum of big-endian 16-bit words, an odd byte padded with zero. */
uint16_t packets_sum(const uint8_t *p, size_t bytes, uint32_t start);

/*
 * Completes a partial checksum as a network card would, from csum_start and csum_offset of the
 * vnet header, then checks it against the definition (pseudo-header from the addresses), and the
 * IPv4 header's. Says which is wrong, NULL if none.
 */
const char *packets_check(uint8_t *frame, size_t bytes);
