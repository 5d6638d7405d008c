/*
 * Super-packets: their shape, and cutting them. Layouts from RFC 791, 8200 and 9293 and virtio
 * 1.2 section 5.1.6; what segmentation does to each field from Linux' tcp_gso_segment and
 * inet_gso_segment, which is what the sites' kernels would have done themselves.
 */
#include "emu/relay/packet.h"

#include <errno.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <string.h>

#define TCP_FIN 0x01
#define TCP_PSH 0x08
#define TCP_CWR 0x80
#define TCP_SEQUENCE 4
#define TCP_OFFSET 12
#define TCP_FLAGS 13
#define TCP_CHECKSUM 16
#define TCP_HEADER_MIN 20
#define IPV4_HEADER_MIN 20
#define IPV6_HEADER 40

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

static uint32_t sum16(const uint8_t *p, size_t bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes; i += 2)
		sum += get16(p + i);
	return sum;
}

static unsigned fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* 198.18.0.(i+1) and 2001:2::(i+1), as topology.h numbers the sites. */
static int16_t site_of(const uint8_t *address, size_t prefix_bytes, const uint8_t *prefix)
{
	if (memcmp(address, prefix, prefix_bytes) != 0 || address[prefix_bytes] == 0)
		return -1;
	return (int16_t)(address[prefix_bytes] - 1);
}

static int parse_ipv4(struct packet_shape *s, const uint8_t *ip, size_t head, int *protocol)
{
	static const uint8_t prefix[] = {198, 18, 0};
	size_t header;

	if (head < IPV4_HEADER_MIN)
		return -EBADMSG;
	header = (size_t)(ip[0] & 15) * 4;
	if (header < IPV4_HEADER_MIN || header > head || get16(ip + 2) != s->ip_bytes)
		return -EBADMSG;
	s->l4_offset = (uint8_t)header;
	s->site = site_of(ip + 16, sizeof prefix, prefix);
	*protocol = (get16(ip + 6) & 0x3fff) != 0 ? IPPROTO_RAW : ip[9]; /* a fragment has no L4 */
	return 0;
}

static int parse_ipv6(struct packet_shape *s, const uint8_t *ip, size_t head, int *protocol)
{
	static const uint8_t prefix[15] = {0x20, 0x01, 0x00, 0x02};
	size_t at = IPV6_HEADER;

	if (head < IPV6_HEADER || get16(ip + 4) + IPV6_HEADER != s->ip_bytes)
		return -EBADMSG;
	s->site = site_of(ip + 24, sizeof prefix, prefix);
	*protocol = ip[6];
	while (*protocol == IPPROTO_HOPOPTS || *protocol == IPPROTO_DSTOPTS ||
		*protocol == IPPROTO_ROUTING) {
		if (at + 8 > head || at + 8 > UINT8_MAX)
			break;
		*protocol = ip[at];
		at += ((size_t)ip[at + 1] + 1) * 8;
	}
	s->l4_offset = (uint8_t)(at <= UINT8_MAX ? at : 0);
	return 0;
}

/* A super-packet: the TCP header must lie in the head, or it could not be cut. */
static int parse_segments(
	struct packet_shape *s, const struct virtio_net_hdr *vnet, const uint8_t *ip, size_t head)
{
	size_t header, payload;

	if (s->l4_offset == 0 || s->l4_offset + (size_t)TCP_HEADER_MIN > head ||
		vnet->gso_size == 0)
		return -EBADMSG;
	header = (size_t)(ip[s->l4_offset + TCP_OFFSET] >> 4) * 4;
	if (header < TCP_HEADER_MIN || s->l4_offset + header > head ||
		s->l4_offset + header > PACKET_HEADER_MAX || s->l4_offset + header >= s->ip_bytes)
		return -EBADMSG;
	header += s->l4_offset;
	payload = s->ip_bytes - header;
	s->header_bytes = (uint16_t)header;
	s->segment_bytes = vnet->gso_size;
	s->n_segments = (uint16_t)((payload + vnet->gso_size - 1) / vnet->gso_size);
	return 0;
}

int packet_parse(struct packet_shape *out, const uint8_t *head, size_t head_bytes, size_t bytes)
{
	struct packet_shape s = {.n_segments = 1, .site = -1};
	const uint8_t *ip = head + PACKET_VNET_BYTES;
	struct virtio_net_hdr vnet;
	int protocol, type, r;

	if (head_bytes > bytes)
		head_bytes = bytes;
	if (head_bytes <= PACKET_VNET_BYTES || bytes > PACKET_FRAME_MAX)
		return -EBADMSG;
	memcpy(&vnet, head, sizeof vnet);
	head_bytes -= PACKET_VNET_BYTES;
	s.ip_bytes = (uint16_t)(bytes - PACKET_VNET_BYTES);
	s.version = ip[0] >> 4;
	if (s.version == 4)
		r = parse_ipv4(&s, ip, head_bytes, &protocol);
	else if (s.version == 6)
		r = parse_ipv6(&s, ip, head_bytes, &protocol);
	else
		r = -EBADMSG;
	if (r < 0)
		return r;
	type = vnet.gso_type & ~VIRTIO_NET_HDR_GSO_ECN;
	if (type == VIRTIO_NET_HDR_GSO_NONE) {
		s.l4_offset = 0;
	} else {
		if (protocol != IPPROTO_TCP || type != (s.version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4
								       : VIRTIO_NET_HDR_GSO_TCPV6))
			return -EBADMSG;
		r = parse_segments(&s, &vnet, ip, head_bytes);
		if (r < 0)
			return r;
	}
	*out = s;
	return 0;
}

/* TCP payload of segments [first, first + count). */
static size_t payload_bytes(const struct packet_shape *s, int first, int count)
{
	size_t total = (size_t)s->ip_bytes - s->header_bytes;
	size_t from = (size_t)first * s->segment_bytes;
	size_t until = (size_t)(first + count) * s->segment_bytes;

	return (until < total ? until : total) - from;
}

int64_t packet_wire_bytes(const struct packet_shape *s, int first, int count, int overhead)
{
	if (s->header_bytes == 0)
		return s->ip_bytes + overhead;
	return (int64_t)count * (s->header_bytes + overhead) +
	       (int64_t)payload_bytes(s, first, count);
}

/* Pseudo-header of TCP: addresses, protocol and length, folded and not complemented. */
static unsigned pseudo_sum(const struct packet_shape *s, const uint8_t *ip, size_t tcp_bytes)
{
	uint32_t sum = IPPROTO_TCP + (uint32_t)tcp_bytes;

	sum += s->version == 4 ? sum16(ip + 12, 8) : sum16(ip + 8, 32);
	return fold(sum);
}

static void cut_ip(const struct packet_shape *s, uint8_t *ip, int first, size_t ip_bytes)
{
	if (s->version == 6) {
		put16(ip + 4, (unsigned)(ip_bytes - IPV6_HEADER));
		return;
	}
	put16(ip + 2, (unsigned)ip_bytes);
	put16(ip + 4, get16(ip + 4) + (unsigned)first);
	put16(ip + 10, 0);
	put16(ip + 10, ~fold(sum16(ip, (size_t)(ip[0] & 15) * 4)));
}

static void cut_tcp(const struct packet_shape *s, uint8_t *tcp, int first, int count)
{
	put32(tcp + TCP_SEQUENCE, get32(tcp + TCP_SEQUENCE) + (uint32_t)first * s->segment_bytes);
	if (first + count < s->n_segments)
		tcp[TCP_FLAGS] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	if (first > 0)
		tcp[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
}

void packet_cut(struct packet_piece *out, const struct packet_shape *s, const uint8_t *head,
	int first, int count)
{
	uint8_t *ip = out->head + PACKET_VNET_BYTES, *tcp = ip + s->l4_offset;
	struct virtio_net_hdr vnet;

	out->head_bytes = (size_t)PACKET_VNET_BYTES + s->header_bytes;
	out->payload_offset = out->head_bytes + (size_t)first * s->segment_bytes;
	out->payload_bytes = payload_bytes(s, first, count);
	memcpy(out->head, head, out->head_bytes);
	memcpy(&vnet, head, sizeof vnet);
	vnet.hdr_len = s->header_bytes;
	if (count == 1) {
		vnet.gso_type = VIRTIO_NET_HDR_GSO_NONE;
		vnet.gso_size = 0;
	} else if (first > 0) {
		vnet.gso_type &= (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;
	}
	memcpy(out->head, &vnet, sizeof vnet);
	cut_ip(s, ip, first, s->header_bytes + out->payload_bytes);
	cut_tcp(s, tcp, first, count);
	put16(tcp + TCP_CHECKSUM,
		pseudo_sum(s, ip, s->header_bytes - s->l4_offset + out->payload_bytes));
}
