/* Asked against got, field by field; see compare.h. */
#include "emu/netem/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
	char *text;
	size_t size, used;
	int count;
};

static void differ(
	struct report *r, const char *field, int64_t asked, int64_t got, const char *unit)
{
	int n;

	if (asked == got)
		return;
	n = snprintf(r->text + r->used, r->size - r->used,
		"%s%s: asked %" PRId64 "%s%s, the kernel has %" PRId64 "%s%s", r->count ? "; " : "",
		field, asked, *unit ? " " : "", unit, got, *unit ? " " : "", unit);
	r->count++;
	r->used += n > 0 ? (size_t)n : 0;
	if (r->used >= r->size)
		r->used = r->size - 1;
}

#define SHARE "/ 2^32" /* of probabilities and correlations */

static const char *model_name(int kind)
{
	return kind == NETEM_LOSS_GE   ? "Gilbert-Elliott"
	       : kind == NETEM_LOSS_GI ? "four states"
				       : "independent";
}

static void compare_models(
	struct report *r, const struct netem_loss_model *a, const struct netem_loss_model *b)
{
	char field[80];

	if (a->kind != b->kind) {
		snprintf(field, sizeof field, "loss model (%s, the kernel's is %s)",
			model_name(a->kind), model_name(b->kind));
		differ(r, field, a->kind, b->kind, "");
		return;
	}
	if (a->kind == NETEM_LOSS_GE) {
		differ(r, "loss p", a->ge.p, b->ge.p, SHARE);
		differ(r, "loss r", a->ge.r, b->ge.r, SHARE);
		differ(r, "loss h", a->ge.h, b->ge.h, SHARE);
		differ(r, "loss k1", a->ge.k1, b->ge.k1, SHARE);
	} else if (a->kind == NETEM_LOSS_GI) {
		differ(r, "loss p13", a->gi.p13, b->gi.p13, SHARE);
		differ(r, "loss p31", a->gi.p31, b->gi.p31, SHARE);
		differ(r, "loss p32", a->gi.p32, b->gi.p32, SHARE);
		differ(r, "loss p14", a->gi.p14, b->gi.p14, SHARE);
		differ(r, "loss p23", a->gi.p23, b->gi.p23, SHARE);
	}
}

static void compare_slots(
	struct report *r, const struct tc_netem_slot *a, const struct tc_netem_slot *b)
{
	differ(r, "slot minimum", a->min_delay, b->min_delay, "ns");
	differ(r, "slot maximum", a->max_delay, b->max_delay, "ns");
	differ(r, "slot packets", a->max_packets, b->max_packets, "");
	differ(r, "slot bytes", a->max_bytes, b->max_bytes, "B");
	differ(r, "slot distribution delay", a->dist_delay, b->dist_delay, "ns");
	differ(r, "slot distribution jitter", a->dist_jitter, b->dist_jitter, "ns");
}

static void compare_shares(struct report *r, const struct netem *a, const struct netem *b)
{
	differ(r, "loss", a->loss, b->loss, SHARE);
	differ(r, "duplicate", a->duplicate, b->duplicate, SHARE);
	differ(r, "delay correlation", a->correlation.delay_corr, b->correlation.delay_corr, SHARE);
	differ(r, "loss correlation", a->correlation.loss_corr, b->correlation.loss_corr, SHARE);
	differ(r, "duplicate correlation", a->correlation.dup_corr, b->correlation.dup_corr, SHARE);
	differ(r, "reorder", a->reorder.probability, b->reorder.probability, SHARE);
	differ(r, "reorder correlation", a->reorder.correlation, b->reorder.correlation, SHARE);
	differ(r, "corrupt", a->corrupt.probability, b->corrupt.probability, SHARE);
	differ(r, "corrupt correlation", a->corrupt.correlation, b->corrupt.correlation, SHARE);
}

static void compare_seeds(struct report *r, const struct netem *a, const struct netem *b)
{
	int n;

	if (!a->has_seed)
		return;
	if (b->has_seed) {
		differ(r, "seed", (int64_t)a->seed, (int64_t)b->seed, "");
		return;
	}
	n = snprintf(r->text + r->used, r->size - r->used,
		"%sseed: asked %" PRIu64 ", the kernel has none (it came with Linux 6.6)",
		r->count ? "; " : "", a->seed);
	r->count++;
	r->used += n > 0 ? (size_t)n : 0;
}

int netem_compare(const struct netem *asked, const struct netem *got, char *text, size_t size)
{
	struct report r = {.text = text, .size = size};

	*text = '\0';
	differ(&r, "delay", asked->latency_ns, got->latency_ns, "ns");
	differ(&r, "jitter", asked->jitter_ns, got->jitter_ns, "ns");
	differ(&r, "limit", asked->limit, got->limit, "packets");
	differ(&r, "gap", asked->gap, got->gap, "packets");
	differ(&r, "rate", (int64_t)asked->rate, (int64_t)got->rate, "B/s");
	differ(&r, "packet overhead", asked->packet_overhead, got->packet_overhead, "B");
	differ(&r, "cell size", asked->cell_size, got->cell_size, "B");
	differ(&r, "cell overhead", asked->cell_overhead, got->cell_overhead, "B");
	differ(&r, "ecn", asked->ecn, got->ecn, "");
	compare_shares(&r, asked, got);
	compare_models(&r, &asked->model, &got->model);
	compare_slots(&r, &asked->slot, &got->slot);
	compare_seeds(&r, asked, got);
	return r.count;
}

#define TICKS_MAX_S 270 /* 2^32 ticks of 64 ns: the kernel cannot tell a longer burst */

static void differ_by_more(
	struct report *r, const char *field, uint32_t asked, uint32_t got, uint64_t tolerance)
{
	if ((uint64_t)llabs((int64_t)asked - (int64_t)got) > tolerance)
		differ(r, field, asked, got, "B");
}

int tbf_compare(const struct tbf *asked, const struct tbf *got, char *text, size_t size)
{
	struct report r = {.text = text, .size = size};

	*text = '\0';
	differ(&r, "rate", (int64_t)asked->rate, (int64_t)got->rate, "B/s");
	differ(&r, "limit", asked->limit, got->limit, "B");
	differ(&r, "peak rate", (int64_t)asked->peak, (int64_t)got->peak, "B/s");
	differ(&r, "overhead", asked->overhead, got->overhead, "B");
	if (asked->burst / asked->rate < TICKS_MAX_S)
		differ_by_more(
			&r, "burst", asked->burst, got->burst, tbf_burst_tolerance(asked->rate));
	if (asked->peak)
		differ_by_more(&r, "peak burst", asked->peak_burst, got->peak_burst,
			tbf_burst_tolerance(asked->peak));
	return r.count;
}
