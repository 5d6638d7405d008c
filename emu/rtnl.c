/* Route netlink requests; see rtnl.h. Each is one message, acknowledged by the kernel. */
#include "emu/rtnl.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/memory.h"

int rtnl_open(struct nl_sock **out, struct error *err)
{
	struct nl_sock *sock = nl_socket_alloc();
	const int on = 1; /* before Linux 4.12 the kernel has no words for errors */
	int r;

	if (!sock)
		return error_sys(err, -ENOMEM, "a netlink socket");
	r = nl_connect(sock, NETLINK_ROUTE);
	if (r < 0) {
		nl_socket_free(sock);
		return error_set(err, -EIO, STATUS_MACHINE,
			"cannot open a route netlink socket: %s", nl_geterror(r));
	}
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
	*out = sock;
	return 0;
}

struct nl_sock *rtnl_close(struct nl_sock *sock)
{
	nl_socket_free(sock);
	return NULL;
}

struct answer {
	int code;
	bool done;
	char *said;
};

/* The kernel's words, in the attributes behind an error that says it has some. */
static void keep_words(const struct nlmsgerr *reply, char said[static RTNL_SAID])
{
	const struct nlmsghdr *h = (const void *)((const char *)reply - NLMSG_HDRLEN);
	size_t used = sizeof *reply;
	const struct nlattr *a;
	int left;

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		used += NLMSG_ALIGN(reply->msg.nlmsg_len - sizeof reply->msg);
	nla_for_each_attr(a, (const struct nlattr *)((const char *)reply + used),
		(int)(h->nlmsg_len - NLMSG_HDRLEN - used), left)
	{
		if (nla_type(a) == NLMSGERR_ATTR_MSG)
			nla_strlcpy(said, a, RTNL_SAID);
	}
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *reply, void *context)
{
	struct answer *a = context;

	a->code = reply->error;
	a->done = true;
	keep_words(reply, a->said);
	return NL_STOP;
}

static int on_done(struct nl_msg *msg, void *context)
{
	((struct answer *)context)->done = true;
	return NL_STOP;
}

int rtnl_request(struct nl_sock *sock, struct nl_msg *msg, const struct rtnl_reader *reader,
	char said[static RTNL_SAID])
{
	struct answer a = {.said = said};
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int r = -NLE_NOMEM;

	*said = '\0';
	if (cb && msg) {
		nl_cb_err(cb, NL_CB_CUSTOM, on_error, &a);
		nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_done, &a);
		nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_done, &a);
		if (reader)
			nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, reader->read, reader->context);
		r = nl_send_auto(sock, msg);
		while (r >= 0 && !a.done)
			r = nl_recvmsgs(sock, cb);
	}
	nl_cb_put(cb);
	nlmsg_free(msg);
	if (a.code)
		return a.code;
	return r >= 0 ? 0 : r == -NLE_DUMP_INTR ? -EINTR : r == -NLE_NOMEM ? -ENOMEM : -EIO;
}

struct nl_msg *rtnl_message(int type, int flags, size_t room, const void *header, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc_size(room);

	if (!msg)
		return NULL;
	if (!nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0, NLM_F_REQUEST | flags) ||
		nlmsg_append(msg, (void *)header, size, NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int rtnl_refused(struct error *err, int code, const char *said, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (!*said)
		return error_sys(err, code, "%s", text);
	return error_set(err, code, STATUS_MACHINE, "%s: %s (the kernel says: %s)", text,
		strerror(-code), said);
}

#define DUMPS 5

int rtnl_dump(struct nl_sock *sock, int type, const void *header, size_t size,
	const struct rtnl_dumper *dumper, char said[static RTNL_SAID])
{
	const struct rtnl_reader reader = {dumper->read, dumper->context};
	int r = -EINTR;

	for (int i = 0; r == -EINTR && i < DUMPS; i++) {
		dumper->begin(dumper->context);
		r = rtnl_request(sock, rtnl_message(type, NLM_F_DUMP, RTNL_ROOM, header, size),
			&reader, said);
	}
	if (r == -EINTR && !*said)
		snprintf(said, RTNL_SAID,
			"what was asked for changed while it was told, %d times in a row", DUMPS);
	return r;
}

/* A request of which only success matters. */
static struct nl_msg *message(int type, int flags, const void *header, size_t size)
{
	return rtnl_message(type, NLM_F_ACK | flags, RTNL_ROOM, header, size);
}

/* Not by if_nametoindex, which hides why it could not look. */
int rtnl_device_index(const char *device, int *index, struct error *err)
{
	_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};

	if (fd < 0)
		return error_sys(err, -errno, "cannot open a socket to look for device %s", device);
	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
	if (ioctl(fd, SIOCGIFINDEX, &request) < 0)
		return error_sys(err, -errno, "no device %s in the site", device);
	*index = request.ifr_ifindex;
	return 0;
}

int rtnl_device_up(struct nl_sock *sock, int index, const struct rtnl_link_settings *settings,
	struct error *err)
{
	struct ifinfomsg header = {.ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	struct nl_msg *msg = message(RTM_NEWLINK, 0, &header, sizeof header);
	char said[RTNL_SAID];
	int r;

	if (msg && settings->mtu)
		nla_put_u32(msg, IFLA_MTU, (uint32_t)settings->mtu);
	if (msg && settings->txqueuelen)
		nla_put_u32(msg, IFLA_TXQLEN, (uint32_t)settings->txqueuelen);
	if (msg && settings->gso_max_size)
		nla_put_u32(msg, IFLA_GSO_MAX_SIZE, (uint32_t)settings->gso_max_size);
	r = rtnl_request(sock, msg, NULL, said);
	if (r < 0)
		rtnl_refused(err, r, said,
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
	char said[RTNL_SAID];
	int r;

	if (msg) {
		nla_put(msg, IFA_LOCAL, size, address);
		nla_put(msg, IFA_ADDRESS, size, address);
	}
	r = rtnl_request(sock, msg, NULL, said);
	if (r < 0)
		rtnl_refused(err, r, said, "cannot give device %d its IPv%d address", index,
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
	char said[RTNL_SAID];
	struct nlattr *metrics;
	int r;

	if (msg)
		nla_put_u32(msg, RTA_OIF, (uint32_t)index);
	if (msg && *congestion) {
		metrics = nla_nest_start(msg, RTA_METRICS);
		nla_put_string(msg, RTAX_CC_ALGO, congestion);
		nla_nest_end(msg, metrics);
	}
	r = rtnl_request(sock, msg, NULL, said);
	if (r < 0)
		rtnl_refused(err, r, said,
			"cannot add the IPv%d default route through device %d%s%s",
			family == AF_INET6 ? 6 : 4, index,
			*congestion ? " with congestion control " : "", congestion);
	return r;
}

/* What both ends of a pair are alike in. */
static void put_end(struct nl_msg *msg, const struct rtnl_veth_end *end)
{
	static const uint8_t address[] = {0x02, 0, 0, 0, 0, 0x01}; /* locally administered */

	nla_put_string(msg, IFLA_IFNAME, end->name);
	nla_put(msg, IFLA_ADDRESS, sizeof address, address);
	nla_put_u32(msg, IFLA_GSO_MAX_SEGS, 1);
	nla_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)end->netns_fd);
}

int rtnl_add_veth(struct nl_sock *sock, const struct rtnl_veth_end ends[2], struct error *err)
{
	/* with IFF_NOARP a packet goes to the sender's own address, which is the receiver's too */
	struct ifinfomsg header = {.ifi_flags = IFF_NOARP, .ifi_change = IFF_NOARP};
	struct nl_msg *msg =
		message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
	struct nlattr *info, *data, *peer;
	char said[RTNL_SAID];
	int r;

	if (msg) {
		put_end(msg, &ends[0]);
		info = nla_nest_start(msg, IFLA_LINKINFO);
		nla_put_string(msg, IFLA_INFO_KIND, "veth");
		data = nla_nest_start(msg, IFLA_INFO_DATA);
		peer = nla_nest_start(msg, VETH_INFO_PEER);
		nlmsg_append(msg, &header, sizeof header, NLMSG_ALIGNTO);
		put_end(msg, &ends[1]);
		nla_nest_end(msg, peer);
		nla_nest_end(msg, data);
		nla_nest_end(msg, info);
	}
	r = rtnl_request(sock, msg, NULL, said);
	if (r == -EOPNOTSUPP)
		return error_set(err, r, STATUS_MACHINE,
			"this kernel has no veth devices\nas root: modprobe veth");
	if (r < 0)
		rtnl_refused(err, r, said, "cannot make the veth pair %s and %s", ends[0].name,
			ends[1].name);
	return r;
}

int rtnl_add_host_route(
	struct nl_sock *sock, int index, int family, const void *address, struct error *err)
{
	int size = address_size(family);
	struct rtmsg header = {
		.rtm_family = (uint8_t)family,
		.rtm_dst_len = (uint8_t)(size * 8),
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = family == AF_INET6 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
		.rtm_type = RTN_UNICAST,
	};
	struct nl_msg *msg =
		message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
	char said[RTNL_SAID];
	int r;

	if (msg) {
		nla_put(msg, RTA_DST, size, address);
		nla_put_u32(msg, RTA_OIF, (uint32_t)index);
	}
	r = rtnl_request(sock, msg, NULL, said);
	if (r < 0)
		rtnl_refused(err, r, said, "cannot add an IPv%d route through device %d",
			family == AF_INET6 ? 6 : 4, index);
	return r;
}

static int read_link(struct nl_msg *msg, void *out)
{
	struct rtnl_link_stats64 stats = {0};
	struct rtnl_counters *c = out;
	const struct nlattr *a =
		nlmsg_find_attr(nlmsg_hdr(msg), sizeof(struct ifinfomsg), IFLA_STATS64);

	if (!a)
		return NL_SKIP;
	nla_memcpy(&stats, a, sizeof stats);
	*c = (struct rtnl_counters){stats.rx_packets, stats.rx_bytes, stats.tx_dropped};
	return NL_OK;
}

int rtnl_read_counters(
	struct nl_sock *sock, int index, struct rtnl_counters *out, struct error *err)
{
	struct ifinfomsg header = {.ifi_index = index};
	const struct rtnl_reader reader = {read_link, out};
	char said[RTNL_SAID];
	int r = rtnl_request(sock, message(RTM_GETLINK, 0, &header, sizeof header), &reader, said);

	return r < 0 ? rtnl_refused(err, r, said, "cannot read the counters of device %d", index)
		     : 0;
}
