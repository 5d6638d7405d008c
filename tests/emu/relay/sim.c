/* See sim.h. */
#include "tests/test.h"

#include "tests/emu/relay/sim.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "tests/emu/relay/packets.h"

static int64_t deliver(void *context, int site, struct packet *p)
{
	struct sim *sim = context;
	struct iovec iov[POOL_IOV_MAX];
	struct sim_delivery *d = &sim->delivered[sim->n_delivered++];

	assert_true(sim->n_delivered < SIM_DELIVERED_MAX);
	assert_int_equal(sim->now_ns, p->at_ns);
	*d = (struct sim_delivery){.due_ns = p->at_ns,
		.site = site,
		.from = p->from,
		.first = p->first,
		.count = p->count,
		.frame_bytes = p->root->bytes};
	memcpy(&d->tag, p->root->head + PACKET_VNET_BYTES + 20 + 4, sizeof d->tag);
	assert_true(pool_parts(sim->pool, p, 0, p->root->bytes, iov) > 0);
	return sim->refuses ? -1 : sim->now_ns;
}

void sim_new(struct sim *sim, int n_sites)
{
	*sim = (struct sim){.n_sites = n_sites, .now_ns = NS_PER_S};
	sim->plan = memory_zero(1, sizeof *sim->plan);
	sim->plan->dilation = 1;
	sim->stats = memory_zero((size_t)n_sites, sizeof *sim->stats);
	sim->delivered = memory_zero(SIM_DELIVERED_MAX, sizeof *sim->delivered);
}

void sim_begin(struct sim *sim, uint64_t pool_bytes)
{
	struct error err = {0};

	assert_int_equal(pool_new(&sim->pool, pool_bytes, &err), 0);
	sim->engine = engine_new(
		sim->plan, sim->n_sites, sim->pool, sim->stats, deliver, sim, sim->now_ns);
}

void sim_end(struct sim *sim)
{
	engine_free(sim->engine);
	pool_free(sim->pool);
	cleanup_free(&sim->plan);
	cleanup_free(&sim->stats);
	cleanup_free(&sim->delivered);
}

/* The tag lies where TCP has its sequence number and UDP its length and checksum. */
static void put_in(struct sim *sim, int from, uint8_t *frame, size_t n, uint32_t tag)
{
	int n_iov;
	const struct iovec *iov = pool_room(sim->pool, &n_iov);
	struct packet_shape shape;
	struct packet *p;
	size_t at = 0;

	memcpy(frame + PACKET_VNET_BYTES + 20 + 4, &tag, sizeof tag);
	assert_int_equal(packet_parse(&shape, frame, n < 182 ? n : 182, n), 0);
	for (int i = 0; i < n_iov && at < n; i++) {
		size_t part = n - at < iov[i].iov_len ? n - at : iov[i].iov_len;

		memcpy(iov[i].iov_base, frame + at, part);
		at += part;
	}
	p = pool_take(sim->pool, n);
	p->shape = shape;
	engine_input(sim->engine, from, p, sim->now_ns);
}

void sim_send_tcp(struct sim *sim, int from, int to, int segments, uint32_t tag)
{
	static uint8_t frame[PACKETS_MAX];
	const struct packets_tcp tcp = {
		.version = 4, .to = to, .payload = segments * 1448, .segment = 1448, .options = 12};

	put_in(sim, from, frame, packets_tcp(frame, &tcp), tag);
}

void sim_send_udp(struct sim *sim, int from, int to, int ip_bytes, uint32_t tag)
{
	static uint8_t frame[PACKETS_MAX];

	put_in(sim, from, frame, packets_udp(frame, 4, to, ip_bytes - 28), tag);
}

void sim_run(struct sim *sim, int64_t until_ns)
{
	int64_t next_ns;

	while ((next_ns = engine_next_ns(sim->engine)) <= until_ns) {
		assert_true(next_ns >= sim->now_ns);
		sim->now_ns = next_ns;
		engine_run(sim->engine, next_ns, 1000);
	}
	if (until_ns != TIME_NEVER - 1)
		sim->now_ns = until_ns;
}

void sim_check_conservation(const struct sim *sim)
{
	for (int i = 0; i < sim->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++) {
			const struct link_stats *s = &sim->stats[i][d];
			uint64_t segments = s->delivered_segments, bytes = s->delivered_bytes;

			for (int c = 0; c < DROP_CAUSES; c++) {
				segments += s->drop_segments[c];
				bytes += s->drop_bytes[c];
			}
			assert_int_equal(s->segments, segments);
			assert_int_equal(s->bytes, bytes);
			assert_int_equal(s->sent_segments, s->segments -
								   s->drop_segments[DROP_QUEUE] -
								   s->drop_segments[DROP_MEMORY]);
			assert_int_equal(s->sent_bytes,
				s->bytes - s->drop_bytes[DROP_QUEUE] - s->drop_bytes[DROP_MEMORY]);
		}
}
