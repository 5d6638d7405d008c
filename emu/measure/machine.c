/* The self-test; see machine.h. */
#include "emu/measure/machine.h"

#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "emu/measure/flow.h"
#include "emu/measure/probes.h"

#define UNLIMITED_BPS INT64_C(100000000000)
#define QUEUE_BYTES (64 << 20)
#define DELAY_NS (5 * NS_PER_MS)
#define BUFFER (64 << 20)
#define PORT 5201
#define PROBES 200
#define GAP_NS (5 * NS_PER_MS)
/* of what it carries: a job has many more connections than the flow it was found with */
#define SHARE 0.5
#define SEGMENT 1448

static void make_plan(struct link_plan *plan)
{
	plan->dilation = 1;
	for (int i = 0; i < 2; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			plan->links[i][d] = (struct link_direction){
				.base = {.rate_bps = UNLIMITED_BPS, .queue_bytes = QUEUE_BYTES},
				.overhead_bytes = LINK_OVERHEAD_ETHERNET,
			};
	plan->core_delay_ns[0][1] = plan->core_delay_ns[1][0] = DELAY_NS;
}

static int lateness(const struct topology *t, const int *stop_fd, double *out, struct error *err)
{
	const struct probe_spec spec = {.from = 0,
		.to = 1,
		.port = PORT,
		.n = PROBES,
		.gap_ns = GAP_NS,
		.patience_ns = 100 * NS_PER_MS,
		.stop_fd = stop_fd};
	struct probe_summary s;
	struct probes p;
	int r = probes_start(&p, t, &spec, err);

	if (r < 0)
		return r;
	r = probes_finish(&p, err);
	if (!r) {
		probes_summary(p.times, PROBES, WAY_THERE, 0, INT64_MAX, &s);
		*out = fmax(0, s.p99_s - (double)DELAY_NS / NS_PER_S);
	}
	probes_free(&p);
	return r;
}

/* Payload bit/s that arrive. */
static int capacity(
	const struct topology *t, bool udp, const int *stop_fd, double *out, struct error *err)
{
	const struct flow_spec spec = {.from = 0,
		.to = 1,
		.port = PORT,
		.udp = udp,
		.streams = 1,
		.rate_bps = udp ? UNLIMITED_BPS : 0,
		.settle_ns = 300 * NS_PER_MS,
		.measure_ns = 600 * NS_PER_MS,
		.patience_ns = NS_PER_S,
		.stop_fd = stop_fd};
	struct flow_result result;
	struct flow flow;
	int r = flow_start(&flow, t, &spec, err);

	if (!r)
		r = flow_finish(&flow, &result, err);
	if (!r)
		*out = result.received_bps;
	return r;
}

int machine_measure(
	struct machine *out, const struct backend *backend, const int *stop_fd, struct error *err)
{
	static const struct topology_tcp tcp = {.receive_buffer = BUFFER, .send_buffer = BUFFER};
	static const char *const names[] = {"one", "two"};
	_free_ struct link_plan *plan = memory_zero(1, sizeof *plan);
	struct backend_run *run = NULL;
	struct topology *t = NULL;
	double tcp_bps = 0, udp_bps = 0;
	struct machine m = {0};
	int r = topology_up(&t, 2, names, &tcp, err);

	make_plan(plan);
	if (!r)
		r = backend->up(&run, t, plan, err);
	if (!r)
		r = lateness(t, stop_fd, &m.late_p99_s, err);
	if (!r)
		r = capacity(t, false, stop_fd, &tcp_bps, err);
	if (!r)
		r = capacity(t, true, stop_fd, &udp_bps, err);
	backend->down(run);
	topology_down(t);
	m.tcp_bps = tcp_bps * (LINK_MTU + LINK_OVERHEAD_ETHERNET) / SEGMENT;
	m.packets_s = udp_bps / (8 * FLOW_DATAGRAM);
	if (!r)
		*out = m;
	return r;
}

double machine_dilation(const struct machine *m, double aggregate_bps)
{
	double k = ceil(aggregate_bps / (SHARE * m->tcp_bps));

	return k >= 1 ? fmin(k, 1000) : 1;
}
