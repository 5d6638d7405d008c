/* All qdiscs of a namespace; see qdiscs.h. */
#include "emu/card/qdiscs.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "emu/rtnl.h"

struct reading {
	struct qdiscs all;
	struct error *err;
	int code;
};

static void begin(void *context)
{
	qdiscs_release(&((struct reading *)context)->all);
}

static void keep_options(struct qdisc_node *node, struct nlmsghdr *answer)
{
	const struct nlattr *options = nlmsg_find_attr(answer, sizeof(struct tcmsg), TCA_OPTIONS);

	if (!options)
		return;
	node->options_size = (size_t)nla_len(options);
	node->options = memory_zero(node->options_size + 1, 1);
	memcpy(node->options, nla_data(options), node->options_size);
}

static int read_node(struct nl_msg *msg, void *context)
{
	struct reading *reading = context;
	struct qdiscs *t = &reading->all;
	struct qdisc_node node = {0};
	int r = qdisc_parse(&node.qdisc, nlmsg_hdr(msg), reading->err);

	if (r < 0 && r != -ENOMSG)
		reading->code = r;
	if (r < 0)
		return NL_SKIP;
	keep_options(&node, nlmsg_hdr(msg));
	t->nodes = memory_resize(t->nodes, t->n + 1, sizeof *t->nodes);
	t->nodes[t->n++] = node;
	return NL_OK;
}

int qdiscs_read(struct qdiscs *out, struct nl_sock *sock, struct error *err)
{
	const struct tcmsg header = {.tcm_family = AF_UNSPEC};
	struct reading reading = {.err = err};
	const struct rtnl_dumper dumper = {read_node, begin, &reading};
	char said[RTNL_SAID];
	int r = rtnl_dump(sock, RTM_GETQDISC, &header, sizeof header, &dumper, said);

	if (r < 0)
		rtnl_refused(err, r, said, "the kernel does not tell its qdiscs");
	else
		r = reading.code;
	if (r < 0) {
		qdiscs_release(&reading.all);
		return r;
	}
	*out = reading.all;
	return 0;
}

void qdiscs_release(struct qdiscs *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->nodes[i].options);
	free(t->nodes);
	*t = (struct qdiscs){0};
}

const struct qdisc_node *qdiscs_at(const struct qdiscs *t, int index, uint32_t parent)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].qdisc.place.index == index &&
			t->nodes[i].qdisc.place.parent == parent)
			return &t->nodes[i];
	return NULL;
}

const struct qdisc_node *qdiscs_handle(const struct qdiscs *t, int index, uint32_t handle)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].qdisc.place.index == index &&
			TC_H_MAJ(t->nodes[i].qdisc.place.handle) == TC_H_MAJ(handle))
			return &t->nodes[i];
	return NULL;
}

char *qdisc_name(char *text, size_t size, const struct qdisc_node *n)
{
	if (qdisc_is_set(n))
		snprintf(
			text, size, "%s %x:", n->qdisc.kind, TC_H_MAJ(n->qdisc.place.handle) >> 16);
	else
		snprintf(text, size, "%s", n ? n->qdisc.kind : "noqueue");
	return text;
}
