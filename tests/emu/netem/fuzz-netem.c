/*
 * A fuzz target for what the kernel answers: any bytes as TCA_OPTIONS, of netem by an even first
 * byte, of tbf by an odd one. What decodes must encode to a message that decodes to the same.
 * Built with libFuzzer by -Dfuzz=true; test-fuzz-netem drives it over mutated messages in every
 * build.
 */
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "emu/netem/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A message of nothing but options. */
static struct nl_msg *empty(void)
{
	struct nl_msg *msg = nlmsg_alloc_size(1 << 17);

	require(msg && nlmsg_put(msg, 0, 0, 0, 0, 0));
	return msg;
}

static void check_netem(const void *options, size_t size)
{
	struct error err = {0};
	struct netem n, again;
	struct nl_msg *msg;
	struct nlattr *a;
	char text[256];

	if (netem_decode(&n, options, size, &err) < 0) {
		require(err.status == STATUS_MACHINE && *err.text);
		return;
	}
	require(n.delay_table.count <= NETEM_DIST_MAX && n.slot_table.count <= NETEM_DIST_MAX);
	msg = empty();
	require(netem_encode(msg, &n, NETEM_ALL) == 0);
	a = nlmsg_attrdata(nlmsg_hdr(msg), 0);
	require(netem_decode(&again, nla_data(a), (size_t)nla_len(a), &err) == 0);
	require(netem_compare(&n, &again, text, sizeof text) == 0);
	nlmsg_free(msg);
}

static void check_tbf(const void *options, size_t size)
{
	struct error err = {0};
	struct tbf t, again;
	struct nl_msg *msg;
	struct nlattr *a;
	char text[256];

	if (tbf_decode(&t, options, size, &err) < 0) {
		require(err.status == STATUS_MACHINE && *err.text);
		return;
	}
	msg = empty();
	require(tbf_encode(msg, &t) == 0);
	a = nlmsg_attrdata(nlmsg_hdr(msg), 0);
	require(tbf_decode(&again, nla_data(a), (size_t)nla_len(a), &err) == 0);
	require(t.burst == 0 || tbf_compare(&t, &again, text, sizeof text) == 0);
	nlmsg_free(msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_free_ void *exact = NULL;

	if (!size)
		return 0;
	exact = memory_zero(size > 1 ? size - 1 : 1, 1); /* aligned, and not one byte more */
	memcpy(exact, data + 1, size - 1);
	if (*data % 2)
		check_tbf(exact, size - 1);
	else
		check_netem(exact, size - 1);
	return 0;
}
