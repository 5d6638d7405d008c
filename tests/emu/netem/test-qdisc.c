/*
 * Qdiscs on a kernel that has them: what it takes is read back exactly, and what it does not take
 * is found. Skips where the kernel has no netem; scripts/uml has one.
 */
#include "tests/emu/namespaces.h"

#include <errno.h>
#include <linux/rtnetlink.h>

#include "emu/backend.h"
#include "emu/netem/compare.h"
#include "emu/netem/qdisc.h"
#include "emu/netem/table.h"
#include "emu/rtnl.h"

#define MS INT64_C(1000000)

/* Both ends of a veth pair in an empty namespace. */
struct bench {
	struct nl_sock *sock;
	struct qdisc_place root;
};

static void need_netem(void)
{
	struct error err = {0};

	if (backend_netem.probe(&err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(SKIP);
	}
}

static struct bench open_bench(void)
{
	struct bench b = {.root = {.parent = TC_H_ROOT}};
	struct error err = {0};
	int here;

	need_netem();
	isolate_or_skip();
	CHECK_OK(rtnl_open(&b.sock, &err), err);
	CHECK_OK(topology_here(&here, &err), err);
	CHECK_OK(
		rtnl_add_veth(b.sock, (struct rtnl_veth_end[]){{"one", here}, {"two", here}}, &err),
		err);
	close(here);
	CHECK_OK(rtnl_device_index("one", &b.root.index, &err), err);
	return b;
}

static int send_netem(
	struct bench *b, enum qdisc_verb verb, const struct netem *n, uint32_t attributes)
{
	char said[RTNL_SAID];

	return rtnl_request(
		b->sock, qdisc_netem_message(verb, &b->root, n, 0, attributes), NULL, said);
}

static int differences(struct bench *b, const struct netem *asked, char text[static 1024])
{
	struct error err = {0};
	struct qdisc q;

	CHECK_OK(qdisc_read(b->sock, &b->root, &q, &err), err);
	CHECK(!strcmp(q.kind, "netem"));
	return netem_compare(asked, &q.netem, text, 1024);
}

/* One of everything, none of it round in the kernel's units. */
static const struct netem everything = {
	.latency_ns = 300123456,
	.jitter_ns = 7654321,
	.limit = 123457,
	.duplicate = 1234567,
	.gap = 3,
	.correlation = {11, 0, 33},
	.reorder = {44, 55},
	.corrupt = {66, 77},
	.rate = 5000000000,
	.packet_overhead = -14,
	.cell_size = 48,
	.cell_overhead = 5,
	.model = {.kind = NETEM_LOSS_GI, .gi = {.p13 = 1, .p31 = 2, .p32 = 3, .p14 = 4, .p23 = 5}},
	.ecn = true,
	.slot = {1234567, 2345678, 9, 8000, 0, 0},
};

static void set_everything(void)
{
	static int16_t table[TABLE_SIZE];
	struct netem n = everything;
	struct error err = {0};
	struct bench b = open_bench();

	table_make(table, TABLE_PARETONORMAL);
	n.delay_table = (struct netem_table){table, TABLE_SIZE};
	n.slot_table = (struct netem_table){table, 100};
	CHECK_OK(qdisc_set_netem(b.sock, QDISC_ADD, &b.root, &n, 0, &err), err);
	n = (struct netem){.limit = 1000, .latency_ns = 40 * MS, .loss = 99}; /* and zeros */
	CHECK_OK(qdisc_set_netem(b.sock, QDISC_CHANGE, &b.root, &n, 0, &err), err);
	netem_gilbert(&n, .01, 10, .001);
	n.loss = 0;
	CHECK_OK(qdisc_set_netem(b.sock, QDISC_CHANGE, &b.root, &n, 0, &err), err);
	CHECK_OK(qdisc_delete(b.sock, &b.root, &err), err);
	rtnl_close(b.sock);
}

static void test_everything_is_taken(void **state)
{
	run(set_everything);
}

static void set_tbf(void)
{
	const struct tbf cases[] = {
		{.rate = 5000000000, .burst = 50000000, .limit = 400000000},
		{.rate = 105000000, .burst = 1050000, .limit = 5250000},
		{.rate = 1,
			.burst = 3000,
			.limit = 3000}, /* 50 minutes, more than ticks can tell */
		{.rate = 125000,
			.burst = 10000,
			.limit = 50000,
			.peak = 250000,
			.peak_burst = 1600},
	};
	struct error err = {0};
	struct bench b = open_bench();
	struct qdisc q;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_OK(qdisc_set_tbf(b.sock, i ? QDISC_CHANGE : QDISC_ADD, &b.root, &cases[i],
				 -14, &err),
			err);
	CHECK_OK(qdisc_read(b.sock, &b.root, &q, &err), err);
	CHECK(!strcmp(q.kind, "tbf") && q.tbf.rate == 125000 && q.tbf.peak == 250000);
	/* another kind under its handle is refused, with the kernel's words */
	b.root.handle = q.place.handle;
	CHECK(qdisc_set_netem(b.sock, QDISC_CHANGE, &b.root, &everything, 0, &err) < 0);
	CHECK(err.status == STATUS_MACHINE && strstr(err.text, "the kernel says: "));
	CHECK(strstr(err.text, "Invalid qdisc name") || strstr(err.text, "mismatch"));
	rtnl_close(b.sock);
}

static void test_tbf_is_taken(void **state)
{
	run(set_tbf);
}

/* A seed is taken from Linux 6.6 on; before, nobody says so but reading back. */
static void set_seed(void)
{
	const struct netem n = {.limit = 1000, .has_seed = true, .seed = 42};
	struct error err = {0};
	struct bench b = open_bench();
	int r = qdisc_set_netem(b.sock, QDISC_ADD, &b.root, &n, 0, &err);

	CHECK(r == 0 || r == -EBADE);
	if (r < 0) {
		CHECK(strstr(err.text, "did not take"));
		CHECK(strstr(err.text, "seed: asked 42, the kernel has none"));
	}
	rtnl_close(b.sock);
}

static void test_a_seed_that_is_ignored_is_found(void **state)
{
	run(set_seed);
}

/* 40 Gbit/s in 32 bits is 34.36 Gbit/s: the attribute for 64 bits is left out here. */
static void cut_rate(void)
{
	const struct netem n = {.limit = 1000, .rate = 5000000000};
	struct bench b = open_bench();
	char text[1024];

	CHECK(send_netem(&b, QDISC_ADD, &n, NETEM_SEND(TCA_NETEM_RATE)) == 0);
	CHECK(differences(&b, &n, text) == 1);
	CHECK(!strcmp(text, "rate: asked 5000000000 B/s, the kernel has 4294967295 B/s"));
	CHECK(send_netem(&b, QDISC_CHANGE, &n, NETEM_ALL) == 0);
	CHECK(differences(&b, &n, text) == 0);
	rtnl_close(b.sock);
}

static void test_a_cut_rate_is_found(void **state)
{
	run(cut_rate);
}

/* What a predecessor has set stays unless every attribute is sent. */
static void find_leftovers(void)
{
	const struct netem n = {.limit = 1000, .latency_ns = 10 * MS};
	struct bench b = open_bench();
	char text[1024];

	CHECK(send_netem(&b, QDISC_ADD, &everything, NETEM_ALL) == 0);
	CHECK(send_netem(&b, QDISC_CHANGE, &n, NETEM_SEND(TCA_NETEM_LATENCY64)) == 0);
	CHECK(differences(&b, &n, text) >= 12);
	CHECK(strstr(text, "jitter") == NULL); /* in the head, which always goes */
	CHECK(strstr(text, "reorder: asked 0") && strstr(text, "corrupt: asked 0"));
	CHECK(strstr(text, "rate: asked 0 B/s, the kernel has 5000000000 B/s"));
	CHECK(send_netem(&b, QDISC_CHANGE, &n, NETEM_ALL) == 0);
	CHECK(differences(&b, &n, text) == 0);
	rtnl_close(b.sock);
}

static void test_leftovers_are_found(void **state)
{
	run(find_leftovers);
}

/* A device that has no qdisc of its own, and one that has gone. */
static void read_nothing(void)
{
	struct error err = {0};
	struct bench b = open_bench();
	struct qdisc q;

	CHECK_OK(qdisc_read(b.sock, &b.root, &q, &err), err);
	CHECK(!*q.kind || !strcmp(q.kind, "noqueue"));
	b.root.index = 4711;
	CHECK(qdisc_read(b.sock, &b.root, &q, &err) == -ENODEV);
	CHECK(err.status == STATUS_MACHINE && strstr(err.text, "No such device"));
	err = (struct error){0};
	CHECK(qdisc_set_netem(b.sock, QDISC_ADD, &b.root, &everything, 0, &err) == -ENODEV);
	CHECK(strstr(err.text, "No such device"));
	rtnl_close(b.sock);
}

static void test_a_device_that_has_gone(void **state)
{
	run(read_nothing);
}

static void without_rights(void)
{
	struct error err = {0};
	struct bench b = open_bench();

	CHECK_OK(topology_drop_capabilities(&err), err);
	CHECK(qdisc_set_netem(b.sock, QDISC_ADD, &b.root, &everything, 0, &err) == -EPERM);
	CHECK(err.status == STATUS_MACHINE && strstr(err.text, "CAP_NET_ADMIN"));
	rtnl_close(b.sock);
}

static void test_without_rights(void **state)
{
	run(without_rights);
}

/* Where there is no netem, the probe says so in the kernel's words, and what to do. */
static void test_probe_without_the_module(void **state)
{
	struct error err = {0};

	if (backend_netem.probe(&err) == 0 || !strstr(err.text, "kind is unknown"))
		skip();
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(strstr(err.text, "no sch_netem"));
	assert_non_null(strstr(err.text, "modprobe sch_netem"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe_without_the_module),
		cmocka_unit_test(test_everything_is_taken),
		cmocka_unit_test(test_tbf_is_taken),
		cmocka_unit_test(test_a_seed_that_is_ignored_is_found),
		cmocka_unit_test(test_a_cut_rate_is_found),
		cmocka_unit_test(test_leftovers_are_found),
		cmocka_unit_test(test_a_device_that_has_gone),
		cmocka_unit_test(test_without_rights),
	};

	return cmocka_run_group_tests_name("netem-qdisc", tests, NULL, NULL);
}
