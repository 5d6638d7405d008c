/*
 * The relay's figures, measured at the receiver: prints a table and ends with 1 when one of them
 * is not reached. Arguments name the measurements to take; none takes all (about 7 minutes).
 * Timings on a busy machine are worth nothing: run it alone.
 */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "emu/measure/flow.h"
#include "tests/emu/relay/burst.h"
#include "tests/emu/relay/rig.h"
#include "tests/emu/relay/traffic.h"
#include "tests/emu/relay/veth.h"

#define MBIT INT64_C(1000000)
#define GBIT INT64_C(1000000000)
#define MS NS_PER_MS
#define PORT 5001
#define PAYLOAD 1448
#define FRAME 1514
#define SENDERS 7
#define SHARED (200 * MBIT) /* slow enough for one processor to fill the kernel's own link */

static int failures;

/* A row: what was measured, and the range that it must lie in. */
static void row(const char *what, double got, double low, double high, const char *unit)
{
	bool holds = got >= low && got <= high;

	failures += !holds;
	printf("%-58s %12.4f %-7s %10.4g .. %-10.4g %s\n", what, got, unit, low,
		isinf(high) ? NAN : high, holds ? "ok" : "MISSED");
	fflush(stdout);
}

/* Links of a rig with a round trip, split evenly between both accesses' two directions. */
static void raise_rig(struct rig *rig, int n, int64_t rate_bps, int64_t rtt_ns, double window_bdp,
	int connections, const char *congestion)
{
	double bdp = (double)rate_bps / 8e9 * (double)rtt_ns;

	rig_new(rig, n, &(struct rig_link){.rate_bps = rate_bps, .delay_ns = rtt_ns / 4});
	rig_up(rig, congestion, (int64_t)(bdp * window_bdp / connections) + 100000);
}

struct load {
	struct traffic *traffic;
	pid_t sender, receiver;
};

enum load_kind { EVERY_PACKET, RARELY, PLAIN };

static struct load load_start(
	const struct rig *rig, int from, int to, int connections, enum load_kind kind)
{
	struct load f = {.traffic = rig_share(sizeof *f.traffic)};

	*f.traffic = (struct traffic){.from = from,
		.to = to,
		.port = PORT + from,
		.connections = connections,
		.rarely = kind == RARELY,
		.plain = kind == PLAIN};
	f.receiver = rig_spawn(rig, to, traffic_receive, f.traffic);
	f.sender = rig_spawn(rig, from, traffic_send, f.traffic);
	return f;
}

static void load_stop(struct load *f)
{
	rig_kill(f->sender);
	rig_kill(f->receiver);
}

/* The most memory that the relay has had resident, in bytes. */
static double resident(const struct rig *rig)
{
	char path[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", backend_relay.pid(rig->run));
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (double)kib * 1024;
}

static void bench_rates(void)
{
	const struct {
		int64_t rate;
		double tolerance;
	} cases[] = {{10 * MBIT, 0.001}, {100 * MBIT, 0.001}, {840 * MBIT, 0.001}, {GBIT, 0.001},
		{5 * GBIT, 0.005}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double want = (double)cases[i].rate / 1e6 * PAYLOAD / FRAME;
		struct link_stats s;
		struct rig rig;
		struct load f;
		char what[80];

		raise_rig(&rig, 2, cases[i].rate, 20 * MS, 1.5, 2, "reno");
		f = load_start(&rig, 0, 1, 2, cases[i].rate >= GBIT ? RARELY : EVERY_PACKET);
		sleep(14);
		load_stop(&f);
		snprintf(
			what, sizeof what, "TCP payload at %g Mbit/s", (double)cases[i].rate / 1e6);
		row(what, traffic_rate_bps(f.traffic, 3 * NS_PER_S, 13 * NS_PER_S) / 1e6,
			want * (1 - cases[i].tolerance), want * (1 + cases[i].tolerance), "Mbit/s");
		s = rig_stats(&rig, 1, DOWN);
		if (cases[i].rate == 5 * GBIT)
			row("lateness p99 at 5 Gbit/s (half load)",
				(double)histogram_quantile(&s.lateness, 0.99) / 1e6, 0, 0.5, "ms");
		rig_down(&rig);
	}
}

static void bench_long(void)
{
	const int64_t rtt = 600 * MS; /* half of it, 375 MB, on the way there */
	struct link_stats s;
	struct rig rig;
	struct load f;

	raise_rig(&rig, 2, 10 * GBIT, rtt, 1.1, 8, "reno");
	f = load_start(&rig, 0, 1, 8, RARELY);
	sleep(17);
	row("10 Gbit/s, 600 ms: TCP payload",
		traffic_rate_bps(f.traffic, 11 * NS_PER_S, 16 * NS_PER_S) / 1e9, 9, INFINITY,
		"Gbit/s");
	s = rig_stats(&rig, 0, UP);
	row("  queue high-water", (double)s.queue_high_bytes / 1e6, 0, INFINITY, "MB");
	row("  relay's memory over (1.3 x bytes in flight + 64 MiB)",
		resident(&rig) / (1.3 * ((double)s.queue_high_bytes + 375e6) + (64 << 20)), 0, 1,
		"");
	s = rig_stats(&rig, 1, DOWN);
	row("  lateness p99 (full load)", (double)histogram_quantile(&s.lateness, 0.99) / 1e6, 0,
		INFINITY, "ms");
	load_stop(&f);
	rig_down(&rig);
}

static void bench_ring(void)
{
	struct load flows[8];
	double sum = 0;
	struct rig rig;

	raise_rig(&rig, 8, 1250 * MBIT, 100 * MS, 1.3, 2, "reno");
	for (int i = 0; i < 8; i++)
		flows[i] = load_start(&rig, i, (i + 1) % 8, 2, RARELY);
	sleep(11);
	for (int i = 0; i < 8; i++) {
		load_stop(&flows[i]);
		sum += traffic_rate_bps(flows[i].traffic, 4 * NS_PER_S, 9 * NS_PER_S) / 1e9;
	}
	row("eight sites at 1.25 Gbit/s, 100 ms, ring: together", sum, 8, INFINITY, "Gbit/s");
	rig_down(&rig);
}

/* The senders and receivers that a link without limits and a veth pair are compared with. */
static const char *const ends[] = {"sendfile, not read", "send() and recv()", "libiperf"};
#define ENDS 3

static double iperf_throughput(const struct rig *rig)
{
	const struct flow_spec spec = {.to = 1,
		.port = PORT + 10,
		.streams = 4,
		.settle_ns = 2 * NS_PER_S,
		.measure_ns = 3 * NS_PER_S};
	struct flow iperf;
	struct flow_result got;
	struct error err = {0};

	if (flow_start(&iperf, rig->topology, &spec, &err) < 0 ||
		flow_finish(&iperf, &got, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return got.received_bps / 1e9;
}

static void throughputs(const struct rig *rig, double gbps[ENDS])
{
	for (int i = 0; i < ENDS - 1; i++) {
		struct load f = load_start(rig, 0, 1, 4, i ? PLAIN : RARELY);

		sleep(6);
		load_stop(&f);
		gbps[i] = traffic_rate_bps(f.traffic, 2 * NS_PER_S, 5 * NS_PER_S) / 1e9;
	}
	gbps[ENDS - 1] = iperf_throughput(rig);
}

/* A link without limits against a veth pair, each with the same senders and receivers. */
static void bench_veth(void)
{
	double relay[ENDS], bare[ENDS];
	struct rig rig;
	char what[80];

	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * GBIT, .queue_bytes = 64 << 20});
	rig_up(&rig, "reno", 8 << 20);
	throughputs(&rig, relay);
	rig_down(&rig);
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = GBIT});
	veth_up(&rig, "reno", 8 << 20);
	throughputs(&rig, bare);
	rig_down(&rig);
	for (int i = 0; i < ENDS; i++) {
		snprintf(what, sizeof what, "unlimited, no delay, %s: relay", ends[i]);
		row(what, relay[i], 0, INFINITY, "Gbit/s");
		row("  bare veth pair", bare[i], 0, INFINITY, "Gbit/s");
		row("  ratio", relay[i] / bare[i], 0.4, INFINITY, "");
	}
}

/*
 * As ping does: until the kernel's time stamp of the answer, so that what this process waits for
 * a processor that sleeps does not count. One echo every gap_ns, however many are on their way.
 */
#define PINGS_MAX 128

struct pings {
	int fd, n, n_sent, n_got;
	struct sockaddr_storage to;
	unsigned length;
	struct timespec sent[PINGS_MAX];
	double ms[PINGS_MAX]; /* of those that came back */
};

static void ping_send(struct pings *p)
{
	struct icmphdr request = {.type = ICMP_ECHO, .un.echo.sequence = htons(p->n_sent)};

	clock_gettime(CLOCK_REALTIME, &p->sent[p->n_sent++]);
	sendto(p->fd, &request, sizeof request, 0, (struct sockaddr *)&p->to, p->length);
}

static void ping_take(struct pings *p)
{
	struct icmphdr reply;
	struct timespec got;
	char control[128];
	struct iovec iov = {&reply, sizeof reply};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	struct cmsghdr *c;
	int k;

	if (recvmsg(p->fd, &msg, MSG_DONTWAIT) < 0)
		return;
	c = CMSG_FIRSTHDR(&msg);
	k = ntohs(reply.un.echo.sequence);
	if (!c || c->cmsg_type != SCM_TIMESTAMPNS || k >= p->n_sent)
		return;
	memcpy(&got, CMSG_DATA(c), sizeof got);
	p->ms[p->n_got++] = (double)(got.tv_sec - p->sent[k].tv_sec) * 1e3 +
			    (double)(got.tv_nsec - p->sent[k].tv_nsec) / 1e6;
}

static void ping(struct pings *p, int64_t gap_ns, int64_t rtt_ns)
{
	int64_t start_ns = clock_now_ns(), end_ns = start_ns + p->n * gap_ns + rtt_ns + NS_PER_S;
	struct pollfd events = {.fd = p->fd, .events = POLLIN};

	while (p->n_got < p->n) {
		int64_t now_ns = clock_now_ns();
		int64_t next_ns = p->n_sent < p->n ? start_ns + p->n_sent * gap_ns : end_ns;

		if (now_ns >= end_ns)
			break;
		if (now_ns >= next_ns)
			ping_send(p);
		else if (poll(&events, 1, (int)((next_ns - now_ns) / MS) + 1) > 0)
			ping_take(p);
	}
}

/* Not to measure how long this process waits for a processor. */
static void be_punctual(int policy)
{
	const struct sched_param param = {.sched_priority = policy == SCHED_FIFO ? 5 : 0};

	sched_setscheduler(0, policy, &param);
}

/*
 * 600 ms twice: one echo at a time, and one every 70 ms, so that the relay has something to do
 * every 20 to 30 ms: still long sleeps, but more of them.
 */
static void bench_rtt(void)
{
	const struct {
		int64_t rtt_ns, gap_ns;
		int n;
	} cases[] = {{2 * MS, 7 * MS, 101}, {20 * MS, 25 * MS, 101}, {600 * MS, 70 * MS, 101},
		{600 * MS, 605 * MS, 21}};
	const double serial = 4 * (28 + 14) * 8.0 / (double)GBIT * 1e3;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct pings p = {.n = cases[i].n};
		double want = (double)cases[i].rtt_ns / 1e6 + serial;
		struct rig rig;
		char what[80];

		raise_rig(&rig, 2, GBIT, cases[i].rtt_ns, 1, 1, "reno");
		p.fd = rig_socket(&rig, 0, AF_INET, SOCK_DGRAM, IPPROTO_ICMP, 0);
		p.to = rig_address(1, AF_INET, 0, &p.length);
		setsockopt(p.fd, SOL_SOCKET, SO_TIMESTAMPNS, &(int){1}, sizeof(int));
		be_punctual(SCHED_FIFO);
		ping(&p, cases[i].gap_ns, cases[i].rtt_ns);
		be_punctual(SCHED_OTHER);
		close(p.fd);
		rig_down(&rig);
		snprintf(what, sizeof what, "idle RTT over %g ms, every %g ms (median)",
			(double)cases[i].rtt_ns / 1e6, (double)cases[i].gap_ns / 1e6);
		row(what, stats_quantile(p.ms, (size_t)p.n_got, 0.5) - want, 0, 0.2, "ms");
		row("  p90", stats_quantile(p.ms, (size_t)p.n_got, 0.9) - want, 0, INFINITY, "ms");
		row("  echoes", p.n_got, p.n, p.n, "");
	}
}

/* Numbered datagrams through Gilbert-Elliott loss; what is missing is counted at the receiver. */
static void bench_bursts(void)
{
	enum { N = 400000 };
	struct rig rig;
	double low, high;
	int a, b, next = 0, lost = 0, bursts = 0, number;

	rig_new(&rig, 2, &(struct rig_link){.rate_bps = GBIT, .delay_ns = MS});
	rig.plan->links[0][UP].base.burst_loss = 0.05;
	rig.plan->links[0][UP].base.burst_length = 8;
	rig_up(&rig, "", 0);
	a = rig_socket(&rig, 0, AF_INET, SOCK_DGRAM, 0, PORT);
	b = rig_socket(&rig, 1, AF_INET, SOCK_DGRAM, 0, PORT);
	for (int i = 0; i < N; i++) {
		unsigned length;
		struct sockaddr_storage to = rig_address(1, AF_INET, PORT, &length);
		struct pollfd p = {.fd = b, .events = POLLIN};

		sendto(a, &i, sizeof i, 0, (struct sockaddr *)&to, length);
		while ((i % 100 == 99 && poll(&p, 1, i == N - 1 ? 200 : 1) > 0) ||
			recv(b, NULL, 0, MSG_DONTWAIT | MSG_PEEK) >= 0) {
			if (recv(b, &number, sizeof number, MSG_DONTWAIT) < 0)
				break;
			lost += number - next;
			bursts += number > next;
			next = number + 1;
		}
	}
	lost += N - next;
	stats_wilson((uint64_t)lost, N, 2.576, &low, &high);
	/* Bursts are not independent draws: the interval widens by sqrt(2 x burst length). */
	row("burst loss 5 %, mean burst 8: counted loss", 100.0 * lost / N,
		5 - 400 * (high - low) / 2, 5 + 400 * (high - low) / 2, "%");
	row("  mean burst", (double)lost / bursts, 8 * 0.95, 8 * 1.05, "");
	rig_down(&rig);
}

static void bench_mathis(void)
{
	struct link_stats s;
	double low, high;
	struct rig rig;
	struct load f;

	rig_new(&rig, 2, &(struct rig_link){.rate_bps = GBIT, .delay_ns = 5 * MS / 4});
	rig.plan->links[0][UP].base.loss = 0.01;
	rig_up(&rig, "reno", 4 << 20);
	f = load_start(&rig, 0, 1, 1, EVERY_PACKET);
	sleep(32);
	load_stop(&f);
	row("1 % loss, 5 ms, reno: goodput (Mathis: 27)",
		traffic_rate_bps(f.traffic, NS_PER_S, 31 * NS_PER_S) / 1e6, 27 * 0.7, 27 * 1.3,
		"Mbit/s");
	s = rig_stats(&rig, 0, UP);
	stats_wilson(s.drop_segments[DROP_RANDOM], s.sent_segments, 2.576, &low, &high);
	row("  loss counted, 1 % inside its 99 % interval",
		100.0 * (double)s.drop_segments[DROP_RANDOM] / (double)s.sent_segments,
		1 - 50 * (high - low), 1 + 50 * (high - low), "%");
	rig_down(&rig);
}

/* Jain's index of seven flows into site 0, and the slowest over the mean. */
static void share(const struct rig *rig, const char *congestion, const char *what)
{
	double sum = 0, squares = 0, least = INFINITY, bps;
	struct load flows[SENDERS];
	char text[80];

	for (int i = 0; i < SENDERS; i++)
		flows[i] = load_start(rig, i + 1, 0, 1, EVERY_PACKET);
	sleep(20);
	for (int i = 0; i < SENDERS; i++) {
		load_stop(&flows[i]);
		bps = traffic_rate_bps(flows[i].traffic, 4 * NS_PER_S, 19 * NS_PER_S);
		sum += bps;
		squares += bps * bps;
		least = bps < least ? bps : least;
	}
	snprintf(text, sizeof text, "7 %s flows into 200 Mbit/s, %s: together", congestion, what);
	row(text, sum / 1e6, 0, INFINITY, "Mbit/s");
	row("  Jain's index", sum * sum / (SENDERS * squares), 0, 1, "");
	row("  slowest over mean", least * SENDERS / sum, 0, 1, "");
}

/* The senders' own links are fifty times as fast: what the flows share is the receiver's. */
static void share_relay(const char *congestion, int64_t rtt_ns, const char *what)
{
	struct rig rig;

	rig_new(&rig, 1 + SENDERS,
		&(struct rig_link){.rate_bps = 10 * GBIT, .delay_ns = rtt_ns / 4});
	rig.plan->links[0][DOWN].base.rate_bps = SHARED;
	rig.plan->links[0][DOWN].queue_ns = 50 * MS;
	rig_up(&rig, congestion, 8 << 20);
	share(&rig, congestion, what);
	rig_down(&rig);
}

/* How evenly flows share a link, against the same link made of the kernel's own parts. */
static void bench_share(void)
{
	static const char *const controls[] = {"reno", "cubic"};
	struct rig rig;

	for (int i = 0; i < 2; i++) {
		rig_new(&rig, 1 + SENDERS, &(struct rig_link){.rate_bps = GBIT});
		bridge_up(&rig, controls[i], 8 << 20, SHARED, 50 * MS);
		share(&rig, controls[i], "bridge and tbf");
		bridge_down(&rig);
		share_relay(controls[i], 0, "relay, no delay");
		share_relay(controls[i], 80 * MS, "relay, 80 ms");
	}
}

static void bench_exchange(void)
{
	const struct {
		int64_t rtt, rate;
		double bytes;
	} cases[] = {{100 * MS, 840 * MBIT, 1e6}, {100 * MS, 840 * MBIT, 1e7},
		{100 * MS, 840 * MBIT, 1e8}, {100 * MS, 840 * MBIT, 3e8},
		{600 * MS, 100 * MBIT, 1e6}, {600 * MS, 100 * MBIT, 1e7},
		{600 * MS, 100 * MBIT, 1e8}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double rtt_s = (double)cases[i].rtt / 1e9;
		double want = rtt_s + burst_s(cases[i].bytes, rtt_s, (double)cases[i].rate);
		struct traffic *t = rig_share(sizeof *t);
		struct rig rig;
		pid_t receiver;
		char what[80];

		rig_new(&rig, 2,
			&(struct rig_link){.rate_bps = cases[i].rate,
				.delay_ns = cases[i].rtt / 4,
				.queue_ns = 5 * NS_PER_S});
		rig_up(&rig, "reno", 400 << 20);
		*t = (struct traffic){
			.to = 1, .port = PORT, .connections = 1, .bytes = (int64_t)cases[i].bytes};
		receiver = rig_spawn(&rig, 1, traffic_receive, t);
		rig_wait(rig_spawn(&rig, 0, traffic_send, t));
		rig_kill(receiver);
		rig_down(&rig);
		snprintf(what, sizeof what, "%g MB at %g Mbit/s, %g ms, cold (model %.3f s)",
			cases[i].bytes / 1e6, (double)cases[i].rate / 1e6,
			(double)cases[i].rtt / 1e6, want);
		row(what, (double)(t->ended_ns - t->started_ns) / 1e9, want * 0.95, want * 1.05,
			"s");
	}
}

/* TCP memory is shared by all namespaces: what others hold makes our windows smaller. */
static void warn_of_others(void)
{
	_fclose_ FILE *f = fopen("/proc/net/sockstat", "re");
	long pages;
	char line[256];

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "TCP: inuse %*d orphan %*d tw %*d alloc %*d mem %ld", &pages) ==
				1 &&
			pages > 25600)
			printf("TCP sockets of others hold %ld MiB: windows may not open\n",
				pages / 256);
}

static const struct {
	const char *name;
	void (*run)(void);
} benches[] = {{"rtt", bench_rtt}, {"rates", bench_rates}, {"long", bench_long},
	{"ring", bench_ring}, {"veth", bench_veth}, {"bursts", bench_bursts},
	{"mathis", bench_mathis}, {"exchange", bench_exchange}, {"share", bench_share}};

int main(int argc, char **argv)
{
	struct error err = {0};

	if (backend_relay.probe(&err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 77; /* meson: skipped */
	}
	warn_of_others();
	for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
		bool wanted = argc == 1;

		for (int k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], benches[i].name);
		if (wanted)
			benches[i].run();
	}
	return failures > 0;
}
