/* Queueing disciplines over route netlink; see qdisc.h. */
#include "emu/netem/qdisc.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <string.h>

#include "emu/netem/compare.h"
#include "emu/rtnl.h"

/* kind is NULL where none is said; tables: bytes of distribution tables that will go in. */
static struct nl_msg *message(
	int type, int flags, const struct qdisc_place *place, const char *kind, size_t tables)
{
	struct tcmsg header = {
		.tcm_ifindex = place->index,
		.tcm_parent = place->parent,
		.tcm_handle = place->handle,
	};
	struct nl_msg *msg =
		rtnl_message(type, NLM_F_ACK | flags, RTNL_ROOM + tables, &header, sizeof header);

	if (msg && kind)
		nla_put_string(msg, TCA_KIND, kind);
	return msg;
}

static int verb_flags(enum qdisc_verb verb)
{
	return verb == QDISC_ADD       ? NLM_F_CREATE | NLM_F_EXCL
	       : verb == QDISC_REPLACE ? NLM_F_CREATE | NLM_F_REPLACE
				       : 0;
}

/* The message if all went into it. */
static struct nl_msg *whole(struct nl_msg *msg, int r)
{
	if (r >= 0)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* A size table of no size: an overhead for every packet, and nothing else. */
static int put_overhead(struct nl_msg *msg, int frame_overhead)
{
	struct tc_sizespec spec = {.overhead = frame_overhead};
	struct nlattr *nest = nla_nest_start(msg, TCA_STAB);
	int r = nest ? nla_put(msg, TCA_STAB_BASE, sizeof spec, &spec) : -1;

	if (r < 0)
		return r;
	nest->nla_type = TCA_STAB;
	return nla_nest_end(msg, nest);
}

struct nl_msg *qdisc_netem_message(enum qdisc_verb verb, const struct qdisc_place *place,
	const struct netem *n, int frame_overhead, uint32_t attributes)
{
	size_t tables = (n->delay_table.count + n->slot_table.count) * sizeof(int16_t);
	struct nl_msg *msg = message(RTM_NEWQDISC, verb_flags(verb), place, "netem", tables);
	int r;

	if (!msg)
		return NULL;
	r = netem_encode(msg, n, attributes);
	if (r >= 0 && frame_overhead)
		r = put_overhead(msg, frame_overhead);
	return whole(msg, r);
}

struct nl_msg *qdisc_tbf_message(enum qdisc_verb verb, const struct qdisc_place *place,
	const struct tbf *t, int frame_overhead)
{
	struct nl_msg *msg = message(RTM_NEWQDISC, verb_flags(verb), place, "tbf", 0);
	int r;

	if (!msg)
		return NULL;
	r = tbf_encode(msg, t);
	if (r >= 0 && frame_overhead)
		r = put_overhead(msg, frame_overhead);
	return whole(msg, r);
}

struct nl_msg *qdisc_delete_message(const struct qdisc_place *place)
{
	return message(RTM_DELQDISC, 0, place, NULL, 0);
}

static int refuse(int code, const char *said, const char *kind, struct error *err)
{
	if (code == -ENOENT && strstr(said, "kind is unknown"))
		return error_set(err, code, STATUS_MACHINE,
			"this kernel has no sch_%s (it says: %s)\nas root: modprobe sch_%s; where "
			"there is no such module, another kernel has it",
			kind, said, kind);
	if (code == -EPERM)
		return rtnl_refused(err, code, said,
			"%s may not be set on a device here; run as root or with CAP_NET_ADMIN",
			kind);
	return rtnl_refused(err, code, said, "the kernel refused a %s", kind);
}

/* Reads the qdisc that a set left, of this kind and with this overhead. */
static int read_back(struct nl_sock *sock, const struct qdisc_place *place, const char *kind,
	int frame_overhead, struct qdisc *out, struct error *err)
{
	int r = qdisc_read(sock, place, out, err);

	if (r < 0)
		return r;
	if (strcmp(out->kind, kind))
		return error_set(err, -EBADE, STATUS_MACHINE,
			"the kernel took a %s and then had \"%s\" in its place", kind, out->kind);
	if (out->frame_overhead != frame_overhead)
		return error_set(err, -EBADE, STATUS_MACHINE,
			"this kernel's %s did not take an overhead of %d B per packet: it has %d B",
			kind, frame_overhead, out->frame_overhead);
	return 0;
}

static int not_taken(const char *kind, const char *differences, struct error *err)
{
	return error_set(err, -EBADE, STATUS_MACHINE,
		"this kernel's %s did not take what it was asked for: %s", kind, differences);
}

int qdisc_set_netem(struct nl_sock *sock, enum qdisc_verb verb, const struct qdisc_place *place,
	const struct netem *n, int frame_overhead, struct error *err)
{
	char said[RTNL_SAID], differences[1024];
	struct qdisc got;
	struct nl_msg *msg = qdisc_netem_message(verb, place, n, frame_overhead, NETEM_ALL);
	int r = rtnl_request(sock, msg, NULL, said);

	if (r < 0)
		return refuse(r, said, "netem", err);
	r = read_back(sock, place, "netem", frame_overhead, &got, err);
	if (r < 0 || !netem_compare(n, &got.netem, differences, sizeof differences))
		return r;
	return not_taken("netem", differences, err);
}

int qdisc_set_tbf(struct nl_sock *sock, enum qdisc_verb verb, const struct qdisc_place *place,
	const struct tbf *t, int frame_overhead, struct error *err)
{
	char said[RTNL_SAID], differences[1024];
	struct qdisc got;
	int r = rtnl_request(sock, qdisc_tbf_message(verb, place, t, frame_overhead), NULL, said);

	if (r < 0)
		return refuse(r, said, "tbf", err);
	r = read_back(sock, place, "tbf", frame_overhead, &got, err);
	if (r < 0 || !tbf_compare(t, &got.tbf, differences, sizeof differences))
		return r;
	return not_taken("tbf", differences, err);
}

int qdisc_set_raw(struct nl_sock *sock, enum qdisc_verb verb, const struct qdisc_place *place,
	const char *kind, const void *options, size_t size, int frame_overhead, struct error *err)
{
	struct nl_msg *msg = message(RTM_NEWQDISC, verb_flags(verb), place, kind, size);
	char said[RTNL_SAID];
	int r = 0;

	if (msg && options)
		r = nla_put(msg, TCA_OPTIONS, (int)size, options);
	if (msg && r >= 0 && frame_overhead)
		r = put_overhead(msg, frame_overhead);
	r = rtnl_request(sock, msg ? whole(msg, r) : NULL, NULL, said);
	return r < 0 ? refuse(r, said, kind, err) : 0;
}

int qdisc_delete(struct nl_sock *sock, const struct qdisc_place *place, struct error *err)
{
	char said[RTNL_SAID];
	int r = rtnl_request(sock, qdisc_delete_message(place), NULL, said);

	return r < 0 ? rtnl_refused(err, r, said, "the kernel did not remove a qdisc") : 0;
}

/* TCA_STATS2: newer kernels may send more of a struct than we know, and older ones less. */
static void read_counters(struct qdisc_counters *c, const struct nlattr *stats)
{
	struct gnet_stats_basic basic = {0};
	struct gnet_stats_queue queue = {0};
	struct nlattr *a;
	int left;

	nla_for_each_nested(a, stats, left)
	{
		if (nla_type(a) == TCA_STATS_BASIC)
			nla_memcpy(&basic, a, sizeof basic);
		else if (nla_type(a) == TCA_STATS_QUEUE)
			nla_memcpy(&queue, a, sizeof queue);
		else if (nla_type(a) == TCA_STATS_PKT64)
			nla_memcpy(&c->packets, a, sizeof c->packets);
	}
	c->bytes = basic.bytes;
	if (!c->packets)
		c->packets = basic.packets;
	c->drops = queue.drops;
	c->backlog_bytes = queue.backlog;
	c->backlog_packets = queue.qlen;
}

struct reading {
	struct qdisc *qdisc;
	struct error *err;
	int code;
};

static int read_options(struct qdisc *q, const struct nlattr *options, struct error *err)
{
	size_t size = (size_t)nla_len(options);

	if (!strcmp(q->kind, "netem"))
		return netem_decode(&q->netem, nla_data(options), size, err);
	if (!strcmp(q->kind, "tbf"))
		return tbf_decode(&q->tbf, nla_data(options), size, err);
	return 0;
}

static int read_overhead(const struct nlattr *table)
{
	struct tc_sizespec spec = {0};
	struct nlattr *base = nla_find(nla_data(table), nla_len(table), TCA_STAB_BASE);

	if (base)
		nla_memcpy(&spec, base, sizeof spec);
	return spec.overhead;
}

int qdisc_parse(struct qdisc *out, struct nlmsghdr *answer, struct error *err)
{
	const struct tcmsg *header = nlmsg_data(answer);
	struct nlattr *tb[TCA_MAX + 1];
	struct qdisc q = {.kind = ""};
	int r = 0;

	if (answer->nlmsg_type != RTM_NEWQDISC ||
		nlmsg_parse(answer, sizeof *header, tb, TCA_MAX, NULL) < 0 || !tb[TCA_KIND])
		return -ENOMSG;
	q.place = (struct qdisc_place){header->tcm_ifindex, header->tcm_parent, header->tcm_handle};
	nla_strlcpy(q.kind, tb[TCA_KIND], sizeof q.kind);
	if (tb[TCA_STATS2])
		read_counters(&q.counters, tb[TCA_STATS2]);
	if (tb[TCA_STAB])
		q.frame_overhead = read_overhead(tb[TCA_STAB]);
	if (tb[TCA_OPTIONS])
		r = read_options(&q, tb[TCA_OPTIONS], err);
	/* the tables, if any, lie in a message that is about to go */
	q.netem.delay_table = q.netem.slot_table = (struct netem_table){0};
	if (r == 0)
		*out = q;
	return r;
}

static int read_qdisc(struct nl_msg *msg, void *context)
{
	struct reading *reading = context;
	int r = qdisc_parse(reading->qdisc, nlmsg_hdr(msg), reading->err);

	if (r < 0 && r != -ENOMSG)
		reading->code = r;
	return r < 0 ? NL_SKIP : NL_OK;
}

int qdisc_read(
	struct nl_sock *sock, const struct qdisc_place *place, struct qdisc *out, struct error *err)
{
	struct qdisc_place which = {place->index, place->parent, 0};
	struct qdisc q = {.kind = ""};
	struct reading reading = {&q, err, 0};
	const struct rtnl_reader reader = {read_qdisc, &reading};
	char said[RTNL_SAID];
	/* NLM_F_ECHO: before Linux 6.5 the answer otherwise goes to the multicast group only */
	int r = rtnl_request(
		sock, message(RTM_GETQDISC, NLM_F_ECHO, &which, NULL, 0), &reader, said);

	if (r < 0)
		return rtnl_refused(err, r, said, "the kernel does not tell a qdisc");
	if (reading.code < 0)
		return reading.code;
	*out = q;
	return 0;
}
