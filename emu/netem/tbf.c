/* Encoder and decoder of sch_tbf's options; see tbf.h. */
#include "emu/netem/tbf.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <string.h>

#define TABLE 256
#define TICK_NS 64
#define TICKS_PER_US 15.625
#define MTU 2047 /* that tables reach to, unless the peak's burst is larger */
#define LINKLAYER_ETHERNET 1

/* Whole microseconds in ticks, both rounded down, as tc does. */
static uint32_t ticks(uint64_t rate, uint32_t bytes)
{
	uint32_t us = (uint32_t)(1000000 * ((double)bytes / (double)rate));

	return (uint32_t)(us * TICKS_PER_US);
}

static uint8_t cell_log(uint32_t mtu)
{
	uint8_t log = 0;

	while (mtu >> log > TABLE - 1)
		log++;
	return log;
}

static struct tc_ratespec ratespec(const struct tbf *t, uint64_t rate)
{
	return (struct tc_ratespec){
		.cell_log = cell_log(t->peak_burst ? t->peak_burst : MTU),
		.linklayer = LINKLAYER_ETHERNET,
		.overhead = t->overhead,
		.cell_align = -1,
		.mpu = t->mpu,
		.rate = rate > UINT32_MAX ? UINT32_MAX : (uint32_t)rate,
	};
}

/* The time that packets of each size take, which kernels before 3.8 look up. */
static int put_table(struct nl_msg *msg, int attribute, const struct tc_ratespec *r)
{
	uint32_t table[TABLE];

	for (uint32_t i = 0; i < TABLE; i++) {
		uint32_t bytes = (i + 1) << r->cell_log;

		table[i] = ticks(r->rate, bytes < r->mpu ? r->mpu : bytes);
	}
	return nla_put(msg, attribute, sizeof table, table);
}

static int put_peak(struct nl_msg *msg, const struct tbf *t, const struct tc_ratespec *r)
{
	int code = 0;

	if (t->peak > UINT32_MAX)
		code = nla_put_u64(msg, TCA_TBF_PRATE64, t->peak);
	if (code == 0)
		code = nla_put_u32(msg, TCA_TBF_PBURST, t->peak_burst);
	return code < 0 ? code : put_table(msg, TCA_TBF_PTAB, r);
}

int tbf_encode(struct nl_msg *msg, const struct tbf *t)
{
	struct tc_tbf_qopt head = {.rate = ratespec(t, t->rate), .limit = t->limit};
	struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);
	int r;

	if (!nest)
		return -NLE_NOMEM;
	/* for a kernel that takes 32 bits, in its units */
	head.buffer = ticks(head.rate.rate, t->burst);
	if (t->peak) {
		head.peakrate = ratespec(t, t->peak);
		head.mtu = ticks(head.peakrate.rate, t->peak_burst);
	}
	r = nla_put(msg, TCA_TBF_PARMS, sizeof head, &head);
	if (r == 0)
		r = nla_put_u32(msg, TCA_TBF_BURST, t->burst);
	if (r == 0 && t->rate > UINT32_MAX)
		r = nla_put_u64(msg, TCA_TBF_RATE64, t->rate);
	if (r == 0)
		r = put_table(msg, TCA_TBF_RTAB, &head.rate);
	if (r == 0 && t->peak)
		r = put_peak(msg, t, &head.peakrate);
	nest->nla_type = TCA_OPTIONS; /* as tc and old kernels have it */
	nla_nest_end(msg, nest);
	return r;
}

static int get(void *to, size_t size, const struct nlattr *a, struct error *err)
{
	if ((size_t)nla_len(a) != size)
		return error_set(err, -EINVAL, STATUS_MACHINE,
			"the kernel's tbf attribute %d has %d bytes, which makes no sense",
			nla_type(a), nla_len(a));
	memcpy(to, nla_data(a), size);
	return 0;
}

/* What the attributes say apart from the head. */
struct parts {
	struct tc_tbf_qopt head;
	uint64_t rate64, peak64;
	uint32_t burst, peak_burst;
};

static int get_any(struct parts *p, const struct nlattr *a, struct error *err)
{
	switch (nla_type(a)) {
	case TCA_TBF_PARMS:
		return get(&p->head, sizeof p->head, a, err);
	case TCA_TBF_RATE64:
		return get(&p->rate64, sizeof p->rate64, a, err);
	case TCA_TBF_PRATE64:
		return get(&p->peak64, sizeof p->peak64, a, err);
	case TCA_TBF_BURST:
		return get(&p->burst, sizeof p->burst, a, err);
	case TCA_TBF_PBURST:
		return get(&p->peak_burst, sizeof p->peak_burst, a, err);
	default:
		return 0;
	}
}

static uint32_t bytes_in(uint32_t ticks_, uint64_t rate)
{
	double bytes = (double)ticks_ * TICK_NS * 1e-9 * (double)rate;

	return bytes >= UINT32_MAX ? UINT32_MAX : (uint32_t)(bytes + .5);
}

int tbf_decode(struct tbf *out, const void *options, size_t size, struct error *err)
{
	struct parts p = {0};
	const struct nlattr *a;
	int left, r;

	nla_for_each_attr(a, (const struct nlattr *)options, (int)size, left)
	{
		r = get_any(&p, a, err);
		if (r < 0)
			return r;
	}
	if (!p.head.rate.rate)
		return error_set(err, -EINVAL, STATUS_MACHINE, "the kernel's tbf has no rate");
	*out = (struct tbf){
		.rate = p.rate64 > p.head.rate.rate ? p.rate64 : p.head.rate.rate,
		.limit = p.head.limit,
		.peak = p.peak64 > p.head.peakrate.rate ? p.peak64 : p.head.peakrate.rate,
		.overhead = p.head.rate.overhead,
		.mpu = p.head.rate.mpu,
	};
	out->burst = p.burst ? p.burst : bytes_in(p.head.buffer, out->rate);
	if (out->peak)
		out->peak_burst = p.peak_burst ? p.peak_burst : bytes_in(p.head.mtu, out->peak);
	return 0;
}

uint64_t tbf_burst_tolerance(uint64_t rate)
{
	return rate * 2 * TICK_NS / 1000000000 + 2;
}
