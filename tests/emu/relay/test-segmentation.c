/*
 * Cutting against the kernel's own segmentation. A namespace routes between two devices, one of
 * which cannot take super-packets: what is written to the first as one comes out of the second
 * in segments. Each must equal the piece that the relay cuts, but for the hop limit and the TCP
 * checksum, which the kernel completes.
 */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "emu/relay/packet.h"
#include "emu/relay/tun.h"
#include "tests/emu/relay/packets.h"
#include "tests/emu/relay/rig.h"

#define FIN 0x01
#define PSH 0x08
#define ACK 0x10
#define CWR 0x80

static int plain_tun(const char *name)
{
	struct ifreq ifr = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", name);
	assert_int_equal(ioctl(fd, TUNSETIFF, &ifr), 0);
	return fd;
}

/* In the namespace: in0 takes super-packets, out0 leads to the addresses of site 1. */
static void make_router(int *in, int *out)
{
	struct error err = {0};

	assert_int_equal(topology_isolate(&err), 0);
	assert_int_equal(tun_open(in, "in0", &err), 0);
	*out = plain_tun("out0");
	assert_int_equal(
		system("set -e; ip link set lo up; ip link set in0 up; ip link set out0 up;"
		       "ip addr add 198.18.0.9/32 dev in0;"
		       "ip route add 198.18.0.1 dev in0; ip route add 198.18.0.2 dev out0;"
		       "ip -6 addr add 2001:2::9/128 dev in0 nodad;"
		       "ip -6 route add 2001:2::1 dev in0;"
		       "ip -6 route add 2001:2::2 dev out0;"
		       "echo 1 >/proc/sys/net/ipv4/ip_forward;"
		       "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"),
		0);
}

/* The next IP packet of this version out of the router that is TCP; others are the kernel's. */
static size_t next_segment(int out, int version, uint8_t *ip, size_t size)
{
	for (;;) {
		struct pollfd p = {.fd = out, .events = POLLIN};
		ssize_t n;

		assert_true(poll(&p, 1, 2000) == 1);
		n = read(out, ip, size);
		assert_true(n > 0);
		if (ip[0] >> 4 == version && ip[version == 4 ? 9 : 6] == IPPROTO_TCP)
			return (size_t)n;
	}
}

static void compare(int in, int out, const struct packets_tcp *tcp)
{
	static uint8_t frame[PACKETS_MAX], want[PACKETS_MAX], got[PACKETS_MAX];
	size_t n = packets_tcp(frame, tcp), limit = PACKET_VNET_BYTES + (tcp->version == 4 ? 8 : 7);
	struct packet_piece piece;
	struct packet_shape s;

	assert_int_equal(write(in, frame, n), n);
	frame[limit]--; /* the router's hop; packet_cut makes the IPv4 checksum anew */
	assert_int_equal(packet_parse(&s, frame, n, n), 0);
	for (int i = 0; i < s.n_segments; i++) {
		size_t bytes = next_segment(out, tcp->version, got, sizeof got);

		packet_cut(&piece, &s, frame, i, 1);
		memcpy(want, piece.head, piece.head_bytes);
		memcpy(want + piece.head_bytes, frame + piece.payload_offset, piece.payload_bytes);
		assert_int_equal(bytes, piece.head_bytes + piece.payload_bytes - PACKET_VNET_BYTES);
		assert_null(packets_check(want, bytes + PACKET_VNET_BYTES)); /* completes it */
		assert_memory_equal(got, want + PACKET_VNET_BYTES, bytes);
	}
}

static void test_against_the_kernel(void **state)
{
	struct error err = {0};
	int in, out;

	if (backend_relay.probe(&err) < 0 || system("ip -V >/dev/null 2>&1") != 0)
		skip();
	make_router(&in, &out);
	for (int version = 4; version <= 6; version += 2) {
		struct packets_tcp tcp = {.version = version,
			.to = 1,
			.payload = 10 * 1000 + 77,
			.segment = 1000,
			.options = 12,
			.flags = ACK | PSH,
			.sequence = 0xffffe000,
			.id = 0xfff9};

		compare(in, out, &tcp);
		tcp.flags = ACK | PSH | FIN;
		tcp.payload = 3 * 1428;
		tcp.segment = 1428;
		compare(in, out, &tcp);
		tcp.flags = ACK | CWR;
		tcp.payload = 1429;
		tcp.options = 0;
		compare(in, out, &tcp);
	}
	close(in);
	close(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_the_kernel),
	};

	return cmocka_run_group_tests_name("relay segmentation", tests, NULL, NULL);
}
