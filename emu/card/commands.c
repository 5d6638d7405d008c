/* A shaping as the commands that others would use; see shaping.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "emu/card/shaping.h"

#define MAJOR(handle) ((handle) >> 16)

/* tc knows s, ms, us and ns. */
static void print_time(FILE *out, int64_t ns)
{
	if (ns % NS_PER_MS == 0)
		fprintf(out, " %" PRId64 "ms", ns / NS_PER_MS);
	else if (ns % NS_PER_US == 0)
		fprintf(out, " %" PRId64 "us", ns / NS_PER_US);
	else
		fprintf(out, " %" PRId64 "ns", ns);
}

static void print_rate(FILE *out, uint64_t bytes_s)
{
	static const struct {
		uint64_t size;
		const char *name;
	} units[] = {{1000000000, "gbit"}, {1000000, "mbit"}, {1000, "kbit"}, {1, "bit"}};
	uint64_t bits = bytes_s * 8;
	size_t i = 0;

	while (bits % units[i].size)
		i++;
	fprintf(out, " rate %" PRIu64 "%s", bits / units[i].size, units[i].name);
}

/* The fewest digits from which tc makes the same number. */
static void print_share(FILE *out, uint32_t probability)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, 100. * probability / UINT32_MAX);
		if (llrint(strtod(text, NULL) / 100 * UINT32_MAX) == probability)
			break;
	}
	fprintf(out, " %s%%", text);
}

static void print_loss(FILE *out, const struct netem *n)
{
	if (n->model.kind == NETEM_LOSS_GE) {
		fputs(" loss gemodel", out);
		print_share(out, n->model.ge.p);
		print_share(out, n->model.ge.r);
		fputs(" 100%", out);
		print_share(out, n->model.ge.k1);
	} else if (n->loss) {
		fputs(" loss", out);
		print_share(out, n->loss);
	}
}

static void print_netem(FILE *out, const struct netem *n)
{
	fprintf(out, " netem limit %" PRIu32, n->limit);
	if (n->latency_ns || n->jitter_ns) {
		fputs(" delay", out);
		print_time(out, n->latency_ns);
	}
	if (n->jitter_ns)
		print_time(out, n->jitter_ns);
	print_loss(out, n);
	if (n->rate)
		print_rate(out, n->rate);
	fputc('\n', out);
}

static void print_overhead(FILE *out, int bytes)
{
	if (bytes)
		fprintf(out, " stab overhead %d", bytes);
}

static void print_line(
	FILE *out, const char *device, const struct shaping_place *p, const struct layout *l)
{
	if (p->top)
		fprintf(out, "tc qdisc add dev %s parent %x:1 handle %x:", device, MAJOR(p->top),
			MAJOR(p->netem));
	else
		fprintf(out, "tc qdisc replace dev %s root handle %x:", device, MAJOR(p->netem));
	if (!p->top)
		print_overhead(out, l->frame_overhead);
	print_netem(out, &l->netem);
	fprintf(out, "tc qdisc add dev %s parent %x:1 handle %x: tbf", device, MAJOR(p->netem),
		MAJOR(p->tbf));
	print_rate(out, l->tbf.rate);
	fprintf(out, " burst %" PRIu32 " limit %" PRIu32 "\n", l->tbf.burst, l->tbf.limit);
}

static const char *protocol(const struct prefix *p)
{
	return prefix_bits(p->family) == 128 ? "ipv6" : "ip";
}

static void print_match(FILE *out, const struct prefix *p, const char *side)
{
	char text[PREFIX_TEXT];

	fprintf(out, " protocol %s prio 1 u32 match %s %s %s", protocol(p),
		prefix_bits(p->family) == 128 ? "ip6" : "ip", side, prefix_format(text, p));
}

static void print_top(FILE *out, const struct shaping *s)
{
	const char *device = s->device.name;
	unsigned top = MAJOR(s->place[UP].top);

	fprintf(out, "tc qdisc replace dev %s root handle %x:", device, top);
	print_overhead(out, s->line[UP].layout.frame_overhead);
	fprintf(out,
		" prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"
		"tc filter add dev %s parent %x:",
		device, top);
	print_match(out, &s->wish.prefix, "dst");
	fprintf(out, " flowid %x:1\n", top);
}

static void print_incoming(FILE *out, const struct shaping *s)
{
	fprintf(out, "ip link add %s up txqueuelen 1000 type ifb\n", s->ifb);
	print_line(out, s->ifb, &s->place[DOWN], &s->line[DOWN].layout);
	if (device_merges(s->device.name))
		fprintf(out, "ethtool -K %s gro off\n", s->device.name);
	fprintf(out, "tc qdisc add dev %s handle ffff: ingress\ntc filter add dev %s parent ffff:",
		s->device.name, s->device.name);
	if (s->wish.has_prefix)
		print_match(out, &s->wish.prefix, "src");
	else
		fputs(" protocol all prio 1 u32 match u32 0 0", out);
	fprintf(out, " action mirred egress redirect dev %s\n", s->ifb);
}

void shaping_commands(const struct shaping *s, FILE *out)
{
	if (s->place[UP].top)
		print_top(out, s);
	print_line(out, s->device.name, &s->place[UP], &s->line[UP].layout);
	fprintf(out, "ip link set dev %s gso_max_segs 1\n", s->device.name);
	if (s->wish.incoming)
		print_incoming(out, s);
}
