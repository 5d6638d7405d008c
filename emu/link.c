/*
 * What a link is at an instant.
 *
 * Every change is looked up from the profile, nothing is advanced: the state is a function of
 * the time, so that a backend, its test and a model may ask in any order. Each source of change
 * narrows `until`, the time of the next change that could matter.
 */
#include "emu/link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

const char *direction_name(enum direction direction)
{
	return direction == UP ? "up" : "down";
}

/* a + b for b >= 0, TIME_NEVER when it does not fit. */
static int64_t later(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? TIME_NEVER : sum;
}

static void narrow(int64_t *until, int64_t t)
{
	if (t < *until)
		*until = t;
}

/* Is t inside one of the sorted windows? Narrows until to the next edge. */
static bool in_windows(const struct link_window *w, size_t n, int64_t t, int64_t *until)
{
	size_t low = 0, high = n;

	while (low < high) { /* the first window that ends after t */
		size_t middle = low + (high - low) / 2;

		if (w[middle].until_ns <= t)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == n)
		return false;
	narrow(until, w[low].from_ns <= t ? w[low].until_ns : w[low].from_ns);
	return w[low].from_ns <= t;
}

static bool in_outage(const struct link_outage *o, int64_t t, int64_t *until)
{
	int64_t start = o->first_ns, end;

	if (t < start) {
		narrow(until, start);
		return false;
	}
	if (o->every_ns > 0)
		start += (t - start) / o->every_ns * o->every_ns;
	end = later(start, o->for_ns);
	if (o->every_ns > 0)
		narrow(until, later(start, o->every_ns));
	if (t >= end)
		return false;
	narrow(until, end);
	return true;
}

/* How many of the delays begin at or before t. */
static size_t delays_begun(const struct link_trace_side *side, int64_t t)
{
	size_t low = 0, high = side->n_delays;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (side->delays[middle].at_ns <= t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Time within the trace: `phase` in this lap, and in the one before, whose tail may reach into
 * this one, at phase + period.
 */
struct lap {
	int64_t start_ns, phase_ns, period_ns;
};

/* Two probes with nothing heard between them: at and delay of the earlier and the later one. */
struct span {
	struct link_trace_delay from, to;
};

static struct link_trace_delay delay_in_lap(
	const struct link_trace_side *side, size_t i, int64_t start_ns)
{
	return (struct link_trace_delay){
		later(start_ns, side->delays[i].at_ns), side->delays[i].delay_ns};
}

/* The later one is of the earlier one's lap, or the first of the next lap: whichever is sooner. */
static void span_from(struct span *s, const struct link_trace_side *side, size_t i,
	int64_t start_ns, int64_t period_ns)
{
	s->from = delay_in_lap(side, i, start_ns);
	s->to = delay_in_lap(side, 0, later(start_ns, period_ns));
	if (i + 1 < side->n_delays && later(start_ns, side->delays[i + 1].at_ns) < s->to.at_ns)
		s->to = delay_in_lap(side, i + 1, start_ns);
}

/* Before anything was heard it is as at the first probe. */
static void find_span(struct span *s, const struct link_trace_side *side, const struct lap *lap)
{
	size_t i = delays_begun(side, lap->phase_ns);
	int64_t before_ns = lap->start_ns - lap->period_ns;

	if (i > 0) {
		span_from(s, side, i - 1, lap->start_ns, lap->period_ns);
		return;
	}
	if (lap->start_ns == 0) {
		s->from = s->to = delay_in_lap(side, 0, 0);
		s->from.at_ns = 0;
		return;
	}
	i = delays_begun(side, lap->phase_ns + lap->period_ns);
	span_from(s, side, i ? i - 1 : 0, before_ns, lap->period_ns);
}

static void set_delay(struct link_state *s, const struct span *span, int64_t t, int64_t *least)
{
	int64_t rise = span->to.delay_ns - span->from.delay_ns;
	int64_t length = span->to.at_ns - span->from.at_ns;

	s->delay_ns =
		span->from.delay_ns + (int64_t)((__int128)rise * (t - span->from.at_ns) / length);
	s->delay_slope = (double)rise / (double)length;
	*least = rise < 0 ? span->to.delay_ns : span->from.delay_ns;
}

static bool trace_lost(const struct link_trace_side *side, const struct lap *lap, int64_t *until)
{
	int64_t here = TIME_NEVER, before = TIME_NEVER;
	bool lost = in_windows(side->losses, side->n_losses, lap->phase_ns, &here);

	narrow(until, later(lap->start_ns, here));
	if (lap->start_ns > 0) {
		lost |= in_windows(
			side->losses, side->n_losses, lap->phase_ns + lap->period_ns, &before);
		if (before != TIME_NEVER)
			narrow(until, later(lap->start_ns - lap->period_ns, before));
	}
	return lost;
}

static void apply_trace(const struct link_trace *trace, enum direction which, int64_t t,
	struct link_state *s, int64_t *least_delay, int64_t *until)
{
	const struct link_trace_side *side = &trace->side[which];
	const struct lap lap = {t - t % trace->period_ns, t % trace->period_ns, trace->period_ns};
	struct span span;

	narrow(until, later(lap.start_ns, lap.period_ns));
	if (side->n_delays) {
		find_span(&span, side, &lap);
		narrow(until, span.to.at_ns);
		set_delay(s, &span, t, least_delay);
	}
	if (trace_lost(side, &lap, until))
		s->down = true;
}

static void apply_step(const struct link_step *step, struct link_state *s, int64_t *queue_ns)
{
	if (step->set & LINK_RATE)
		s->rate_bps = step->to.rate_bps;
	if (step->set & LINK_QUEUE) {
		s->queue_bytes = step->to.queue_bytes;
		*queue_ns = step->queue_ns;
	}
	if (step->set & LINK_DELAY)
		s->delay_ns = step->to.delay_ns;
	if (step->set & LINK_JITTER)
		s->jitter_ns = step->to.jitter_ns;
	if (step->set & LINK_LOSS)
		s->loss = step->to.loss;
	if (step->set & LINK_BURST) {
		s->burst_loss = step->to.burst_loss;
		s->burst_length = step->to.burst_length;
	}
}

static int64_t queue_bytes(const struct link_direction *d, int64_t queue_ns, int64_t rate_bps)
{
	int64_t bytes = clock_bytes_in(queue_ns, rate_bps), frame = LINK_MTU + d->overhead_bytes;

	return bytes < frame ? frame : bytes;
}

static void state_at(const struct link_direction *d, enum direction which, int64_t t,
	struct link_state *s, int64_t *until)
{
	int64_t queue_ns = d->queue_ns, least_delay;
	size_t i;

	*s = d->base;
	s->down = false;
	for (i = 0; i < d->n_steps && d->steps[i].at_ns <= t; i++)
		apply_step(&d->steps[i], s, &queue_ns);
	if (i < d->n_steps)
		narrow(until, d->steps[i].at_ns);
	for (i = 0; i < d->n_outages; i++)
		s->down |= in_outage(&d->outages[i], t, until);
	s->down |= in_windows(d->blackouts, d->n_blackouts, t, until);
	least_delay = s->delay_ns;
	if (d->trace)
		apply_trace(d->trace, which, t, s, &least_delay, until);
	if (queue_ns > 0)
		s->queue_bytes = queue_bytes(d, queue_ns, s->rate_bps);
	if (s->jitter_ns > least_delay)
		s->jitter_ns = least_delay;
}

void link_at(const struct link_direction *d, enum direction which, int64_t t_ns,
	struct link_state *state, int64_t *until_ns)
{
	*until_ns = TIME_NEVER;
	state_at(d, which, t_ns < 0 ? 0 : t_ns, state, until_ns);
	if (t_ns < 0 && (state->down || state->delay_slope != 0)) {
		state->down = false;
		state->delay_slope = 0;
		*until_ns = 0;
	}
}

int64_t link_delay_after(const struct link_state *state, int64_t after_ns)
{
	return state->delay_ns + llround(state->delay_slope * (double)after_ns);
}

static int64_t slower(int64_t ns, double k)
{
	long double t = roundl((long double)ns * k);

	return t >= (long double)TIME_NEVER ? TIME_NEVER : (int64_t)t;
}

static void state_dilate(struct link_state *s, double k)
{
	long double rate = roundl((long double)s->rate_bps / k);

	s->rate_bps = rate < 1 ? 1 : (int64_t)rate;
	s->delay_ns = slower(s->delay_ns, k);
	s->jitter_ns = slower(s->jitter_ns, k);
}

static void *copy(const void *from, size_t n, size_t size)
{
	void *to;

	if (!n)
		return NULL;
	to = memory_zero(n, size);
	memcpy(to, from, n * size);
	return to;
}

static struct link_window *windows_dilate(const struct link_window *from, size_t n, double k)
{
	struct link_window *w = copy(from, n, sizeof *w);

	for (size_t i = 0; i < n; i++) {
		w[i].from_ns = slower(w[i].from_ns, k);
		w[i].until_ns = slower(w[i].until_ns, k);
	}
	return w;
}

static struct link_trace *trace_dilate(const struct link_trace *from, double k)
{
	struct link_trace *trace = memory_zero(1, sizeof *trace);

	trace->path = memory_string(from->path);
	trace->period_ns = slower(from->period_ns, k);
	for (int which = 0; which < DIRECTIONS; which++) {
		const struct link_trace_side *in = &from->side[which];
		struct link_trace_side *out = &trace->side[which];

		*out = *in;
		out->losses = windows_dilate(in->losses, in->n_losses, k);
		out->delays = copy(in->delays, in->n_delays, sizeof *in->delays);
		for (size_t i = 0; i < in->n_delays; i++) {
			out->delays[i].at_ns = slower(in->delays[i].at_ns, k);
			out->delays[i].delay_ns = slower(in->delays[i].delay_ns, k);
		}
	}
	return trace;
}

void link_direction_dilate(struct link_direction *out, const struct link_direction *in, double k)
{
	struct link_direction d = *in;

	state_dilate(&d.base, k);
	d.queue_ns = slower(in->queue_ns, k);
	d.steps = copy(in->steps, in->n_steps, sizeof *in->steps);
	for (size_t i = 0; i < d.n_steps; i++) {
		d.steps[i].at_ns = slower(d.steps[i].at_ns, k);
		d.steps[i].queue_ns = slower(d.steps[i].queue_ns, k);
		state_dilate(&d.steps[i].to, k);
	}
	d.outages = copy(in->outages, in->n_outages, sizeof *in->outages);
	for (size_t i = 0; i < d.n_outages; i++) {
		d.outages[i].first_ns = slower(d.outages[i].first_ns, k);
		d.outages[i].every_ns = slower(d.outages[i].every_ns, k);
		d.outages[i].for_ns = slower(d.outages[i].for_ns, k);
	}
	d.blackouts = windows_dilate(in->blackouts, in->n_blackouts, k);
	d.trace = in->trace ? trace_dilate(in->trace, k) : NULL;
	*out = d;
}

struct link_trace *link_trace_free(struct link_trace *trace)
{
	if (!trace)
		return NULL;
	for (int which = 0; which < DIRECTIONS; which++) {
		free(trace->side[which].delays);
		free(trace->side[which].losses);
	}
	free(trace->path);
	free(trace);
	return NULL;
}

void link_direction_release(struct link_direction *d)
{
	free(d->steps);
	free(d->outages);
	free(d->blackouts);
	link_trace_free((struct link_trace *)d->trace);
	*d = (struct link_direction){0};
}
