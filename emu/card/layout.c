/* A link's state as qdiscs of one device, and back; see layout.h. */
#include "emu/card/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/units.h"
#include "emu/netem/stage.h"

#define UNLIMITED INT32_MAX /* packets in netem: what may wait there is limited by the delay */
#define INSTANT INT64_C(1000000000000) /* B/s: a packet takes 1.5 ns, and none overtakes */

static uint32_t fits(int64_t bytes)
{
	return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

void layout_make(struct layout *l, const struct link_state *state, int overhead_bytes,
	const struct device *d)
{
	int64_t frame = (d->mtu > LINK_MTU ? d->mtu : LINK_MTU) + overhead_bytes;
	struct stage s;

	stage_make(&s, state, overhead_bytes, 0);
	*l = (struct layout){
		.frame_overhead = overhead_bytes - device_header(d),
		.netem = s.netem,
		.tbf = s.tbf,
	};
	l->netem.limit = UNLIMITED;
	l->netem.rate = state->jitter_ns ? INSTANT : 0;
	l->netem.packet_overhead = 0;
	/* nothing serialises after the bucket, so what it holds is not part of the queue */
	l->tbf.limit = fits(state->queue_bytes < 2 * frame ? 2 * frame : state->queue_bytes);
	if (l->tbf.burst < frame)
		l->tbf.burst = fits(frame);
}

static double share(uint32_t probability)
{
	return (double)probability / UINT32_MAX;
}

static void read_loss(struct link_state *s, const struct netem *n)
{
	double p = share(n->model.ge.p), r = share(n->model.ge.r);

	s->burst_length = 1;
	if (n->model.kind == NETEM_LOSS_UNSPEC) {
		s->down = n->loss == NETEM_ALWAYS;
		s->loss = share(n->loss);
	}
	if (n->model.kind != NETEM_LOSS_GE)
		return;
	s->loss = share(n->model.ge.k1);
	if (p > 0 && r > 0) {
		s->burst_loss = p / (p + r);
		s->burst_length = 1 / r;
	}
}

struct text {
	char *at;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->at + t->used, t->size - t->used, format, ap);
	va_end(ap);
	t->used += n > 0 ? (size_t)n : 0;
	if (t->used >= t->size)
		t->used = t->size - 1;
}

static const char *comma(const struct text *t)
{
	return t->used ? ", " : "";
}

/* A share of packets, with a correlation if there is one. */
static void add_share(struct text *t, const char *what, uint32_t probability, uint32_t correlation)
{
	char text[32];

	if (!probability)
		return;
	add(t, "%s%s %s", comma(t), what, percent_format(text, sizeof text, share(probability), 6));
	if (correlation)
		add(t, " correlated by %s",
			percent_format(text, sizeof text, share(correlation), 6));
}

static void add_model(struct text *t, const struct netem_loss_model *m)
{
	const struct tc_netem_gimodel *i = &m->gi;

	if (m->kind == NETEM_LOSS_GE && m->ge.h)
		add_share(t, "delivered within bursts", m->ge.h, 0);
	if (m->kind == NETEM_LOSS_GI)
		add(t,
			"%sfour-state loss p13 %.6g %%, p31 %.6g %%, p32 %.6g %%, p23 %.6g %%, "
			"p14 %.6g %%",
			comma(t), 100 * share(i->p13), 100 * share(i->p31), 100 * share(i->p32),
			100 * share(i->p23), 100 * share(i->p14));
}

static void add_quantity(struct text *t, const char *what, enum quantity kind, int64_t value)
{
	char q[48];

	if (value)
		add(t, "%s%s %s", comma(t), what, quantity_format(q, sizeof q, kind, value, true));
}

static void add_slots(struct text *t, const struct tc_netem_slot *s)
{
	add_quantity(t, "slots from", QUANTITY_TIME, s->min_delay);
	add_quantity(t, "slots to", QUANTITY_TIME, s->max_delay);
	add_quantity(t, "slots of a distribution around", QUANTITY_TIME, s->dist_delay);
	add_quantity(t, "spread by", QUANTITY_TIME, s->dist_jitter);
	add_quantity(t, "packets a slot", QUANTITY_COUNT, s->max_packets);
	add_quantity(t, "a slot", QUANTITY_BYTES, s->max_bytes);
}

static void add_netem(struct text *t, const struct netem *n)
{
	if (n->limit < UNLIMITED)
		add(t, "%squeue of %" PRIu32 " packets", comma(t), n->limit);
	if (n->jitter_ns && !n->rate)
		add(t, "%sjitter that lets packets overtake", comma(t));
	if (n->correlation.delay_corr)
		add_share(t, "jitter correlated by", n->correlation.delay_corr, 0);
	if (n->correlation.loss_corr)
		add_share(t, "loss correlated by", n->correlation.loss_corr, 0);
	add_model(t, &n->model);
	if (n->ecn)
		add(t, "%smarked instead of lost (ECN)", comma(t));
	add_share(t, "duplicate", n->duplicate, n->correlation.dup_corr);
	add_share(t, "corrupt", n->corrupt.probability, n->corrupt.correlation);
	add_share(t, "reorder", n->reorder.probability, n->reorder.correlation);
	if (n->gap > 1)
		add(t, "%sreorder every %" PRIu32 "th packet", comma(t), n->gap);
	if (n->packet_overhead)
		add(t, "%srate counts %" PRId32 " B more per packet", comma(t), n->packet_overhead);
	if (n->cell_size)
		add(t, "%scells of %" PRIu32 " B and %" PRId32 " B", comma(t), n->cell_size,
			n->cell_overhead);
	add_slots(t, &n->slot);
	if (n->has_seed)
		add(t, "%sseed %" PRIu64, comma(t), n->seed);
}

static void add_tbf(struct text *t, const struct tbf *b)
{
	add_quantity(t, "peak rate", QUANTITY_RATE, (int64_t)b->peak * 8);
	if (b->overhead)
		add(t, "%sbucket counts %u B more per packet", comma(t), b->overhead);
	if (b->mpu)
		add(t, "%sbucket counts %u B at least", comma(t), b->mpu);
}

void layout_read(struct layout_words *out, const struct netem *netem, const struct tbf *tbf,
	int frame_overhead, const struct device *d)
{
	struct layout_words w = {.overhead_bytes = frame_overhead + device_header(d)};
	struct text also = {w.also, sizeof w.also, 0};
	struct link_state *s = &w.state;

	s->burst_length = 1;
	if (netem) {
		s->delay_ns = netem->latency_ns;
		s->jitter_ns = netem->jitter_ns;
		s->rate_bps = netem->rate == INSTANT ? 0 : (int64_t)netem->rate * 8;
		read_loss(s, netem);
		add_netem(&also, netem);
	}
	if (tbf) {
		if (!s->rate_bps || s->rate_bps > (int64_t)tbf->rate * 8)
			s->rate_bps = (int64_t)tbf->rate * 8;
		s->queue_bytes = tbf->limit;
		add_tbf(&also, tbf);
	}
	*out = w;
}

static void add_word(struct text *t, const char *key, enum quantity kind, int64_t value)
{
	char q[48];

	if (value)
		add(t, "%s%s: %s", t->used > 1 ? ", " : "", key,
			quantity_format(q, sizeof q, kind, value, true));
}

/* The kernel's shares have 32 bits: 9 digits of what was written. */
static int64_t ratio(double v)
{
	return llround(v * (double)RATIO_ONE);
}

static void add_overhead(struct text *t, int bytes)
{
	const char *between = t->used > 1 ? ", " : "";

	if (bytes == LINK_OVERHEAD_IP || bytes == LINK_OVERHEAD_WIRE)
		add(t, "%soverhead: %s", between, bytes == LINK_OVERHEAD_IP ? "ip" : "wire");
	else if (bytes != LINK_OVERHEAD_ETHERNET)
		add(t, "%soverhead: %d B", between, bytes);
}

char *layout_format(char *text, size_t size, const struct layout_words *w)
{
	const struct link_state *s = &w->state;
	struct text t = {text, size, 0};

	add(&t, "{");
	add_word(&t, "rate", QUANTITY_RATE, s->rate_bps);
	add_word(&t, "delay", QUANTITY_TIME, s->delay_ns);
	add_word(&t, "queue", QUANTITY_BYTES, s->queue_bytes);
	add_word(&t, "jitter", QUANTITY_TIME, s->jitter_ns);
	add_word(&t, "loss", QUANTITY_RATIO, ratio(s->loss));
	if (s->burst_loss > 0)
		add(&t, "%sburst: {loss: %.7g %%, length: %.7g}", t.used > 1 ? ", " : "",
			100 * s->burst_loss, s->burst_length);
	add_overhead(&t, w->overhead_bytes);
	add(&t, "}");
	return text;
}
