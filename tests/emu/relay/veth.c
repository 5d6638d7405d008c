/* See veth.h; `ip` and `tc` make the devices. */
#include "tests/emu/relay/veth.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/relay/tun.h"

static void __attribute__((format(printf, 1, 2))) command(const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (system(text) != 0)
		exit(1);
}

static void attach_sites(const struct rig *rig, int gso_max_size)
{
	struct error err = {0};

	for (int i = 0; i < rig->n_sites; i++)
		if (topology_attach(rig->topology, i, LINK_MTU, 1000, gso_max_size, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			exit(1);
		}
}

void veth_up(struct rig *rig, const char *congestion, int64_t window_bytes)
{
	rig_topology(rig, congestion, window_bytes);
	command("ip link add " SITE_DEVICE " netns /proc/%d/fd/%d type veth peer name " SITE_DEVICE
		" netns /proc/%d/fd/%d",
		(int)getpid(), rig->topology->sites[0].netns_fd, (int)getpid(),
		rig->topology->sites[1].netns_fd);
	attach_sites(rig, 0);
}

void bridge_up(struct rig *rig, const char *congestion, int64_t window_bytes, int64_t rate_bps,
	int64_t queue_ns)
{
	rig_topology(rig, congestion, window_bytes);
	command("ip link add bridge0 type bridge && ip link set bridge0 up");
	for (int i = 0; i < rig->n_sites; i++)
		command("ip link add port%d type veth peer name " SITE_DEVICE
			" netns /proc/%d/fd/%d && ip link set port%d master bridge0 up",
			i, (int)getpid(), rig->topology->sites[i].netns_fd, i);
	command("tc qdisc add dev port0 root tbf rate %jdbit burst 40000 limit %jd",
		(intmax_t)rate_bps, (intmax_t)clock_bytes_in(queue_ns, rate_bps));
	attach_sites(rig, tun_gso_max_size(1));
}

void bridge_down(struct rig *rig)
{
	for (int i = 0; i < rig->n_sites; i++)
		command("ip link del port%d", i);
	command("ip link del bridge0");
	rig_down(rig);
}
