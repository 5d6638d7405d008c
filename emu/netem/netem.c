/*
 * Encoder and decoder of sch_netem's options. libnl-route's own netem object knows half of them
 * and truncates delays to 64 ns; its messages and attributes are used, the object is not.
 *
 * The order of attributes is tc's, so that messages can be compared byte by byte.
 */
#include "emu/netem/netem.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <string.h>

#include "base/clock.h"

#define TICK_NS 64 /* of the head's 32-bit times */

uint32_t netem_probability(double p)
{
	return (uint32_t)rint(p * UINT32_MAX);
}

void netem_gilbert(struct netem *n, double loss, double burst, double good_loss)
{
	double r = 1 / burst;

	n->model.kind = NETEM_LOSS_GE;
	n->model.ge = (struct tc_netem_gemodel){
		.p = netem_probability(fmin(loss * r / (1 - loss), 1)),
		.r = netem_probability(r),
		.k1 = netem_probability(good_loss),
	};
}

/* Whole microseconds, as tc has it: kernels before 4.19 know nothing else. */
static uint32_t ticks(int64_t ns)
{
	int64_t t = ns / NS_PER_US * NS_PER_US / TICK_NS;

	return t > UINT32_MAX ? UINT32_MAX : t < 0 ? 0 : (uint32_t)t;
}

static int put_head(struct nl_msg *msg, const struct netem *n)
{
	struct tc_netem_qopt head = {
		.latency = ticks(n->latency_ns),
		.limit = n->limit,
		.loss = n->loss,
		.gap = n->gap,
		.duplicate = n->duplicate,
		.jitter = ticks(n->jitter_ns),
	};

	return nlmsg_append(msg, &head, sizeof head, NLMSG_ALIGNTO);
}

static int put_model(struct nl_msg *msg, const struct netem_loss_model *m)
{
	struct nlattr *nest = nla_nest_start(msg, TCA_NETEM_LOSS | NLA_F_NESTED);
	int r;

	if (!nest)
		return -NLE_NOMEM;
	if (m->kind == NETEM_LOSS_GI)
		r = nla_put(msg, NETEM_LOSS_GI, sizeof m->gi, &m->gi);
	else
		r = nla_put(msg, NETEM_LOSS_GE, sizeof m->ge, &m->ge);
	nla_nest_end(msg, nest);
	return r;
}

static int put_rate(struct nl_msg *msg, const struct netem *n, uint32_t attributes)
{
	struct tc_netem_rate rate = {
		.rate = n->rate > UINT32_MAX ? UINT32_MAX : (uint32_t)n->rate,
		.packet_overhead = n->packet_overhead,
		.cell_size = n->cell_size,
		.cell_overhead = n->cell_overhead,
	};
	int r = 0;

	if (n->rate > UINT32_MAX && attributes & NETEM_SEND(TCA_NETEM_RATE64))
		r = nla_put_u64(msg, TCA_NETEM_RATE64, n->rate);
	return r < 0 ? r : nla_put(msg, TCA_NETEM_RATE, sizeof rate, &rate);
}

static int put_table(struct nl_msg *msg, int attribute, const struct netem_table *t)
{
	return t->count ? nla_put(msg, attribute, (int)(t->count * sizeof *t->values), t->values)
			: 0;
}

/* One attribute of those that need no more than their number. */
static int put(struct nl_msg *msg, int attribute, const struct netem *n)
{
	switch (attribute) {
	case TCA_NETEM_LATENCY64:
		return nla_put_s64(msg, attribute, n->latency_ns);
	case TCA_NETEM_JITTER64:
		return nla_put_s64(msg, attribute, n->jitter_ns);
	case TCA_NETEM_CORR:
		return nla_put(msg, attribute, sizeof n->correlation, &n->correlation);
	case TCA_NETEM_REORDER:
		return nla_put(msg, attribute, sizeof n->reorder, &n->reorder);
	case TCA_NETEM_ECN:
		return nla_put_u32(msg, attribute, n->ecn);
	case TCA_NETEM_CORRUPT:
		return nla_put(msg, attribute, sizeof n->corrupt, &n->corrupt);
	case TCA_NETEM_SLOT:
		return nla_put(msg, attribute, sizeof n->slot, &n->slot);
	case TCA_NETEM_LOSS:
		return n->model.kind == NETEM_LOSS_UNSPEC ? 0 : put_model(msg, &n->model);
	case TCA_NETEM_DELAY_DIST:
		return put_table(msg, attribute, &n->delay_table);
	case TCA_NETEM_SLOT_DIST:
		return put_table(msg, attribute, &n->slot_table);
	case NETEM_ATTR_PRNG_SEED:
		return n->has_seed ? nla_put_u64(msg, attribute, n->seed) : 0;
	default:
		return 0;
	}
}

int netem_encode(struct nl_msg *msg, const struct netem *n, uint32_t attributes)
{
	static const int order[] = {TCA_NETEM_LATENCY64, TCA_NETEM_JITTER64, TCA_NETEM_CORR,
		TCA_NETEM_REORDER, TCA_NETEM_ECN, TCA_NETEM_CORRUPT, TCA_NETEM_SLOT, TCA_NETEM_LOSS,
		TCA_NETEM_RATE, TCA_NETEM_DELAY_DIST, TCA_NETEM_SLOT_DIST, NETEM_ATTR_PRNG_SEED};
	struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);
	int r = nest ? put_head(msg, n) : -NLE_NOMEM;

	for (size_t i = 0; r >= 0 && i < sizeof order / sizeof *order; i++) {
		if (!(attributes & NETEM_SEND(order[i])))
			continue;
		if (order[i] == TCA_NETEM_RATE)
			r = put_rate(msg, n, attributes);
		else
			r = put(msg, order[i], n);
	}
	if (r < 0)
		return r;
	/* no NLA_F_NESTED: the kernel's options start with a plain struct */
	nest->nla_type = TCA_OPTIONS;
	nla_nest_end(msg, nest);
	return 0;
}

static int wrong_size(const struct nlattr *a, struct error *err)
{
	return error_set(err, -EINVAL, STATUS_MACHINE,
		"the kernel's netem attribute %d has %d bytes, which makes no sense", nla_type(a),
		nla_len(a));
}

/* Copies an attribute's payload of exactly this size. */
static int get(void *to, size_t size, const struct nlattr *a, struct error *err)
{
	if ((size_t)nla_len(a) != size)
		return wrong_size(a, err);
	memcpy(to, nla_data(a), size);
	return 0;
}

static int get_model(struct netem_loss_model *m, const struct nlattr *a, struct error *err)
{
	struct nlattr *inner;
	int left, r = 0;

	nla_for_each_nested(inner, a, left)
	{
		if (nla_type(inner) == NETEM_LOSS_GI)
			r = get(&m->gi, sizeof m->gi, inner, err);
		else if (nla_type(inner) == NETEM_LOSS_GE)
			r = get(&m->ge, sizeof m->ge, inner, err);
		else
			continue;
		if (r < 0)
			return r;
		m->kind = nla_type(inner);
	}
	return 0;
}

static int get_rate(struct netem *n, const struct nlattr *a, struct error *err)
{
	struct tc_netem_rate rate;
	int r = get(&rate, sizeof rate, a, err);

	if (r < 0)
		return r;
	if (n->rate < rate.rate) /* RATE64 may have come before */
		n->rate = rate.rate;
	n->packet_overhead = rate.packet_overhead;
	n->cell_size = rate.cell_size;
	n->cell_overhead = rate.cell_overhead;
	return 0;
}

static int get_rate64(struct netem *n, const struct nlattr *a, struct error *err)
{
	uint64_t rate = 0;
	int r = get(&rate, sizeof rate, a, err);

	if (r == 0 && n->rate < rate)
		n->rate = rate;
	return r;
}

static int get_ecn(struct netem *n, const struct nlattr *a, struct error *err)
{
	uint32_t ecn = 0;
	int r = get(&ecn, sizeof ecn, a, err);

	if (r == 0)
		n->ecn = ecn != 0;
	return r;
}

static int get_table(struct netem_table *t, const struct nlattr *a, struct error *err)
{
	size_t size = (size_t)nla_len(a);

	if (size % sizeof *t->values || size / sizeof *t->values > NETEM_DIST_MAX)
		return wrong_size(a, err);
	*t = (struct netem_table){nla_data(a), size / sizeof *t->values};
	return 0;
}

static int get_any(struct netem *n, const struct nlattr *a, struct error *err)
{
	switch (nla_type(a)) {
	case TCA_NETEM_LATENCY64:
		return get(&n->latency_ns, sizeof n->latency_ns, a, err);
	case TCA_NETEM_JITTER64:
		return get(&n->jitter_ns, sizeof n->jitter_ns, a, err);
	case TCA_NETEM_CORR:
		return get(&n->correlation, sizeof n->correlation, a, err);
	case TCA_NETEM_REORDER:
		return get(&n->reorder, sizeof n->reorder, a, err);
	case TCA_NETEM_ECN:
		return get_ecn(n, a, err);
	case TCA_NETEM_CORRUPT:
		return get(&n->corrupt, sizeof n->corrupt, a, err);
	case TCA_NETEM_SLOT:
		return get(&n->slot, sizeof n->slot, a, err);
	case TCA_NETEM_LOSS:
		return get_model(&n->model, a, err);
	case TCA_NETEM_RATE:
		return get_rate(n, a, err);
	case TCA_NETEM_RATE64:
		return get_rate64(n, a, err);
	case TCA_NETEM_DELAY_DIST:
		return get_table(&n->delay_table, a, err);
	case TCA_NETEM_SLOT_DIST:
		return get_table(&n->slot_table, a, err);
	case NETEM_ATTR_PRNG_SEED:
		n->has_seed = true;
		return get(&n->seed, sizeof n->seed, a, err);
	default:
		return 0;
	}
}

int netem_decode(struct netem *out, const void *options, size_t size, struct error *err)
{
	struct tc_netem_qopt head;
	struct netem n = {0};
	const struct nlattr *first, *a;
	int left, r = 0;

	if (size < sizeof head)
		return error_set(err, -EINVAL, STATUS_MACHINE,
			"the kernel's netem options have %zu bytes, fewer than %zu", size,
			sizeof head);
	memcpy(&head, options, sizeof head);
	n.latency_ns = (int64_t)head.latency * TICK_NS;
	n.jitter_ns = (int64_t)head.jitter * TICK_NS;
	n.limit = head.limit;
	n.loss = head.loss;
	n.gap = head.gap;
	n.duplicate = head.duplicate;
	first = (const struct nlattr *)((const char *)options + NLA_ALIGN(sizeof head));
	nla_for_each_attr(a, first, (int)(size - sizeof head), left)
	{
		r = get_any(&n, a, err);
		if (r < 0)
			return r;
	}
	*out = n;
	return 0;
}
