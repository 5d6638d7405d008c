/* Routes that pass a device; see carries.h. */
#include "emu/card/carries.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "emu/card/prefix.h"
#include "emu/rtnl.h"

#define DEPTH 8	     /* of devices on devices */
#define ANCESTORS 64 /* processes above this one */
#define VARIABLE "SSH_CONNECTION="

static bool through(const struct devices *all, int by, int d, int depth)
{
	const struct device *top = devices_find(all, by);

	if (by == d)
		return true;
	if (!top || !depth)
		return false;
	if (top->below && through(all, top->below, d, depth - 1))
		return true;
	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].master == by && through(all, all->list[i].index, d, depth - 1))
			return true;
	return false;
}

bool carries_through(const struct devices *all, int by, int d)
{
	return through(all, by, d, DEPTH);
}

struct search {
	const struct devices *all;
	int index;
	bool found;
};

static void check(struct search *s, int by)
{
	s->found |= by && carries_through(s->all, by, s->index);
}

/* A route's device, or those of its several ways. */
static int read_route(struct nl_msg *msg, void *context)
{
	const struct rtmsg *header = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[RTA_MAX + 1];
	struct search *s = context;

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWROUTE ||
		nlmsg_parse(nlmsg_hdr(msg), sizeof *header, tb, RTA_MAX, NULL) < 0)
		return NL_SKIP;
	if (tb[RTA_OIF])
		check(s, (int)nla_get_u32(tb[RTA_OIF]));
	if (!tb[RTA_MULTIPATH])
		return NL_OK;
	for (struct rtnexthop *hop = nla_data(tb[RTA_MULTIPATH]);
		RTNH_OK(hop, (char *)nla_data(tb[RTA_MULTIPATH]) + nla_len(tb[RTA_MULTIPATH]) -
				     (char *)hop);
		hop = RTNH_NEXT(hop))
		check(s, hop->rtnh_ifindex);
	return NL_OK;
}

static int read_default(struct nl_msg *msg, void *context)
{
	const struct rtmsg *header = nlmsg_data(nlmsg_hdr(msg));

	return header->rtm_dst_len || header->rtm_type != RTN_UNICAST ? NL_SKIP
								      : read_route(msg, context);
}

static void begin(void *context)
{
	((struct search *)context)->found = false;
}

static int find_default(struct search *s, int family, struct nl_sock *sock, struct error *err)
{
	const struct rtmsg header = {.rtm_family = (unsigned char)family};
	const struct rtnl_dumper dumper = {read_default, begin, s};
	char said[RTNL_SAID];
	int r = rtnl_dump(sock, RTM_GETROUTE, &header, sizeof header, &dumper, said);

	return r < 0 ? rtnl_refused(err, r, said, "the kernel does not tell its routes") : 0;
}

/* The other end's address, from the variable's value or an environment that has it. */
static bool read_peer(char peer[static INET6_ADDRSTRLEN], const char *value)
{
	size_t n = value ? strcspn(value, " %") : 0;

	if (!n || n >= INET6_ADDRSTRLEN)
		return false;
	memcpy(peer, value, n);
	peer[n] = '\0';
	return true;
}

static bool peer_of_process(char peer[static INET6_ADDRSTRLEN], int pid)
{
	_free_ char *path = memory_format("/proc/%d/environ", pid), *entry = NULL;
	_fclose_ FILE *f = fopen(path, "re");
	size_t room = 0;

	while (f && getdelim(&entry, &room, '\0', f) > 0)
		if (!strncmp(entry, VARIABLE, strlen(VARIABLE)))
			return read_peer(peer, entry + strlen(VARIABLE));
	return false;
}

static int parent_of(int pid)
{
	_free_ char *path = memory_format("/proc/%d/stat", pid);
	_fclose_ FILE *f = fopen(path, "re");
	char line[512], *name_end;
	int parent = 0;

	if (!f || !fgets(line, sizeof line, f))
		return 0;
	name_end = strrchr(line, ')');
	if (!name_end || sscanf(name_end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static bool find_peer(char peer[static INET6_ADDRSTRLEN])
{
	int pid = getppid();

	if (read_peer(peer, getenv("SSH_CONNECTION")))
		return true;
	for (int i = 0; i < ANCESTORS && pid > 1; i++, pid = parent_of(pid))
		if (peer_of_process(peer, pid))
			return true;
	return false;
}

/* A session that has no route here, from another namespace, is not carried here. */
static void find_session(struct search *s, const char *peer, struct nl_sock *sock)
{
	struct prefix to;
	struct rtmsg header = {0};
	const struct rtnl_reader reader = {read_route, s};
	struct error ignored = {0};
	struct nl_msg *msg;
	char said[RTNL_SAID];

	if (prefix_parse(&to, peer, &ignored) < 0)
		return;
	header.rtm_family = (unsigned char)to.family;
	header.rtm_dst_len = (unsigned char)to.length;
	msg = rtnl_message(RTM_GETROUTE, NLM_F_ACK, RTNL_ROOM, &header, sizeof header);
	if (msg)
		nla_put(msg, RTA_DST, prefix_bits(to.family) / 8, to.address);
	rtnl_request(sock, msg, &reader, said);
}

int carries_what(char text[static CARRIES_TEXT], const struct devices *all, const struct device *d,
	struct nl_sock *sock, struct error *err)
{
	struct search routes = {all, d->index, false}, session = routes;
	char peer[INET6_ADDRSTRLEN];
	bool found;
	int r = find_default(&routes, AF_INET, sock, err);

	found = routes.found;
	if (r == 0)
		r = find_default(&routes, AF_INET6, sock, err);
	found |= routes.found;
	if (r < 0)
		return r;
	if (find_peer(peer))
		find_session(&session, peer, sock);
	snprintf(text, CARRIES_TEXT, "%s%s%s%s", found ? "the default route" : "",
		found && session.found ? " and " : "",
		session.found ? "your SSH session from " : "", session.found ? peer : "");
	return 0;
}
