/*
 * Route netlink: the few requests that set up a site's device, in the network namespace the
 * calling thread is in at rtnl_open.
 *
 * The messages are built with libnl-3. libnl-route has no setter for gso_max_size, nor for a
 * route's congestion control (its metrics are numbers only).
 */
#pragma once

#include <netinet/in.h>
#include <netlink/handlers.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"

struct nl_sock;

/* The socket stays bound to the namespace it was opened in. Close with rtnl_close. */
int rtnl_open(struct nl_sock **out, struct error *err);
struct nl_sock *rtnl_close(struct nl_sock *sock); /* accepts NULL, returns NULL */

#define RTNL_ROOM 4096
#define RTNL_SAID 256

/* A request of up to room bytes, its family header copied in; NULL when there is no memory. */
struct nl_msg *rtnl_message(int type, int flags, size_t room, const void *header, size_t size);

/* What to do with each message of an answer; see NL_CB_VALID of libnl. */
struct rtnl_reader {
	nl_recvmsg_msg_cb_t read;
	void *context;
};

/*
 * Sends a message that asks for an acknowledgement or a dump, frees it (NULL is -ENOMEM), and
 * waits for the answer's end: 0 or a negative errno, -EINTR for a dump that the kernel had to
 * interrupt. said: the kernel's own words about an error (extended ACK), "" if it has none.
 */
int rtnl_request(struct nl_sock *sock, struct nl_msg *msg, const struct rtnl_reader *reader,
	char said[static RTNL_SAID]);

/* What to do with a dump: begin empties what an interrupted one has left. */
struct rtnl_dumper {
	nl_recvmsg_msg_cb_t read;
	void (*begin)(void *context);
	void *context;
};

/*
 * All objects of a kind, told by one header. A dump that the kernel had to interrupt, because what
 * it tells changed meanwhile, is begun again; -EINTR when five were, with words of ours in said.
 */
int rtnl_dump(struct nl_sock *sock, int type, const void *header, size_t size,
	const struct rtnl_dumper *dumper, char said[static RTNL_SAID]);

/* An error with STATUS_MACHINE: the sentence, what the code means, and the kernel's words. */
int rtnl_refused(struct error *err, int code, const char *said, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A link's settings; 0 leaves one as it is. The link comes up. */
struct rtnl_link_settings {
	int mtu, txqueuelen;
	int gso_max_size; /* bytes; the kernel applies it to IPv4 as well when <= 65536 */
};

/* All of these: 0, or the kernel's negative errno with STATUS_MACHINE and what was asked. */
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

/* One end of a veth pair: its name, and the namespace that it is made in. */
struct rtnl_veth_end {
	const char *name;
	int netns_fd;
};

/*
 * A veth pair whose ends need no neighbour resolution: both have the same address and take what
 * is sent to it. Super-packets are split before they enter it (gso_max_segs 1). Neither is up.
 */
int rtnl_add_veth(struct nl_sock *sock, const struct rtnl_veth_end ends[2], struct error *err);

/* One address is reached through the device. */
int rtnl_add_host_route(
	struct nl_sock *sock, int index, int family, const void *address, struct error *err);

/* A device's counters, from both sides' view. */
struct rtnl_counters {
	uint64_t rx_packets, rx_bytes; /* bytes with the Ethernet header */
	uint64_t tx_dropped;	       /* what a veth's other end had no room for */
};
int rtnl_read_counters(
	struct nl_sock *sock, int index, struct rtnl_counters *out, struct error *err);
