/*
 * The codec without a kernel: against what tc(8) sends, against itself, and against messages that
 * make no sense.
 */
#include "tests/test.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "emu/netem/compare.h"
#include "emu/netem/qdisc.h"
#include "emu/netem/table.h"
#include "tests/emu/netem/goldens.h"
#include "tests/emu/netem/random.h"

static enum qdisc_verb verb_of(const struct golden *g)
{
	return g->flags & NLM_F_REPLACE	 ? QDISC_REPLACE
	       : g->flags & NLM_F_CREATE ? QDISC_ADD
					 : QDISC_CHANGE;
}

static struct nl_msg *ours(const struct golden *g)
{
	const struct qdisc_place place = {1, g->parent, g->handle};

	if (g->type == RTM_DELQDISC)
		return qdisc_delete_message(&place);
	if (g->tbf.rate)
		return qdisc_tbf_message(verb_of(g), &place, &g->tbf, g->stab_overhead);
	return qdisc_netem_message(verb_of(g), &place, &g->netem, g->stab_overhead, g->attributes);
}

/* The message's own distribution table goes into the struct: tables are data, not code. */
static void borrow_table(struct golden *g, const uint8_t *message, size_t size)
{
	static int16_t values[TABLE_SIZE];
	struct netem_table table = {values, TABLE_SIZE};

	if (!(g->attributes & (NETEM_SEND(TCA_NETEM_DELAY_DIST) | NETEM_SEND(TCA_NETEM_SLOT_DIST))))
		return;
	memcpy(values, message + size - sizeof values, sizeof values);
	if (g->attributes & NETEM_SEND(TCA_NETEM_DELAY_DIST))
		g->netem.delay_table = table;
	else
		g->netem.slot_table = table;
}

static void compare_golden(const struct golden *golden)
{
	uint8_t want[GOLDEN_MAX];
	size_t size = golden_bytes(want, golden->command);
	struct golden g = *golden;
	struct nl_msg *msg;
	const uint8_t *got;

	borrow_table(&g, want, size);
	msg = ours(&g);
	assert_non_null(msg);
	got = (const uint8_t *)nlmsg_hdr(msg);
	nlmsg_hdr(msg)->nlmsg_seq = nlmsg_hdr(msg)->nlmsg_pid = 0;
	if (nlmsg_hdr(msg)->nlmsg_len != size)
		fail_msg("%s: %u bytes, tc sends %zu", g.command, nlmsg_hdr(msg)->nlmsg_len, size);
	for (size_t i = 0; i < size; i++)
		if (got[i] != want[i])
			fail_msg("%s: byte %zu is %02x, tc sends %02x", g.command, i, got[i],
				want[i]);
	nlmsg_free(msg);
}

static void test_goldens(void **state)
{
	assert_int_equal(golden_count(), n_goldens);
	assert_true(n_goldens >= 40);
	for (size_t i = 0; i < n_goldens; i++)
		compare_golden(&goldens[i]);
}

/* What tc sends is what our decoder makes of it. */
static void test_goldens_decoded(void **state)
{
	char text[512];

	for (size_t i = 0; i < n_goldens; i++) {
		uint8_t message[GOLDEN_MAX];
		struct nlattr *tb[TCA_MAX + 1];
		struct error err = {0};
		struct netem n;
		struct tbf t;

		golden_bytes(message, goldens[i].command);
		if (goldens[i].type != RTM_NEWQDISC)
			continue;
		assert_int_equal(nlmsg_parse((struct nlmsghdr *)message, sizeof(struct tcmsg), tb,
					 TCA_MAX, NULL),
			0);
		if (goldens[i].tbf.rate) {
			assert_int_equal(tbf_decode(&t, nla_data(tb[TCA_OPTIONS]),
						 (size_t)nla_len(tb[TCA_OPTIONS]), &err),
				0);
			if (tbf_compare(&goldens[i].tbf, &t, text, sizeof text))
				fail_msg("%s: %s", goldens[i].command, text);
			continue;
		}
		assert_int_equal(netem_decode(&n, nla_data(tb[TCA_OPTIONS]),
					 (size_t)nla_len(tb[TCA_OPTIONS]), &err),
			0);
		/* tc's times are in ticks of 64 ns */
		assert_near((double)n.latency_ns, (double)goldens[i].netem.latency_ns, 1064);
		assert_near((double)n.jitter_ns, (double)goldens[i].netem.jitter_ns, 64);
		n.latency_ns = goldens[i].netem.latency_ns;
		n.jitter_ns = goldens[i].netem.jitter_ns;
		if (netem_compare(&goldens[i].netem, &n, text, sizeof text))
			fail_msg("%s: %s", goldens[i].command, text);
	}
}

static struct nl_msg *encoded(const struct netem *n, uint32_t attributes)
{
	const struct qdisc_place place = {1, TC_H_ROOT, 0};
	struct nl_msg *msg = qdisc_netem_message(QDISC_CHANGE, &place, n, 0, attributes);

	assert_non_null(msg);
	return msg;
}

static struct nlattr *options_of(struct nl_msg *msg)
{
	return nlmsg_find_attr(nlmsg_hdr(msg), sizeof(struct tcmsg), TCA_OPTIONS);
}

static void decode_into(struct netem *n, struct nl_msg *msg)
{
	struct nlattr *options = options_of(msg);
	struct error err = {0};

	if (netem_decode(n, nla_data(options), (size_t)nla_len(options), &err) < 0)
		fail_msg("%s", err.text);
}

static void assert_same_table(const struct netem_table *a, const struct netem_table *b)
{
	assert_int_equal(a->count, b->count);
	if (a->count)
		assert_memory_equal(a->values, b->values, a->count * sizeof *a->values);
}

static void test_round_trip(void **state)
{
	uint64_t counter = 0;
	char text[1024];

	for (int i = 0; i < 5000; i++) {
		struct netem in, out;
		struct nl_msg *msg;

		random_netem(&in, &counter);
		msg = encoded(&in, NETEM_ALL);
		decode_into(&out, msg);
		if (netem_compare(&in, &out, text, sizeof text))
			fail_msg("round %d: %s", i, text);
		assert_int_equal(in.has_seed, out.has_seed);
		assert_same_table(&in.delay_table, &out.delay_table);
		assert_same_table(&in.slot_table, &out.slot_table);
		nlmsg_free(msg);
	}
}

static void test_tbf_round_trip(void **state)
{
	const struct qdisc_place place = {1, TC_H_ROOT, 0};
	uint64_t counter = 0;
	char text[512];

	for (int i = 0; i < 5000; i++) {
		struct error err = {0};
		struct tbf in, out;
		struct nl_msg *msg;
		struct nlattr *options;

		random_tbf(&in, &counter);
		msg = qdisc_tbf_message(QDISC_ADD, &place, &in, 0);
		options = options_of(msg);
		assert_int_equal(
			tbf_decode(&out, nla_data(options), (size_t)nla_len(options), &err), 0);
		if (tbf_compare(&in, &out, text, sizeof text))
			fail_msg("round %d: %s", i, text);
		assert_int_equal(in.burst, out.burst); /* told in bytes, so exact */
		assert_int_equal(in.mpu, out.mpu);
		nlmsg_free(msg);
	}
}

/* As an old kernel answers: the burst in ticks only, within the tolerance. */
static void test_tbf_burst_in_ticks(void **state)
{
	struct tc_tbf_qopt head = {.rate = {.rate = UINT32_MAX}, .limit = 1 << 20};
	struct nl_msg *msg = nlmsg_alloc();
	struct tbf asked = {.rate = 5000000000, .burst = 5 << 20, .limit = 1 << 20}, got;
	struct error err = {0};
	char text[256];

	head.buffer = (uint32_t)((double)asked.burst / (double)asked.rate * 1e9 / 64);
	nla_put(msg, TCA_TBF_PARMS, sizeof head, &head);
	nla_put_u64(msg, TCA_TBF_RATE64, asked.rate);
	assert_int_equal(tbf_decode(&got, nlmsg_data(nlmsg_hdr(msg)),
				 (size_t)nlmsg_datalen(nlmsg_hdr(msg)), &err),
		0);
	assert_int_equal(got.rate, asked.rate);
	assert_int_equal(tbf_compare(&asked, &got, text, sizeof text), 0);
	got.burst -= 700; /* more than two ticks of 320 bytes */
	assert_int_equal(tbf_compare(&asked, &got, text, sizeof text), 1);
	assert_non_null(strstr(text, "burst: asked 5242880 B"));
	nlmsg_free(msg);
}

/* Every field that differs is named, and nothing else. */
static void test_compare_names_the_field(void **state)
{
	const struct netem asked = {.latency_ns = 300123456, .limit = 1000, .rate = 5000000000};
	struct netem got = asked;
	char text[1024], tiny[20];

	assert_int_equal(netem_compare(&asked, &got, text, sizeof text), 0);
	assert_string_equal(text, "");
	got.rate = UINT32_MAX;
	got.reorder.probability = 42949673;
	assert_int_equal(netem_compare(&asked, &got, text, sizeof text), 2);
	assert_string_equal(text, "rate: asked 5000000000 B/s, the kernel has 4294967295 B/s; "
				  "reorder: asked 0 / 2^32, the kernel has 42949673 / 2^32");
	assert_int_equal(netem_compare(&asked, &got, tiny, sizeof tiny), 2);
	assert_int_equal(strlen(tiny), sizeof tiny - 1);
}

static void test_compare_seeds(void **state)
{
	const struct netem asked = {.has_seed = true, .seed = 42};
	struct netem got = asked;
	char text[256];

	got.has_seed = false;
	assert_int_equal(netem_compare(&asked, &got, text, sizeof text), 1);
	assert_non_null(strstr(text, "seed: asked 42, the kernel has none"));
	got = (struct netem){.has_seed = true, .seed = 43};
	assert_int_equal(netem_compare(&asked, &got, text, sizeof text), 1);
	assert_int_equal(netem_compare(&(struct netem){0}, &got, text, sizeof text), 0);
}

/* An attribute of each number, one byte short. */
static void test_wrong_sizes(void **state)
{
	struct tc_netem_qopt head = {.limit = 1};
	struct error err = {0};
	struct netem n;

	assert_int_equal(netem_decode(&n, &head, sizeof head - 1, &err), -EINVAL);
	assert_non_null(strstr(err.text, "23 bytes"));
	for (int attribute = 1; attribute <= NETEM_ATTR_MAX; attribute++) {
		struct nl_msg *msg;

		if (attribute == TCA_NETEM_PAD || attribute == TCA_NETEM_LOSS)
			continue;
		msg = nlmsg_alloc();
		nlmsg_put(msg, 0, 0, 0, 0, 0);
		nlmsg_append(msg, &head, sizeof head, NLMSG_ALIGNTO);
		nla_put(msg, attribute, 3, "abc");
		err = (struct error){0};
		assert_int_equal(netem_decode(&n, nlmsg_data(nlmsg_hdr(msg)),
					 (size_t)nlmsg_datalen(nlmsg_hdr(msg)), &err),
			-EINVAL);
		assert_int_equal(err.status, STATUS_MACHINE);
		assert_non_null(strstr(err.text, "3 bytes"));
		nlmsg_free(msg);
	}
}

/* r = 1 / burst, p = loss r / (1 - loss): 1 % in bursts of 10 are p = 0.0010101, r = 0.1. */
static void test_gilbert(void **state)
{
	struct netem n = {0};

	netem_gilbert(&n, .01, 10, .002);
	assert_int_equal(n.model.kind, NETEM_LOSS_GE);
	assert_near(n.model.ge.p / 4294967295., .01 * .1 / .99, 1e-9);
	assert_near(n.model.ge.r / 4294967295., .1, 1e-9);
	assert_near(n.model.ge.k1 / 4294967295., .002, 1e-9);
	assert_int_equal(n.model.ge.h, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_goldens_decoded),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_tbf_round_trip),
		cmocka_unit_test(test_tbf_burst_in_ticks),
		cmocka_unit_test(test_compare_names_the_field),
		cmocka_unit_test(test_compare_seeds),
		cmocka_unit_test(test_wrong_sizes),
		cmocka_unit_test(test_gilbert),
	};

	return cmocka_run_group_tests_name("netem", tests, NULL, NULL);
}
