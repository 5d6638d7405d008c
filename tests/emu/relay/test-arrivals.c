/* The time at which a site's stack hands a packet to its device, noted by the kernel. */
#include "tests/test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/relay/arrivals.h"
#include "emu/relay/packet.h"
#include "emu/relay/tun.h"
#include "tests/emu/relay/rig.h"

#define PORT 5001
#define BYTES 1000
#define FRAME (PACKET_VNET_BYTES + 28 + BYTES)

struct devices {
	struct rig rig;
	int fds[2];
	struct arrivals *arrivals;
};

static void devices_up(struct devices *d)
{
	struct error err = {0};

	if (backend_relay.probe(&err) < 0)
		skip();
	rig_new(&d->rig, 2, &(struct rig_link){.rate_bps = 1000000});
	rig_topology(&d->rig, "", 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(topology_enter(d->rig.topology, i, &err), 0);
		assert_int_equal(tun_open(&d->fds[i], SITE_DEVICE, &err), 0);
		assert_int_equal(topology_leave(d->rig.topology, &err), 0);
		assert_int_equal(topology_attach(d->rig.topology, i, 1500, 1000, 0, &err), 0);
	}
	d->arrivals = arrivals_new(d->fds, 2);
}

static void devices_down(struct devices *d)
{
	arrivals_free(d->arrivals);
	for (int i = 0; i < 2; i++)
		close(d->fds[i]);
	rig_down(&d->rig);
}

static void send_from(const struct devices *d, int site)
{
	static const char data[BYTES];
	int fd = rig_socket(&d->rig, site, AF_INET, SOCK_DGRAM, 0, PORT);
	unsigned length;
	struct sockaddr_storage to = rig_address(1 - site, AF_INET, PORT, &length);

	assert_int_equal(sendto(fd, data, BYTES, 0, (struct sockaddr *)&to, length), BYTES);
	close(fd);
}

/* Whether the datagram lies in the device whole, among what the stack sends by itself. */
static bool passed_whole(int fd)
{
	char frame[2 * FRAME];
	ssize_t n;

	while ((n = read(fd, frame, sizeof frame)) > 0)
		if (n == FRAME)
			return true;
	return false;
}

static void test_first_since_the_reset(void **state)
{
	struct devices d;

	devices_up(&d);
	if (arrivals_known(d.arrivals) < 0) {
		devices_down(&d);
		skip();
	}
	for (int round = 0; round < 3; round++) {
		int64_t before_ns = clock_now_ns(), first_ns, after_ns;

		arrivals_reset(d.arrivals);
		send_from(&d, round % 2);
		after_ns = clock_now_ns();
		first_ns = arrivals_first_ns(d.arrivals, round % 2);
		assert_in_range(first_ns, before_ns, after_ns);
		assert_int_not_equal(arrivals_first_ns(d.arrivals, 1 - round % 2), first_ns);
		send_from(&d, round % 2);
		assert_int_equal(arrivals_first_ns(d.arrivals, round % 2), first_ns);
		assert_true(passed_whole(d.fds[round % 2]));
	}
	devices_down(&d);
}

/* Where the kernel refuses, the times are unknown and nothing else happens. */
static void test_unknown(void **state)
{
	int null = open("/dev/null", O_RDWR);
	struct arrivals *a = arrivals_new(&null, 1);

	assert_true(arrivals_known(a) < 0);
	arrivals_reset(a);
	assert_int_equal(arrivals_first_ns(a, 0), 0);
	assert_null(arrivals_free(a));
	assert_null(arrivals_free(NULL));
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_since_the_reset),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
