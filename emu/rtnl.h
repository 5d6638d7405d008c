/*
 * Route netlink: the few requests that set up a site's device, in the network namespace the
 * calling thread is in at rtnl_open.
 *
 * The messages are built with libnl-3. libnl-route has no setter for gso_max_size, nor for a
 * route's congestion control (its metrics are numbers only).
 */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error.h"

struct nl_sock;

/* The socket stays bound to the namespace it was opened in. Close with rtnl_close. */
int rtnl_open(struct nl_sock **out, struct error *err);
struct nl_sock *rtnl_close(struct nl_sock *sock); /* accepts NULL, returns NULL */

/* A link's settings; 0 leaves one as it is. The link comes up. */
struct rtnl_link_settings {
	int mtu, txqueuelen;
	int gso_max_size; /* bytes; the kernel applies it to IPv4 as well when <= 65536 */
};

/* All four: 0, or the kernel's negative errno with STATUS_MACHINE and what was asked. */
int rtnl_device_index(const char *device, int *index, struct error *err);
int rtnl_device_up(struct nl_sock *sock, int index, const struct rtnl_link_settings *settings,
	struct error *err);
/* The host's own address (/32 or /128), usable at once: no duplicate address detection. */
int rtnl_add_address(
	struct nl_sock *sock, int index, int family, const void *address, struct error *err);
/*
 * Everything is reached through the device. congestion: the congestion control of connections
 * that use the route, "" for the namespace's.
 */
int rtnl_add_default_route(
	struct nl_sock *sock, int index, int family, const char *congestion, struct error *err);
