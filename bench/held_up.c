/* What held TCP up; see held_up.h. */
#include "bench/held_up.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/units.h"

#define SHARE_MOST 0.2
#define BUSY_LEAST_NS NS_PER_S /* of less nothing can be said */

/* NaN where too little was sent. */
static double part_of(const struct held_up *h, int64_t ns)
{
	return h->busy_ns < BUSY_LEAST_NS ? NAN : (double)ns / (double)h->busy_ns;
}

static double worst_of(const struct held_up *h)
{
	return fmax(part_of(h, h->window_ns), part_of(h, h->buffer_ns));
}

/* Of all ordered pairs; false where none sent enough. */
static bool find_worst(const struct observation *o, int *from, int *to)
{
	int n = job_participants(&o->scenario->job);
	double most = -1;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (worst_of(&o->held_up[i][j]) > most) {
				most = worst_of(&o->held_up[i][j]);
				*from = i;
				*to = j;
			}
	return most >= 0;
}

static void say_chosen(struct record_case *c, const struct scenario *s, double share, bool window)
{
	char bytes[32];

	record_note(c,
		"transport.buffers, %s, and not the link limited TCP for %.0f %% of the time it "
		"had "
		"something to send (%s): larger ones, `auto` or more connections would carry more",
		quantity_format(
			bytes, sizeof bytes, QUANTITY_BYTES, s->transport.buffer_bytes, false),
		100 * share, window ? "the receiver's window" : "the send buffer");
}

static void say_agent(struct record_case *c, const struct scenario *s, const char *sender,
	const char *reader, double share, bool window)
{
	double k = ceil(2 * s->dilation);

	c->valid = false;
	if (window)
		record_reason(c,
			"the agent of %s, not the link, limited what %s sent it: for %.0f %% of "
			"the time "
			"its window was full, since it read too slowly; try --dilation %.0f",
			reader, sender, 100 * share, k);
	else
		record_reason(c,
			"the agent of %s, not the link, limited what it sent to %s: for %.0f %% of "
			"the "
			"time its send buffer held too little; try --dilation %.0f, or a larger "
			"transport.buffers",
			sender, reader, 100 * share, k);
}

void held_up_judge(struct record_case *c, const struct observation *o)
{
	const struct scenario *s = o->scenario;
	char sender[96], reader[96];
	const struct held_up *h;
	bool window;
	int from = 0, to = 0;

	if (!find_worst(o, &from, &to))
		return;
	h = &o->held_up[from][to];
	c->window_limited = part_of(h, h->window_ns);
	c->buffer_limited = part_of(h, h->buffer_ns);
	window = c->window_limited >= c->buffer_limited;
	if (worst_of(h) <= SHARE_MOST)
		return;
	participant_name(s, from, sender);
	participant_name(s, to, reader);
	if (s->transport.buffers_auto)
		say_agent(c, s, sender, reader, worst_of(h), window);
	else
		say_chosen(c, s, worst_of(h), window);
}
