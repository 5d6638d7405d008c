/*
 * A packet's size on the wire from its headers alone: see capture.h. A TCP packet larger than the
 * MTU is sent as full segments and a rest, each with the headers of the first.
 */
#include "emu/measure/capture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <xxhash.h>

#define IPV4_LEAST 20
#define IPV6_HEADER 40
#define TCP_LEAST 20
#define TCP_TIMESTAMP 8 /* option kind */

static unsigned at16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* The value of TCP's time stamp option, which tells a segment from its repetition; 0: none. */
static uint32_t timestamp(const uint8_t *tcp, size_t length)
{
	uint32_t value = 0;

	for (size_t i = TCP_LEAST; i + 1 < length && tcp[i] != 0;
		i += tcp[i] == 1 || tcp[i + 1] < 2 ? 1 : tcp[i + 1])
		if (tcp[i] == TCP_TIMESTAMP && i + 6 <= length)
			memcpy(&value, tcp + i + 2, sizeof value);
	return value;
}

static uint64_t key_of(const uint8_t *head, size_t ip, const uint8_t *tcp, size_t length)
{
	uint8_t name[32 + 4 + 4 + 4] = {0};
	size_t addresses = ip == IPV6_HEADER && head[0] >> 4 == 6 ? 32 : 8;
	uint32_t stamp = timestamp(tcp, length);

	memcpy(name, head + (addresses == 32 ? 8 : 12), addresses);
	memcpy(name + 32, tcp, 4);     /* ports */
	memcpy(name + 36, tcp + 4, 4); /* sequence number */
	memcpy(name + 40, &stamp, 4);
	return XXH3_64bits(name, sizeof name);
}

static void weigh_tcp(struct capture_packet *out, const uint8_t *head, size_t kept, size_t ip,
	size_t bytes, int overhead)
{
	const uint8_t *tcp = head + ip;
	size_t tcp_bytes = (size_t)(tcp[12] >> 4) * 4, headers = ip + tcp_bytes, payload, full;

	if (tcp_bytes < TCP_LEAST || headers > bytes)
		return;
	payload = bytes - headers;
	full = LINK_MTU - headers;
	if (payload > full)
		out->segments = (int)((payload + full - 1) / full);
	out->wire_bytes = (int64_t)(payload + (size_t)out->segments * (headers + (size_t)overhead));
	if (payload > 0)
		out->key = key_of(head, ip, tcp, kept - ip < tcp_bytes ? kept - ip : tcp_bytes);
}

int capture_weigh(
	struct capture_packet *out, const uint8_t *head, size_t kept, size_t bytes, int overhead)
{
	size_t ip, protocol;

	if (kept < IPV4_LEAST || (head[0] >> 4 != 4 && (head[0] >> 4 != 6 || kept < IPV6_HEADER)))
		return -EINVAL;
	ip = head[0] >> 4 == 4 ? (size_t)(head[0] & 15) * 4 : IPV6_HEADER;
	protocol = head[0] >> 4 == 4 ? head[9] : head[6];
	if (head[0] >> 4 == 4 && at16(head + 6) & 0x1fff) /* a fragment has no TCP header */
		protocol = 0;
	if (ip < IPV4_LEAST)
		return -EINVAL;
	*out = (struct capture_packet){
		.segments = 1, .wire_bytes = (int64_t)bytes + overhead, .key = 0};
	if (protocol == IPPROTO_TCP) {
		if (kept < ip + TCP_LEAST)
			return -EINVAL;
		weigh_tcp(out, head, kept, ip, bytes, overhead);
	}
	return 0;
}
