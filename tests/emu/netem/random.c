/* Every field of the structs, often zero; see random.h. */
#include "tests/emu/netem/random.h"

#include "base/random.h"

static uint64_t draw(uint64_t *c)
{
	return random_u64(20264, 0, RANDOM_LOSS, (*c)++);
}

/* Zero in one of four, otherwise anything. */
static uint32_t word(uint64_t *c)
{
	return draw(c) % 4 ? (uint32_t)draw(c) : 0;
}

static int64_t time_ns(uint64_t *c)
{
	return (int64_t)(draw(c) % 4 ? draw(c) >> (1 + draw(c) % 60) : 0);
}

static struct netem_table table(uint64_t *c, int16_t *values)
{
	size_t n = draw(c) % 8 ? draw(c) % 8 : draw(c) % NETEM_DIST_MAX;

	for (size_t i = 0; i < n; i++)
		values[i] = (int16_t)(i * 31);
	return (struct netem_table){n ? values : NULL, n};
}

static void random_model(struct netem_loss_model *m, uint64_t *c)
{
	m->kind = (int)(draw(c) % 3);
	if (m->kind == NETEM_LOSS_GE)
		m->ge = (struct tc_netem_gemodel){word(c), word(c), word(c), word(c)};
	else if (m->kind == NETEM_LOSS_GI)
		m->gi = (struct tc_netem_gimodel){word(c), word(c), word(c), word(c), word(c)};
}

void random_netem(struct netem *n, uint64_t *c)
{
	static int16_t delays[NETEM_DIST_MAX], slots[NETEM_DIST_MAX];

	*n = (struct netem){
		.latency_ns = time_ns(c),
		.jitter_ns = time_ns(c),
		.limit = word(c),
		.loss = word(c),
		.duplicate = word(c),
		.gap = word(c),
		.correlation = {word(c), word(c), word(c)},
		.reorder = {word(c), word(c)},
		.corrupt = {word(c), word(c)},
		.rate = draw(c) >> (draw(c) % 64),
		.packet_overhead = (int32_t)word(c),
		.cell_size = word(c),
		.cell_overhead = (int32_t)word(c),
		.ecn = draw(c) % 2,
		.slot = {time_ns(c), time_ns(c), (int32_t)word(c), (int32_t)word(c), time_ns(c),
			time_ns(c)},
		.has_seed = draw(c) % 2,
	};
	if (n->has_seed)
		n->seed = draw(c);
	random_model(&n->model, c);
	n->delay_table = table(c, delays);
	n->slot_table = table(c, slots);
}

void random_tbf(struct tbf *t, uint64_t *c)
{
	*t = (struct tbf){
		.rate = 1 + (draw(c) >> (24 + draw(c) % 40)),
		.burst = 1 + (uint32_t)(draw(c) >> (33 + draw(c) % 20)),
		.limit = word(c),
		.overhead = (uint16_t)draw(c),
		.mpu = (uint16_t)draw(c),
	};
	if (draw(c) % 2) {
		t->peak = t->rate + 1 + draw(c) % 1000000;
		t->peak_burst = 1 + (uint32_t)(draw(c) % 100000);
	}
}
