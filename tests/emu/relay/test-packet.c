/* Shapes of packets, and pieces of super-packets against segments made by hand. */
#include "tests/test.h"

#include <errno.h>
#include <linux/virtio_net.h>
#include <string.h>

#include "emu/relay/packet.h"
#include "emu/relay/tun.h"
#include "tests/emu/relay/packets.h"

#define FIN 0x01
#define PSH 0x08
#define ACK 0x10
#define CWR 0x80

static void test_shape_of_a_super_packet(void **state)
{
	static uint8_t frame[PACKETS_MAX];
	const struct packets_tcp tcp = {
		.version = 4, .to = 5, .payload = 10000, .segment = 1448, .options = 12};
	struct packet_shape s;
	size_t n = packets_tcp(frame, &tcp);

	assert_int_equal(packet_parse(&s, frame, 182, n), 0);
	assert_int_equal(s.version, 4);
	assert_int_equal(s.site, 5);
	assert_int_equal(s.ip_bytes, 20 + 32 + 10000);
	assert_int_equal(s.header_bytes, 52);
	assert_int_equal(s.segment_bytes, 1448);
	assert_int_equal(s.n_segments, 7); /* 6 * 1448 = 8688, 1312 left */
	assert_int_equal(packet_wire_bytes(&s, 0, 1, 14), 1514);
	assert_int_equal(packet_wire_bytes(&s, 6, 1, 14), 1312 + 52 + 14);
	assert_int_equal(packet_wire_bytes(&s, 5, 2, 14), 1514 + 1378);
	assert_int_equal(packet_wire_bytes(&s, 0, 7, 38), 10000 + 7 * (52 + 38));
}

static void test_shape_of_plain_packets(void **state)
{
	static uint8_t frame[PACKETS_MAX];
	struct packet_shape s;

	for (int version = 4; version <= 6; version += 2) {
		int header = version == 4 ? 20 : 40;
		size_t n = packets_udp(frame, version, 63, 100);

		assert_int_equal(packet_parse(&s, frame, n, n), 0);
		assert_int_equal(s.site, 63);
		assert_int_equal(s.n_segments, 1);
		assert_int_equal(packet_wire_bytes(&s, 0, 1, 14), header + 8 + 100 + 14);
	}
}

/* A super-packet of one segment only is still one, and of exactly two is two. */
static void test_segment_counts(void **state)
{
	static uint8_t frame[PACKETS_MAX];
	const struct {
		int payload, segments;
	} cases[] = {{1, 1}, {1448, 1}, {1449, 2}, {2896, 2}, {2897, 3}, {65160, 45}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct packets_tcp tcp = {
			.version = 6, .payload = cases[i].payload, .segment = 1448, .options = 12};
		struct packet_shape s;
		size_t n = packets_tcp(frame, &tcp);

		assert_int_equal(packet_parse(&s, frame, n, n), 0);
		assert_int_equal(s.n_segments, cases[i].segments);
	}
}

/* Puts the piece together as it is written to the device. */
static size_t piece_frame(uint8_t *out, const struct packet_piece *piece, const uint8_t *frame)
{
	memcpy(out, piece->head, piece->head_bytes);
	memcpy(out + piece->head_bytes, frame + piece->payload_offset, piece->payload_bytes);
	return piece->head_bytes + piece->payload_bytes;
}

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void check_piece(const struct packets_tcp *tcp, int first, int count)
{
	static uint8_t frame[PACKETS_MAX], out[PACKETS_MAX], want[PACKETS_MAX];
	int header = (tcp->version == 4 ? 20 : 40) + 20 + tcp->options;
	int segments = (tcp->payload + tcp->segment - 1) / tcp->segment;
	int from = first * tcp->segment, until = (first + count) * tcp->segment;
	struct packets_tcp piece_tcp = *tcp;
	struct virtio_net_hdr vnet;
	struct packet_piece piece;
	struct packet_shape s;
	size_t n = packets_tcp(frame, tcp), got;

	if (until > tcp->payload)
		until = tcp->payload;
	assert_int_equal(packet_parse(&s, frame, n, n), 0);
	packet_cut(&piece, &s, frame, first, count);
	got = piece_frame(out, &piece, frame);

	/* The packet that would have been made of this part from the start. */
	piece_tcp.payload = until - from;
	piece_tcp.segment = count > 1 ? tcp->segment : 0;
	piece_tcp.sequence += (uint32_t)from;
	piece_tcp.id = (uint16_t)(piece_tcp.id + first);
	if (first + count < segments)
		piece_tcp.flags &= (uint8_t) ~(FIN | PSH);
	if (first > 0)
		piece_tcp.flags &= (uint8_t)~CWR;
	assert_int_equal(packets_tcp(want, &piece_tcp), got);
	memcpy(want + 10 + header, frame + 10 + header + from, (size_t)(until - from));
	assert_memory_equal(out, want, got);

	memcpy(&vnet, out, sizeof vnet);
	assert_int_equal(vnet.gso_size, piece_tcp.segment);
	if (tcp->version == 4)
		assert_int_equal(be16(out + 10 + 2), got - 10);
	assert_null(packets_check(out, got));
}

static void test_every_piece(void **state)
{
	for (int version = 4; version <= 6; version += 2) {
		const struct packets_tcp tcp = {.version = version,
			.to = 1,
			.payload = 8000,
			.segment = 1448,
			.options = 12,
			.flags = FIN | PSH | ACK | CWR,
			.sequence = 0xfffff000,
			.id = 0xfffd}; /* both wrap inside */

		for (int first = 0; first < 6; first++)
			for (int count = 1; first + count <= 6; count++)
				check_piece(&tcp, first, count);
	}
}

/* Odd sizes: checksums of odd lengths, no options, the most options. */
static void test_odd_pieces(void **state)
{
	const int options[] = {0, 4, 40};

	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const struct packets_tcp tcp = {.version = 4,
			.payload = 5 * 1001 + 1,
			.segment = 1001,
			.options = options[i],
			.flags = PSH | ACK};

		for (int first = 0; first < 6; first++)
			check_piece(&tcp, first, 1);
		check_piece(&tcp, 1, 3);
	}
}

static void test_ecn_stays_on_the_first(void **state)
{
	static uint8_t frame[PACKETS_MAX];
	const struct packets_tcp tcp = {
		.version = 4, .payload = 6000, .segment = 1448, .flags = ACK | CWR};
	struct virtio_net_hdr vnet;
	struct packet_piece piece;
	struct packet_shape s;
	size_t n = packets_tcp(frame, &tcp);

	memcpy(&vnet, frame, sizeof vnet);
	vnet.gso_type |= VIRTIO_NET_HDR_GSO_ECN;
	memcpy(frame, &vnet, sizeof vnet);
	assert_int_equal(packet_parse(&s, frame, n, n), 0);
	packet_cut(&piece, &s, frame, 0, 2);
	memcpy(&vnet, piece.head, sizeof vnet);
	assert_int_equal(vnet.gso_type, VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN);
	packet_cut(&piece, &s, frame, 1, 2);
	memcpy(&vnet, piece.head, sizeof vnet);
	assert_int_equal(vnet.gso_type, VIRTIO_NET_HDR_GSO_TCPV4);
}

static void test_foreign_destinations(void **state)
{
	static uint8_t frame[PACKETS_MAX];
	struct packet_shape s;
	size_t n = packets_udp(frame, 4, 0, 10);

	frame[10 + 18] = 1; /* 198.18.1.1 */
	assert_int_equal(packet_parse(&s, frame, n, n), 0);
	assert_int_equal(s.site, -1);
	n = packets_udp(frame, 4, -1, 10); /* 198.18.0.0 */
	assert_int_equal(packet_parse(&s, frame, n, n), 0);
	assert_int_equal(s.site, -1);
	n = packets_udp(frame, 6, 0, 10);
	frame[10 + 24] = 0xff; /* multicast */
	assert_int_equal(packet_parse(&s, frame, n, n), 0);
	assert_int_equal(s.site, -1);
}

static void spoil(uint8_t *frame, size_t n, size_t at, uint8_t value)
{
	uint8_t before = frame[at];
	struct packet_shape s;

	frame[at] = value;
	assert_int_equal(packet_parse(&s, frame, n, n), -EBADMSG);
	frame[at] = before;
	assert_int_equal(packet_parse(&s, frame, n, n), 0);
}

static void test_malformed(void **state)
{
	static uint8_t frame[PACKETS_MAX];
	const struct packets_tcp tcp = {.version = 4, .payload = 3000, .segment = 1448};
	const struct packets_tcp tcp6 = {.version = 6, .payload = 3000, .segment = 1448};
	struct packet_shape s;
	size_t n = packets_tcp(frame, &tcp);

	for (size_t short_of = 0; short_of < n; short_of += short_of < 80 ? 1 : 500)
		assert_int_equal(packet_parse(&s, frame, short_of, short_of), -EBADMSG);
	assert_int_equal(packet_parse(&s, frame, 10 + 39, n), -EBADMSG); /* TCP outside the head */
	assert_int_equal(packet_parse(&s, frame, 182, PACKET_FRAME_MAX + 1), -EBADMSG);
	spoil(frame, n, 10, 0x55);	     /* IP version 5 */
	spoil(frame, n, 10, 0x44);	     /* IPv4 header of 16 bytes */
	spoil(frame, n, 10 + 3, 0);	     /* total length */
	spoil(frame, n, 10 + 9, 17);	     /* a super-packet of UDP */
	spoil(frame, n, 10 + 6, 0x20);	     /* a fragment */
	spoil(frame, n, 10 + 20 + 12, 0x40); /* TCP header of 16 bytes */
	spoil(frame, n, 1, 4);		     /* gso_type of IPv6 */
	spoil(frame, n, 1, 3);		     /* UDP fragmentation was not asked for */
	memset(frame + 4, 0, 2);	     /* gso_size */
	assert_int_equal(packet_parse(&s, frame, n, n), -EBADMSG);

	n = packets_tcp(frame, &tcp6);
	spoil(frame, n, 10 + 5, 1);  /* payload length */
	spoil(frame, n, 10 + 6, 58); /* ICMP */
	frame[10 + 6] = 0;	     /* options whose length leads out of the packet */
	frame[10 + 41] = 255;
	assert_int_equal(packet_parse(&s, frame, n, n), -EBADMSG);
}

/* TCP behind an IPv6 extension header of 8 bytes (RFC 8200: next header, length - 1 in eights). */
static void check_ipv6_extension(uint8_t type, const uint8_t *options)
{
	static uint8_t frame[PACKETS_MAX], longer[PACKETS_MAX];
	const struct packets_tcp tcp = {.version = 6, .to = 2, .payload = 3000, .segment = 1448};
	struct packet_piece piece;
	struct packet_shape s;
	size_t n = packets_tcp(frame, &tcp);

	memcpy(longer, frame, 50);
	memcpy(longer + 50, options, 8);
	memcpy(longer + 58, frame + 50, n - 50);
	longer[10 + 6] = type;
	longer[6] = 48; /* csum_start, little-endian machines only */
	longer[10 + 4] = (uint8_t)((n - 50 + 8) >> 8);
	longer[10 + 5] = (uint8_t)(n - 50 + 8);
	assert_int_equal(packet_parse(&s, longer, n + 8, n + 8), 0);
	assert_int_equal(s.l4_offset, 48);
	assert_int_equal(s.header_bytes, 68);
	assert_int_equal(s.n_segments, 3);
	packet_cut(&piece, &s, longer, 2, 1);
	memcpy(frame, piece.head, piece.head_bytes);
	memcpy(frame + piece.head_bytes, longer + piece.payload_offset, piece.payload_bytes);
	assert_int_equal(piece.payload_bytes, 104);
	assert_null(packets_check(frame, piece.head_bytes + piece.payload_bytes));
}

static void test_ipv6_extensions(void **state)
{
	const uint8_t options[8] = {6, 0, 1, 4};   /* a pad of 4 */
	const uint8_t routing[8] = {6, 0, 253, 0}; /* of an experimental type, at its end */

	check_ipv6_extension(0, options);
	check_ipv6_extension(43, routing);
	check_ipv6_extension(60, options);
}

/* Whole full segments in 0.25 ms, at least one, at most 64 KiB; 400 bytes for the headers. */
static void test_super_packet_sizes(void **state)
{
	assert_int_equal(tun_gso_max_size(1000), 1448 + 400);
	assert_int_equal(tun_gso_max_size(96895999), 1448 + 400); /* just not two: 3027.99 bytes */
	assert_int_equal(tun_gso_max_size(96896000), 2 * 1448 + 400);
	assert_int_equal(tun_gso_max_size(1000000000), 20 * 1448 + 400); /* 31250 / 1514 */
	assert_int_equal(tun_gso_max_size(INT64_C(10000000000)), 65536);
	assert_int_equal(tun_gso_max_size(INT64_C(100000000000)), 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape_of_a_super_packet),
		cmocka_unit_test(test_shape_of_plain_packets),
		cmocka_unit_test(test_segment_counts),
		cmocka_unit_test(test_every_piece),
		cmocka_unit_test(test_odd_pieces),
		cmocka_unit_test(test_ecn_stays_on_the_first),
		cmocka_unit_test(test_foreign_destinations),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_ipv6_extensions),
		cmocka_unit_test(test_super_packet_sizes),
	};

	return cmocka_run_group_tests_name("relay packet", tests, NULL, NULL);
}
