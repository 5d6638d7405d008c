/* TUN devices; see tun.h and the kernel's Documentation/networking/tuntap.rst. */
#include "emu/relay/tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "emu/link.h"

#define TUN_PATH "/dev/net/tun"
#define SEGMENT_PAYLOAD 1448 /* of a full TCP segment with timestamps */
#define SUPER_PACKET_NS (250 * NS_PER_US)
#define HEADER_RESERVE 400 /* above MAX_TCP_HEADER, which the kernel takes off */
#define SUPER_PACKET_MAX 65536

static int open_error(int code, struct error *err)
{
	if (code == -ENOENT)
		return error_set(err, code, STATUS_MACHINE,
			TUN_PATH
			" does not exist\nas root: modprobe tun; mkdir -p /dev/net; mknod " TUN_PATH
			" c 10 200\nin a container: start it with --device " TUN_PATH);
	if (code == -ENODEV || code == -ENXIO)
		return error_set(err, code, STATUS_MACHINE,
			TUN_PATH " has no driver behind it: %s\nas root, on the host: modprobe tun",
			strerror(-code));
	if (code == -EACCES || code == -EPERM)
		return error_set(err, code, STATUS_MACHINE,
			TUN_PATH
			" may not be opened: %s\nrun as root, or as root once: chmod 666 " TUN_PATH
			"\nin a container: start it with --device " TUN_PATH,
			strerror(-code));
	return error_sys(err, code, "cannot open " TUN_PATH);
}

static int create_error(int code, const char *device, struct error *err)
{
	if (code == -EPERM)
		return error_set(err, code, STATUS_MACHINE,
			"the device %s may not be created: %s\nrun as root, or in a container with "
			"--cap-add NET_ADMIN",
			device, strerror(-code));
	if (code == -ENOTTY)
		return error_set(err, code, STATUS_MACHINE,
			TUN_PATH " is not the TUN device but another one, or a file: %s\nas root: "
				 "rm " TUN_PATH "; mknod " TUN_PATH
				 " c 10 200\nin a container: start it with --device " TUN_PATH,
			strerror(-code));
	return error_sys(err, code, "cannot create the TUN device %s with super-packets", device);
}

int tun_open(int *out, const char *device, struct error *err)
{
	const unsigned offloads = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
	struct ifreq ifr = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
	_close_ int fd = open(TUN_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return open_error(-errno, err);
	snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", device);
	if (ioctl(fd, TUNSETIFF, &ifr) < 0 || ioctl(fd, TUNSETOFFLOAD, offloads) < 0)
		return create_error(-errno, device, err);
	*out = fd;
	fd = -1;
	return 0;
}

int tun_gso_max_size(int64_t rate_bps)
{
	int64_t frame = LINK_MTU + LINK_OVERHEAD_ETHERNET;
	int64_t segments = clock_bytes_in(SUPER_PACKET_NS, rate_bps) / frame, size;

	if (segments < 1)
		segments = 1;
	size = segments * SEGMENT_PAYLOAD + HEADER_RESERVE;
	return size < SUPER_PACKET_MAX ? (int)size : SUPER_PACKET_MAX;
}
