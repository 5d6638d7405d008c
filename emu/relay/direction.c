/*
 * The arithmetic of a direction; see direction.h.
 */
#include "emu/relay/direction.h"

#include <math.h>

#include "base/clock.h"
#include "base/random.h"

static void cursor_load(struct cursor *c, const struct direction_line *d, int64_t at_ns)
{
	c->from_ns = at_ns;
	if (d->epoch_ns == DIRECTION_NO_EPOCH) {
		link_at(d->profile, d->which, -1, &c->state, &c->until_ns);
		c->until_ns = TIME_NEVER;
		return;
	}
	link_at(d->profile, d->which, at_ns - d->epoch_ns, &c->state, &c->until_ns);
	if (c->until_ns != TIME_NEVER)
		c->until_ns += d->epoch_ns;
}

static double bytes_in(const struct cursor *c, int64_t ns)
{
	return (double)ns * (double)c->state.rate_bps / (8.0 * NS_PER_S);
}

/* Forward only: a time before the cursor is taken as if the state had held then already. */
static void cursor_seek(struct cursor *c, const struct direction_line *d, int64_t at_ns)
{
	while (at_ns >= c->until_ns) {
		int64_t until = c->until_ns;

		c->bytes += bytes_in(c, until - c->from_ns);
		cursor_load(c, d, until);
	}
}

/* What the serialiser could send from the beginning until at_ns. */
static double cursor_capacity(struct cursor *c, const struct direction_line *d, int64_t at_ns)
{
	cursor_seek(c, d, at_ns);
	return c->bytes + bytes_in(c, at_ns - c->from_ns);
}

void direction_init(struct direction_line *d, const struct link_direction *profile,
	enum direction which, uint64_t seed, uint32_t entity, int64_t now_ns)
{
	*d = (struct direction_line){
		.profile = profile,
		.which = which,
		.seed = seed,
		.entity = entity,
		.epoch_ns = DIRECTION_NO_EPOCH,
		.free_ns = now_ns,
	};
	loss_init(&d->losses, seed, entity);
	cursor_load(&d->arrival, d, now_ns);
	d->sending = d->leaving = d->arrival;
}

void direction_start(struct direction_line *d, int64_t epoch_ns, int64_t now_ns)
{
	d->epoch_ns = epoch_ns;
	cursor_load(&d->arrival, d, now_ns);
	d->arrival.bytes = 0;
	d->sending = d->leaving = d->arrival;
}

/* Bytes that are not sent yet at at_ns; the true value is whole, but for times' rounding. */
static int64_t backlog(struct direction_line *d, int64_t at_ns)
{
	double bytes;

	if (at_ns > d->free_ns || (at_ns == d->free_ns && d->free_part == 0))
		return 0;
	bytes = cursor_capacity(&d->sending, d, d->free_ns) +
		d->free_part * bytes_in(&d->sending, 1) - cursor_capacity(&d->arrival, d, at_ns);
	return llround(bytes);
}

/* Moves the serialiser's end by `bytes`, across changes of the rate. */
static void send(struct direction_line *d, double bytes)
{
	struct cursor *c = &d->sending;
	double ns;

	for (;;) {
		double left;

		cursor_seek(c, d, d->free_ns);
		ns = bytes * (8.0 * NS_PER_S) / (double)c->state.rate_bps + d->free_part;
		left = (double)(c->until_ns - d->free_ns);
		if (ns < left)
			break;
		bytes = (ns - left) * (double)c->state.rate_bps / (8.0 * NS_PER_S);
		d->free_ns = c->until_ns;
		d->free_part = 0;
	}
	d->free_ns += (int64_t)ns;
	d->free_part = ns - floor(ns);
}

bool direction_take(
	struct direction_line *d, int64_t at_ns, int64_t bytes, int64_t *end_ns, int64_t *queued)
{
	int64_t waiting = backlog(d, at_ns);

	cursor_seek(&d->arrival, d, at_ns);
	if (waiting > 0 && waiting + bytes > d->arrival.state.queue_bytes)
		return false;
	if (at_ns > d->free_ns) {
		d->free_ns = at_ns;
		d->free_part = 0;
	}
	send(d, (double)bytes);
	*end_ns = d->free_ns + (d->free_part > 0);
	*queued = waiting + bytes;
	return true;
}

/*
 * The last segment ends when the serialiser, busy since the first, is through with all of them, or
 * its own time after it came: with even arrivals and equal sizes no segment in between can be
 * what the last one waits for. Likewise the queue is longest at the first or near the last.
 */
bool direction_take_run(struct direction_line *d, const struct direction_run *run,
	int64_t *begin_ns, int64_t *end_ns, int64_t *queued)
{
	int64_t waiting = backlog(d, run->first_ns), start_ns = run->first_ns, at_last;
	double part = 0, ns_per_byte, end, last_end;

	cursor_seek(&d->arrival, d, run->first_ns);
	if (waiting + run->bytes > d->arrival.state.queue_bytes ||
		run->last_ns >= d->arrival.until_ns)
		return false;
	if (start_ns <= d->free_ns) {
		start_ns = d->free_ns;
		part = d->free_part;
	}
	cursor_seek(&d->sending, d, start_ns);
	ns_per_byte = (8.0 * NS_PER_S) / (double)d->sending.state.rate_bps;
	end = part + (double)run->bytes * ns_per_byte;
	last_end = (double)(run->last_ns - start_ns) + (double)run->last_bytes * ns_per_byte;
	if (end > (double)run->most_ns)
		return false;
	end = end > last_end ? end : last_end;
	if (end >= (double)(d->sending.until_ns - start_ns))
		return false;
	*begin_ns = start_ns + (int64_t)ceil(part + (double)run->first_bytes * ns_per_byte);
	d->free_ns = start_ns + (int64_t)end;
	d->free_part = end - floor(end);
	*end_ns = d->free_ns + (d->free_part > 0);
	at_last = llround((end - (double)(run->last_ns - start_ns)) / ns_per_byte);
	*queued = at_last > waiting + run->first_bytes ? at_last : waiting + run->first_bytes;
	return true;
}

int64_t direction_rate(const struct direction_line *d)
{
	return d->sending.state.rate_bps;
}

bool direction_lossless(struct direction_line *d, int64_t from_ns, int64_t until_ns, int n)
{
	const struct link_state *s = &d->leaving.state;

	cursor_seek(&d->leaving, d, from_ns);
	if (until_ns >= d->leaving.until_ns || loss_possible(s))
		return false;
	d->losses.segment += (uint64_t)n;
	return true;
}

enum drop_cause direction_leave(struct direction_line *d, int64_t at_ns)
{
	cursor_seek(&d->leaving, d, at_ns);
	return loss_next(&d->losses, &d->leaving.state);
}

int64_t direction_delay(struct direction_line *d, int64_t at_ns)
{
	const struct link_state *s = &d->leaving.state;
	uint64_t packet = d->packet++;
	int64_t delay_ns;
	double u;

	cursor_seek(&d->leaving, d, at_ns);
	delay_ns = at_ns > d->leaving.from_ns ? link_delay_after(s, at_ns - d->leaving.from_ns)
					      : s->delay_ns;
	if (s->jitter_ns == 0)
		return delay_ns;
	u = random_unit(d->seed, d->entity, RANDOM_JITTER, packet);
	return delay_ns + (int64_t)((2 * u - 1) * (double)s->jitter_ns);
}
