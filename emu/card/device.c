/* Network devices by route netlink and, for GRO, by ethtool's ioctl; see device.h. */
#include "emu/card/device.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <net/if_arp.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "emu/link.h"
#include "emu/rtnl.h"

#define ATTRIBUTE_TSO_MAX_SEGS 60 /* IFLA_TSO_MAX_SEGS: Linux 5.19 */
#define ATTRIBUTES 80
#define QUEUE_LENGTH 1000 /* packets that an ifb holds while the stack is busy; 32 are usual */

static void begin(void *context)
{
	devices_release(context);
}

static void read_kind(struct device *d, const struct nlattr *info)
{
	struct nlattr *kind = nla_find(nla_data(info), nla_len(info), IFLA_INFO_KIND);

	if (kind)
		nla_strlcpy(d->kind, kind, sizeof d->kind);
}

static uint32_t number(const struct nlattr *a)
{
	return a ? nla_get_u32(a) : 0;
}

static int read_device(struct nl_msg *msg, void *context)
{
	const struct ifinfomsg *header = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[ATTRIBUTES + 1];
	struct devices *all = context;
	struct device d = {.index = header->ifi_index, .type = header->ifi_type};

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWLINK ||
		nlmsg_parse(nlmsg_hdr(msg), sizeof *header, tb, ATTRIBUTES, NULL) < 0 ||
		!tb[IFLA_IFNAME])
		return NL_SKIP;
	nla_strlcpy(d.name, tb[IFLA_IFNAME], sizeof d.name);
	d.up = header->ifi_flags & IFF_UP;
	d.mtu = (int)number(tb[IFLA_MTU]);
	d.master = (int)number(tb[IFLA_MASTER]);
	if (!tb[IFLA_LINK_NETNSID])
		d.below = (int)number(tb[IFLA_LINK]);
	d.gso_max_segs = number(tb[IFLA_GSO_MAX_SEGS]);
	d.tso_max_segs = number(tb[ATTRIBUTE_TSO_MAX_SEGS]);
	if (tb[IFLA_LINKINFO])
		read_kind(&d, tb[IFLA_LINKINFO]);
	all->list = memory_resize(all->list, all->n + 1, sizeof *all->list);
	all->list[all->n++] = d;
	return NL_OK;
}

int devices_read(struct devices *out, struct nl_sock *sock, struct error *err)
{
	const struct ifinfomsg header = {.ifi_family = AF_UNSPEC};
	struct devices all = {0};
	const struct rtnl_dumper dumper = {read_device, begin, &all};
	char said[RTNL_SAID];
	int r = rtnl_dump(sock, RTM_GETLINK, &header, sizeof header, &dumper, said);

	if (r < 0) {
		devices_release(&all);
		return rtnl_refused(err, r, said, "the kernel does not tell its devices");
	}
	*out = all;
	return 0;
}

void devices_release(struct devices *d)
{
	free(d->list);
	*d = (struct devices){0};
}

const struct device *devices_find(const struct devices *d, int index)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].index == index)
			return &d->list[i];
	return NULL;
}

int devices_named(
	const struct device **out, const struct devices *d, const char *name, struct error *err)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (!strcmp(d->list[i].name, name)) {
			*out = &d->list[i];
			return 0;
		}
		if (used < sizeof names - IFNAMSIZ - 8)
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
				used ? ", " : "", d->list[i].name);
	}
	return error_set(err, -ENODEV, STATUS_INPUT, "there is no device \"%.64s\"; there are: %s",
		name, names);
}

int device_header(const struct device *d)
{
	return d->type == ARPHRD_ETHER || d->type == ARPHRD_LOOPBACK ? LINK_OVERHEAD_ETHERNET : 0;
}

static struct nl_msg *message(int type, int flags, int index)
{
	const struct ifinfomsg header = {.ifi_index = index};

	return rtnl_message(type, NLM_F_ACK | flags, RTNL_ROOM, &header, sizeof header);
}

int device_set_gso(struct nl_sock *sock, int index, uint32_t segments, struct error *err)
{
	struct nl_msg *msg = message(RTM_NEWLINK, 0, index);
	char said[RTNL_SAID];
	int r;

	if (msg)
		nla_put_u32(msg, IFLA_GSO_MAX_SEGS, segments);
	r = rtnl_request(sock, msg, NULL, said);
	return r < 0 ? rtnl_refused(err, r, said,
			       "cannot set device %d's super-packets to %u segments", index,
			       segments)
		     : 0;
}

/* ethtool's ioctl with one number. */
static int ask_ethtool(const char *name, uint32_t command, uint32_t *value)
{
	_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ethtool_value v = {.cmd = command, .data = *value};
	struct ifreq request = {.ifr_data = (char *)&v};

	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request) < 0)
		return -errno;
	*value = v.data;
	return 0;
}

bool device_merges(const char *name)
{
	uint32_t on = 0;

	return ask_ethtool(name, ETHTOOL_GGRO, &on) == 0 && on;
}

int device_set_merges(const char *name, bool on, struct error *err)
{
	uint32_t value = on;
	int r = ask_ethtool(name, ETHTOOL_SGRO, &value);

	return r < 0 ? error_sys(err, r, "cannot switch %s's merging of received packets (GRO) %s",
			       name, on ? "on" : "off")
		     : 0;
}

int device_add_ifb(struct nl_sock *sock, const char *name, int *index, struct error *err)
{
	const struct ifinfomsg header = {.ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	struct nl_msg *msg = rtnl_message(RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
		RTNL_ROOM, &header, sizeof header);
	struct nlattr *info;
	char said[RTNL_SAID];
	int r;

	if (msg) {
		nla_put_string(msg, IFLA_IFNAME, name);
		nla_put_u32(msg, IFLA_TXQLEN, QUEUE_LENGTH);
		info = nla_nest_start(msg, IFLA_LINKINFO);
		nla_put_string(msg, IFLA_INFO_KIND, "ifb");
		nla_nest_end(msg, info);
	}
	r = rtnl_request(sock, msg, NULL, said);
	if (r == -EOPNOTSUPP)
		return error_set(err, r, STATUS_MACHINE,
			"this kernel has no ifb devices, which incoming packets need%s%s%s\nas "
			"root: modprobe ifb",
			*said ? " (it says: " : "", said, *said ? ")" : "");
	if (r < 0)
		return rtnl_refused(err, r, said, "cannot make the device %s", name);
	return rtnl_device_index(name, index, err);
}

int device_delete(struct nl_sock *sock, int index, struct error *err)
{
	char said[RTNL_SAID];
	int r = rtnl_request(sock, message(RTM_DELLINK, 0, index), NULL, said);

	return r < 0 ? rtnl_refused(err, r, said, "cannot remove device %d", index) : 0;
}
