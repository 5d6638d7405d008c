/*
 * u32 filters over route netlink; see filter.h. Offsets are those of the addresses in the
 * IPv4 (RFC 791) and IPv6 (RFC 8200) headers, where the kernel's keys count from.
 */
#include "emu/card/filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "emu/rtnl.h"

#define KEYS 4
#define WORD 32

struct selector {
	struct tc_u32_sel head;
	struct tc_u32_key keys[KEYS];
};

static int offset_of(const struct filter *f)
{
	if (f->prefix.family == AF_INET6)
		return f->match == FILTER_TO ? 24 : 8;
	return f->match == FILTER_TO ? 16 : 12;
}

static struct tc_u32_key key_of(const struct filter *f, int word)
{
	struct tc_u32_key key = {.off = offset_of(f) + 4 * word};
	int bits = f->prefix.length - WORD * word;

	memcpy(&key.val, f->prefix.address + 4 * word, sizeof key.val);
	key.mask = htonl(bits >= WORD ? UINT32_MAX : bits <= 0 ? 0 : UINT32_MAX << (WORD - bits));
	return key;
}

/* At least one key: what compares nothing matches everything. */
static size_t select_packets(struct selector *s, const struct filter *f)
{
	*s = (struct selector){.head = {.flags = TC_U32_TERMINAL, .nkeys = 1}};
	if (f->match != FILTER_ALL) {
		s->keys[0] = key_of(f, 0);
		for (int word = 1; word * WORD < f->prefix.length; word++)
			s->keys[s->head.nkeys++] = key_of(f, word);
	}
	return sizeof s->head + s->head.nkeys * sizeof *s->keys;
}

static uint16_t protocol_of(const struct filter *f)
{
	return f->match == FILTER_ALL	      ? ETH_P_ALL
	       : f->prefix.family == AF_INET6 ? ETH_P_IPV6
					      : ETH_P_IP;
}

static void put_redirect(struct nl_msg *msg, int to)
{
	const struct tc_mirred redirect = {
		.action = TC_ACT_STOLEN, .eaction = TCA_EGRESS_REDIR, .ifindex = (uint32_t)to};
	struct nlattr *all = nla_nest_start(msg, TCA_U32_ACT), *first, *options;

	first = nla_nest_start(msg, 1);
	nla_put_string(msg, TCA_ACT_KIND, "mirred");
	options = nla_nest_start(msg, TCA_ACT_OPTIONS);
	nla_put(msg, TCA_MIRRED_PARMS, sizeof redirect, &redirect);
	nla_nest_end(msg, options);
	nla_nest_end(msg, first);
	nla_nest_end(msg, all);
}

static void put_options(struct nl_msg *msg, const struct filter *f)
{
	struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);
	struct selector s;
	size_t size = select_packets(&s, f);

	if (f->class_id)
		nla_put_u32(msg, TCA_U32_CLASSID, f->class_id);
	if (f->redirect)
		put_redirect(msg, f->redirect);
	nla_put(msg, TCA_U32_SEL, (int)size, &s);
	nla_nest_end(msg, nest);
}

static int refused(struct error *err, int code, const char *said, const struct filter *f)
{
	const char *module = f->redirect ? "cls_u32 and act_mirred" : "cls_u32";

	if (code == -ENOENT)
		return error_set(err, code, STATUS_MACHINE,
			"this kernel has no %s%s%s%s\nas root: modprobe cls_u32 act_mirred; where "
			"there is no such module, another kernel has it",
			module, *said ? " (it says: " : "", said, *said ? ")" : "");
	return rtnl_refused(err, code, said, "the kernel refused a u32 filter");
}

int filter_add(
	struct nl_sock *sock, int index, uint32_t parent, const struct filter *f, struct error *err)
{
	const struct tcmsg header = {
		.tcm_ifindex = index,
		.tcm_parent = parent,
		.tcm_info = TC_H_MAKE(1 << 16, htons(protocol_of(f))),
	};
	struct nl_msg *msg = rtnl_message(RTM_NEWTFILTER, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
		RTNL_ROOM, &header, sizeof header);
	char said[RTNL_SAID];
	int r;

	if (msg) {
		nla_put_string(msg, TCA_KIND, "u32");
		put_options(msg, f);
	}
	r = rtnl_request(sock, msg, NULL, said);
	return r < 0 ? refused(err, r, said, f) : 0;
}

/* Where the kinds of filters have their class and their actions. */
static const struct {
	const char *kind;
	int class_id, actions;
} kinds[] = {
	{"u32", TCA_U32_CLASSID, TCA_U32_ACT},
	{"matchall", TCA_MATCHALL_CLASSID, TCA_MATCHALL_ACT},
	{"flower", TCA_FLOWER_CLASSID, TCA_FLOWER_ACT},
	{"bpf", TCA_BPF_CLASSID, TCA_BPF_ACT},
	{"basic", TCA_BASIC_CLASSID, TCA_BASIC_ACT},
	{"fw", TCA_FW_CLASSID, TCA_FW_ACT},
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* The index of the device that the first redirection among the actions goes to; 0: none. */
static int redirection(const struct nlattr *actions)
{
	struct nlattr *action, *kind, *options, *parms;
	struct tc_mirred mirred;
	int left;

	nla_for_each_nested(action, actions, left)
	{
		kind = nla_find(nla_data(action), nla_len(action), TCA_ACT_KIND);
		options = nla_find(nla_data(action), nla_len(action), TCA_ACT_OPTIONS);
		if (!kind || !options || nla_strcmp(kind, "mirred"))
			continue;
		parms = nla_find(nla_data(options), nla_len(options), TCA_MIRRED_PARMS);
		if (!parms || nla_len(parms) < (int)sizeof mirred)
			continue;
		memcpy(&mirred, nla_data(parms), sizeof mirred);
		if (mirred.eaction == TCA_EGRESS_REDIR)
			return (int)mirred.ifindex;
	}
	return 0;
}

/* Leading ones of a mask, or -1 when it is not a prefix's. */
static int mask_length(uint32_t mask)
{
	int n = mask ? __builtin_popcount(mask) : 0;

	return mask == (n ? UINT32_MAX << (WORD - n) : 0) ? n : -1;
}

/* Keys that compare the beginning of an address at this offset. */
static bool read_prefix(struct prefix *out, const struct selector *s, int family, int offset)
{
	struct prefix p = {.family = family};

	for (int i = 0; i < s->head.nkeys; i++) {
		int length = mask_length(ntohl(s->keys[i].mask));

		if (s->keys[i].off != offset + 4 * i || s->keys[i].offmask || length < 0 ||
			p.length != WORD * i || p.length + length > prefix_bits(family))
			return false;
		memcpy(p.address + 4 * i, &s->keys[i].val, sizeof s->keys[i].val);
		p.length += length;
	}
	*out = p;
	return true;
}

static void read_selector(struct filter *f, const struct nlattr *a, uint16_t protocol)
{
	int family = protocol == ETH_P_IPV6 ? AF_INET6 : AF_INET;
	struct selector s = {0};

	f->match = FILTER_OTHER;
	nla_memcpy(&s, a, sizeof s);
	if (s.head.nkeys < 1 || s.head.nkeys > KEYS)
		return;
	if (protocol == ETH_P_ALL) {
		if (s.head.nkeys == 1 && !s.keys[0].mask)
			f->match = FILTER_ALL;
		return;
	}
	for (f->match = FILTER_TO; f->match <= FILTER_FROM; f->match++) {
		f->prefix.family = family;
		if (read_prefix(&f->prefix, &s, family, offset_of(f)))
			return;
	}
}

static bool read_options(
	struct filter *f, const char *kind, const struct nlattr *options, uint16_t protocol)
{
	struct nlattr *a;
	size_t i = 0;

	while (i < N_KINDS && strcmp(kinds[i].kind, kind))
		i++;
	f->match = FILTER_OTHER;
	if (i == N_KINDS)
		return true;
	a = nla_find(nla_data(options), nla_len(options), kinds[i].class_id);
	if (a)
		f->class_id = nla_get_u32(a);
	a = nla_find(nla_data(options), nla_len(options), kinds[i].actions);
	if (a)
		f->redirect = redirection(a);
	if (!strcmp(kind, "matchall"))
		f->match = FILTER_ALL;
	if (strcmp(kind, "u32"))
		return true;
	a = nla_find(nla_data(options), nla_len(options), TCA_U32_SEL);
	if (a)
		read_selector(f, a, protocol);
	return a; /* else a hash table */
}

static int read_filter(struct nl_msg *msg, void *context)
{
	const struct tcmsg *header = nlmsg_data(nlmsg_hdr(msg));
	struct filters *all = context;
	struct nlattr *tb[TCA_MAX + 1];
	struct filter f = {0};
	char kind[16];

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWTFILTER ||
		nlmsg_parse(nlmsg_hdr(msg), sizeof *header, tb, TCA_MAX, NULL) < 0 ||
		!tb[TCA_KIND] || !tb[TCA_OPTIONS])
		return NL_SKIP;
	nla_strlcpy(kind, tb[TCA_KIND], sizeof kind);
	if (!read_options(&f, kind, tb[TCA_OPTIONS], ntohs(TC_H_MIN(header->tcm_info))))
		return NL_SKIP;
	all->list = memory_resize(all->list, all->n + 1, sizeof *all->list);
	all->list[all->n++] = f;
	return NL_OK;
}

static void begin(void *context)
{
	filters_release(context);
}

int filters_read(
	struct filters *out, struct nl_sock *sock, int index, uint32_t parent, struct error *err)
{
	const struct tcmsg header = {.tcm_ifindex = index, .tcm_parent = parent};
	struct filters all = {0};
	const struct rtnl_dumper dumper = {read_filter, begin, &all};
	char said[RTNL_SAID];
	int r = rtnl_dump(sock, RTM_GETTFILTER, &header, sizeof header, &dumper, said);

	if (r < 0) {
		filters_release(&all);
		return rtnl_refused(err, r, said, "the kernel does not tell its filters");
	}
	*out = all;
	return 0;
}

void filters_release(struct filters *f)
{
	free(f->list);
	*f = (struct filters){0};
}
