/* Route netlink requests; see rtnl.h. Each is one message, acknowledged by the kernel. */
#include "emu/rtnl.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdint.h>

int rtnl_open(struct nl_sock **out, struct error *err)
{
	struct nl_sock *sock = nl_socket_alloc();
	int r;

	if (!sock)
		return error_sys(err, -ENOMEM, "a netlink socket");
	r = nl_connect(sock, NETLINK_ROUTE);
	if (r < 0) {
		nl_socket_free(sock);
		return error_set(err, -EIO, STATUS_MACHINE,
			"cannot open a route netlink socket: %s", nl_geterror(r));
	}
	*out = sock;
	return 0;
}

struct nl_sock *rtnl_close(struct nl_sock *sock)
{
	nl_socket_free(sock);
	return NULL;
}

static int keep_errno(struct sockaddr_nl *from, struct nlmsgerr *reply, void *code)
{
	*(int *)code = reply->error;
	return NL_STOP;
}

/* Sends the message, frees it, and returns the kernel's answer: 0 or a negative errno. */
static int request(struct nl_sock *sock, struct nl_msg *msg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int code = 0, r = -NLE_NOMEM;

	if (cb && msg) {
		nl_cb_err(cb, NL_CB_CUSTOM, keep_errno, &code);
		nl_socket_set_cb(sock, cb);
		r = nl_send_auto(sock, msg);
		if (r >= 0)
			r = nl_wait_for_ack(sock);
	}
	nl_cb_put(cb);
	nlmsg_free(msg);
	if (code)
		return code;
	return r < 0 ? -EIO : 0;
}

/* A request whose family header is copied in; NULL when there is no memory. */
static struct nl_msg *message(int type, int flags, const void *header, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | NLM_F_ACK | flags);

	if (msg && nlmsg_append(msg, (void *)header, size, NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int rtnl_device_index(const char *device, int *index, struct error *err)
{
	unsigned i = if_nametoindex(device);

	if (!i)
		return error_sys(err, -errno, "no device %s in the site", device);
	*index = (int)i;
	return 0;
}

int rtnl_device_up(struct nl_sock *sock, int index, const struct rtnl_link_settings *settings,
	struct error *err)
{
	struct ifinfomsg header = {.ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	struct nl_msg *msg = message(RTM_NEWLINK, 0, &header, sizeof header);
	int r;

	if (msg && settings->mtu)
		nla_put_u32(msg, IFLA_MTU, (uint32_t)settings->mtu);
	if (msg && settings->txqueuelen)
		nla_put_u32(msg, IFLA_TXQLEN, (uint32_t)settings->txqueuelen);
	if (msg && settings->gso_max_size)
		nla_put_u32(msg, IFLA_GSO_MAX_SIZE, (uint32_t)settings->gso_max_size);
	r = request(sock, msg);
	if (r < 0)
		error_sys(err, r,
			"cannot set up device %d (mtu %d, txqueuelen %d, gso_max_size %d)", index,
			settings->mtu, settings->txqueuelen, settings->gso_max_size);
	return r;
}

static int address_size(int family)
{
	return family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
}

int rtnl_add_address(
	struct nl_sock *sock, int index, int family, const void *address, struct error *err)
{
	int size = address_size(family);
	struct ifaddrmsg header = {
		.ifa_family = (uint8_t)family,
		.ifa_prefixlen = (uint8_t)(size * 8),
		.ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
		.ifa_index = (uint32_t)index,
	};
	struct nl_msg *msg =
		message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
	int r;

	if (msg) {
		nla_put(msg, IFA_LOCAL, size, address);
		nla_put(msg, IFA_ADDRESS, size, address);
	}
	r = request(sock, msg);
	if (r < 0)
		error_sys(err, r, "cannot give device %d its IPv%d address", index,
			family == AF_INET6 ? 6 : 4);
	return r;
}

int rtnl_add_default_route(
	struct nl_sock *sock, int index, int family, const char *congestion, struct error *err)
{
	struct rtmsg header = {
		.rtm_family = (uint8_t)family,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = family == AF_INET6 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
		.rtm_type = RTN_UNICAST,
	};
	struct nl_msg *msg =
		message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
	struct nlattr *metrics;
	int r;

	if (msg)
		nla_put_u32(msg, RTA_OIF, (uint32_t)index);
	if (msg && *congestion) {
		metrics = nla_nest_start(msg, RTA_METRICS);
		nla_put_string(msg, RTAX_CC_ALGO, congestion);
		nla_nest_end(msg, metrics);
	}
	r = request(sock, msg);
	if (r < 0)
		error_sys(err, r, "cannot add the IPv%d default route through device %d%s%s",
			family == AF_INET6 ? 6 : 4, index,
			*congestion ? " with congestion control " : "", congestion);
	return r;
}
