/* See packets.h. Written from RFC 791, 1071, 768, 8200 and 9293, not from the code under test. */
#include "tests/emu/relay/packets.h"

#include <arpa/inet.h>
#include <linux/virtio_net.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <string.h>

#define VNET sizeof(struct virtio_net_hdr)

uint16_t packets_sum(const uint8_t *p, size_t bytes, uint32_t start)
{
	uint64_t sum = start;

	for (size_t i = 0; i < bytes; i++)
		sum += i % 2 ? p[i] : (uint64_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Sum of the pseudo-header of an IP packet whose L4 part has l4 bytes. */
static uint16_t pseudo(const uint8_t *ip, int protocol, size_t l4)
{
	uint32_t start = (uint32_t)protocol + (uint32_t)(l4 >> 16) + (uint32_t)(l4 & 0xffff);

	return ip[0] >> 4 == 4 ? packets_sum(ip + 12, 8, start) : packets_sum(ip + 8, 32, start);
}

static size_t ip_header(uint8_t *ip, int version, int to, int protocol, size_t l4, uint16_t id)
{
	if (version == 4) {
		struct iphdr h = {
			.version = 4,
			.ihl = 5,
			.tot_len = htons((uint16_t)(sizeof h + l4)),
			.id = htons(id),
			.frag_off = htons(0x4000),
			.ttl = 64,
			.protocol = (uint8_t)protocol,
			.saddr = htonl(0xc6120001),
			.daddr = htonl(0xc6120001 + (unsigned)to),
		};

		memcpy(ip, &h, sizeof h);
		h.check = htons((uint16_t)~packets_sum(ip, sizeof h, 0));
		memcpy(ip, &h, sizeof h);
		return sizeof h;
	}
	struct ip6_hdr h6 = {0};

	h6.ip6_flow = htonl(0x60000000);
	h6.ip6_plen = htons((uint16_t)l4);
	h6.ip6_nxt = (uint8_t)protocol;
	h6.ip6_hlim = 64;
	inet_pton(AF_INET6, "2001:2::1", &h6.ip6_src);
	inet_pton(AF_INET6, "2001:2::", &h6.ip6_dst);
	h6.ip6_dst.s6_addr[15] = (uint8_t)(to + 1);
	memcpy(ip, &h6, sizeof h6);
	return sizeof h6;
}

static void fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + i / 251);
}

size_t packets_tcp(uint8_t *frame, const struct packets_tcp *tcp)
{
	size_t header = sizeof(struct tcphdr) + (size_t)tcp->options;
	size_t l4 = header + (size_t)tcp->payload;
	uint8_t *ip = frame + VNET;
	size_t ip_bytes = ip_header(ip, tcp->version, tcp->to, IPPROTO_TCP, l4, tcp->id);
	struct virtio_net_hdr vnet = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = (uint16_t)ip_bytes,
		.csum_offset = 16,
		.hdr_len = (uint16_t)(ip_bytes + header),
	};
	struct tcphdr h = {
		.source = htons(40000),
		.dest = htons(5001),
		.seq = htonl(tcp->sequence),
		.ack_seq = htonl(77),
		.doff = (uint8_t)(header / 4) & 15,
		.window = htons(1000),
		.check = htons(pseudo(ip, IPPROTO_TCP, l4)),
	};

	if (tcp->segment > 0) {
		vnet.gso_type =
			tcp->version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
		vnet.gso_size = (uint16_t)tcp->segment;
	}
	memcpy(frame, &vnet, sizeof vnet);
	memcpy(ip + ip_bytes, &h, sizeof h);
	ip[ip_bytes + 13] = tcp->flags;
	memset(ip + ip_bytes + sizeof h, 1, (size_t)tcp->options); /* no-operation options */
	fill(ip + ip_bytes + header, (size_t)tcp->payload);
	return VNET + ip_bytes + l4;
}

size_t packets_udp(uint8_t *frame, int version, int to, int payload)
{
	size_t l4 = sizeof(struct udphdr) + (size_t)payload;
	uint8_t *ip = frame + VNET;
	size_t ip_bytes = ip_header(ip, version, to, IPPROTO_UDP, l4, 1);
	struct udphdr h = {.source = htons(40000), .dest = htons(5001)};

	h.len = htons((uint16_t)l4);

	memset(frame, 0, VNET);
	memcpy(ip + ip_bytes, &h, sizeof h);
	fill(ip + ip_bytes + sizeof h, (size_t)payload);
	h.check = htons((uint16_t)~packets_sum(ip + ip_bytes, l4, pseudo(ip, IPPROTO_UDP, l4)));
	memcpy(ip + ip_bytes, &h, sizeof h);
	return VNET + ip_bytes + l4;
}

const char *packets_check(uint8_t *frame, size_t bytes)
{
	uint8_t *ip = frame + VNET, *l4;
	size_t total = bytes - VNET, l4_bytes;
	struct virtio_net_hdr vnet;
	uint16_t sum;

	memcpy(&vnet, frame, sizeof vnet);
	if (!(vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		return "the checksum is not partial any more";
	if (ip[0] >> 4 == 4 && packets_sum(ip, 20, 0) != 0xffff)
		return "IPv4 header checksum";
	l4 = ip + vnet.csum_start;
	l4_bytes = total - vnet.csum_start;
	sum = (uint16_t)~packets_sum(l4, l4_bytes, 0);
	l4[vnet.csum_offset] = (uint8_t)(sum >> 8);
	l4[vnet.csum_offset + 1] = (uint8_t)sum;
	if (packets_sum(l4, l4_bytes, pseudo(ip, IPPROTO_TCP, l4_bytes)) != 0xffff)
		return "TCP checksum";
	return NULL;
}
