/*
 * A packet as the TUN hands it over: a virtio-net header, then an IP packet, which may be a
 * super-packet of many wire segments (TSO). This finds its shape, and makes the headers of a
 * piece of it, so that a decision can fall on one wire segment while the rest travels whole.
 *
 * Everything in a packet is the sites' and is not trusted: no size is used before it is checked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PACKET_VNET_BYTES 10 /* struct virtio_net_hdr, legacy, native byte order */
#define PACKET_FRAME_MAX (PACKET_VNET_BYTES + 65535)
#define PACKET_HEADER_MAX 256 /* longest IP + TCP header that is taken apart */

/* What a packet is on the wire. */
struct packet_shape {
	uint16_t ip_bytes;	/* IP length, header included */
	uint16_t header_bytes;	/* IP and TCP header of each segment; 0 when it is one segment */
	uint16_t segment_bytes; /* TCP payload of each segment but the last; 0 when it is one */
	uint16_t n_segments;	/* wire segments, >= 1 */
	uint8_t version;	/* 4 or 6 */
	uint8_t l4_offset;	/* of the TCP header from the IP header; 0 when it is one segment */
	int16_t site; /* the destination's site number from its address; -1: none of ours */
};

/*
 * The shape of a frame of `bytes` bytes of which the first `head_bytes` lie at head. 0, or
 * -EBADMSG when it is not a well-formed packet of a kind that the TUN was asked to give.
 */
int packet_parse(struct packet_shape *out, const uint8_t *head, size_t head_bytes, size_t bytes);

/* IP bytes on the wire of segments [first, first + count), each with `overhead` more. */
int64_t packet_wire_bytes(const struct packet_shape *s, int first, int count, int overhead);

/* A part of a super-packet: new headers, and where its payload lies in the frame. */
struct packet_piece {
	uint8_t head[PACKET_VNET_BYTES + PACKET_HEADER_MAX];
	size_t head_bytes;
	size_t payload_offset, payload_bytes;
};

/*
 * Segments [first, first + count) of the super-packet as a packet of its own, as segmentation
 * would have made them: lengths, IPv4 id and checksum, TCP sequence, FIN and PSH only on the
 * last, CWR only on the first, the pseudo-header's sum in TCP's checksum for its length.
 * head must hold the vnet header and header_bytes more.
 */
void packet_cut(struct packet_piece *out, const struct packet_shape *s, const uint8_t *head,
	int first, int count);
