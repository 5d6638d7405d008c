/*
 * Sites and their network, as anonymous namespaces.
 *
 * A site is a network and a UTS namespace held by file descriptors and the processes in it,
 * and by nothing else: no /run/netns entry, no persistent device. When the program dies, by
 * SIGKILL too, the kernel takes everything away.
 *
 * Addresses are from the ranges reserved for benchmarking: 198.18.0.0/15 (RFC 2544) and
 * 2001:2::/48 (RFC 5180); site i (from 0) is 198.18.0.(i+1) and 2001:2::(i+1).
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define SITES_MAX 64
#define SITE_NAME_MAX 64
#define SITE_DEVICE "wan0"

/*
 * How TCP behaves in every site's namespace (sysctls of the namespace, never global ones).
 *
 * A connection starts with both buffers at their maximum instead of growing into it:
 * - The receiver's window then follows what arrives (it grows by twice every segment received,
 *   ahead of the sender's slow start) and never waits for autotuning, which needs a round of
 *   measurements per enlargement.
 * - The send buffer would stop growing once all sockets of the machine hold tcp_mem[0] pages,
 *   which a few hundred MB in flight reach. The price is that write() takes up to send_buffer
 *   bytes that are not sent yet: an application that wants to know what the link takes sets
 *   TCP_NOTSENT_LOWAT.
 * The kernel keeps part of either buffer for its own overhead (38 % with Linux 6.18): count on
 * half of it as window, as the usual advice of twice the bandwidth-delay product does.
 * Metrics of earlier connections are not kept, so that runs do not influence each other.
 */
struct topology_tcp {
	char congestion[16];	/* must be available in this kernel; "" leaves the default */
	int64_t receive_buffer; /* tcp_rmem max, bytes, at most INT_MAX */
	int64_t send_buffer;	/* tcp_wmem max, bytes, at most INT_MAX */
	bool slow_start_after_idle;
};

struct topology_site {
	char name[SITE_NAME_MAX];
	int netns_fd, utsns_fd;
	struct in_addr address;
	struct in6_addr address6;
};

struct topology {
	int home_fd;	 /* the program's own empty network namespace */
	int home_uts_fd; /* and its UTS namespace */
	bool ipv6;	 /* false when the kernel has none: the sites have IPv4 only */
	/*
	 * A congestion control that the kernel keeps out of the namespaces' setting (it is not in
	 * the machine's tcp_allowed_congestion_control) but permits per route; "" otherwise.
	 */
	char route_congestion[16];
	int n_sites;
	struct topology_site sites[SITES_MAX];
};

/*
 * Prepares the calling (single-threaded) process: when it may not create namespaces (it is not
 * root), enters a user namespace that maps the caller to root; then moves into an empty network
 * and a UTS namespace of its own. Nothing the process does afterwards reaches the machine's
 * network. STATUS_MACHINE with the remedy when not permitted. Call once, before topology_up.
 */
int topology_isolate(struct error *err);

/*
 * Creates the sites: namespaces, host names (= site names), lo up, TCP settings. No device yet:
 * a backend brings those and calls topology_attach. names are borrowed. A process of group 0
 * may send ICMP echoes without capabilities. STATUS_INPUT for what the caller asked wrongly,
 * STATUS_MACHINE for what this machine does not have; nothing remains then, and the caller is
 * in the namespaces it was in.
 */
int topology_up(struct topology **out, int n_sites, const char *const *names,
	const struct topology_tcp *tcp, struct error *err);

/*
 * Inside the site's namespace (the caller is back home afterwards): device SITE_DEVICE gets the
 * site's addresses (no DAD), MTU, txqueuelen, gso_max_size (0 leaves it), comes up, and becomes the
 * default route.
 */
int topology_attach(const struct topology *t, int site, int mtu, int txqueuelen, int gso_max_size,
	struct error *err);

/* Moves the calling process into the site's network and UTS namespace, or back home. */
int topology_enter(const struct topology *t, int site, struct error *err);
int topology_leave(const struct topology *t, struct error *err);

/*
 * A namespace that forwards between the devices it is given, in *netns_fd for the caller to
 * close. topology_enter_router moves the calling process into it, topology_leave back home.
 */
int topology_router(const struct topology *t, int *netns_fd, struct error *err);
int topology_enter_router(int netns_fd, struct error *err);

/* The network namespace that the caller is in, as an open file for the caller to close. */
int topology_here(int *netns_fd, struct error *err);

struct topology *topology_down(struct topology *t); /* accepts NULL, returns NULL */

/* Drops every capability of the calling process, for good. */
int topology_drop_capabilities(struct error *err);
