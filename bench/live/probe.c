/* Pings to each peer in turn; see probe.h. */
#include "bench/live/probe.h"

/* All agents probe at once: between two pings of the whole mesh there is time for both. */
#define ROUND_NS (25 * NS_PER_MS)
#define PAIR_NS (20 * NS_PER_US)

static void send_next(struct loop_timer *timer);

void probe_init(struct probe *p, struct loop *loop, struct mesh *mesh, struct outbox *outbox)
{
	const struct mesh_config *config = mesh->config;
	int self = config->self, sites = 0;

	*p = (struct probe){.loop = loop,
		.mesh = mesh,
		.outbox = outbox,
		.patience_ns = config->attempt_ns,
		.timer.fire = send_next};
	for (int i = 0; i < config->n_nodes; i++)
		sites += config->nodes[i].site == i;
	for (int i = 0; i < self && config->nodes[self].site == self; i++)
		if (config->nodes[i].site == i) {
			p->least_ns[p->n_peers] = -1;
			p->peers[p->n_peers++] = i;
		}
	p->gap_ns = ROUND_NS + sites * sites * PAIR_NS;
	if (p->n_peers)
		p->gap_ns /= p->n_peers;
}

static void finish(struct probe *p)
{
	struct news news = {.kind = NEWS_RTT};

	loop_timer_cancel(p->loop, &p->timer);
	for (int i = 0; i < p->n_peers; i++) {
		news.peer = p->peers[i];
		news.rtt_ns = p->least_ns[i];
		outbox_put(p->outbox, &news);
	}
	outbox_put(p->outbox, &(struct news){.kind = NEWS_MEASURED});
}

static void send_next(struct loop_timer *timer)
{
	struct probe *p = container_of(timer, struct probe, timer);
	bool all_sent = p->sent == PROBE_PINGS * p->n_peers;

	if (all_sent) { /* and the last answers have not come in time */
		finish(p);
		return;
	}
	mesh_ping(p->mesh, p->peers[p->sent++ % p->n_peers]);
	all_sent = p->sent == PROBE_PINGS * p->n_peers;
	loop_timer_set(p->loop, timer, p->loop->now_ns + (all_sent ? p->patience_ns : p->gap_ns));
}

void probe_begin(struct probe *p)
{
	if (p->n_peers)
		send_next(&p->timer);
	else
		finish(p);
}

void probe_pong(struct probe *p, int peer, int64_t rtt_ns)
{
	for (int i = 0; i < p->n_peers; i++)
		if (p->peers[i] == peer && (p->least_ns[i] < 0 || rtt_ns < p->least_ns[i]))
			p->least_ns[i] = rtt_ns;
	if (++p->answers == PROBE_PINGS * p->n_peers)
		finish(p);
}
