/* Changes over time; see changes.h. */
#include "bench/scenario/changes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "bench/scenario/limits.h"

#define LIST_MAX 10000

int queue_parse(struct loader *l, const struct node *value, int64_t *queue_ns, int64_t *bytes)
{
	const char *text;
	size_t n;
	int64_t v;
	bool in_bytes;
	int r = loader_text(l, value, &text, "a time, e.g. \"50 ms\", or bytes, e.g. \"6 MB\"");

	if (r)
		return r;
	n = strlen(text);
	in_bytes = n && (text[n - 1] == 'B' || !strcmp(text + (n > 4 ? n - 4 : 0), "byte") ||
				!strcmp(text + (n > 5 ? n - 5 : 0), "bytes"));
	r = loader_quantity(l, value, in_bytes ? QUANTITY_BYTES : QUANTITY_TIME, &v);
	if (r)
		return r;
	if (v == 0)
		return loader_error(l, value,
			"a queue of zero drops every packet; write e.g. \"50 ms\" or \"6 MB\"");
	if (v > (in_bytes ? (int64_t)1e12 : (int64_t)DELAY_HIGH))
		return loader_error(
			l, value, "\"%.64s\": a queue is at most \"1 h\" or \"1 TB\"", text);
	*queue_ns = in_bytes ? 0 : v;
	*bytes = in_bytes ? v : 0;
	return 0;
}

void queue_print(struct printer *p, const char *name, int64_t queue_ns, int64_t bytes)
{
	if (queue_ns > 0)
		print_quantity(p, name, QUANTITY_TIME, queue_ns);
	else
		print_quantity(p, name, QUANTITY_BYTES, bytes);
}

const struct key burst_keys[] = {
	{.name = "loss",
		.kind = KEY_SHARE,
		AT(struct link_state, burst_loss),
		.low = 0,
		.high = 1,
		.below = true,
		.required = true,
		.example = "0.1 %",
		.help = "mean loss"},
	{.name = "length",
		.kind = KEY_NUMBER,
		AT(struct link_state, burst_length),
		.low = 1,
		.high = 1e6,
		.required = true,
		.example = "8",
		.help = "mean burst in packets"},
	{0},
};

int burst_parse(struct loader *l, const struct node *value, struct link_state *state)
{
	int r = keys_section(l, burst_keys, value, "burst", state);
	double least;

	if (r)
		return r;
	/* the good state's chance to end, loss / (1 - loss) / length, is at most 1 */
	least = state->burst_loss / (1 - state->burst_loss);
	if (state->burst_length < least)
		return loader_error(l, value,
			"a mean loss of %.4g %% needs bursts of at least %.4g packets",
			100 * state->burst_loss, least);
	return 0;
}

void burst_print(struct printer *p, const char *name, const struct link_state *state)
{
	print_open(p, name);
	keys_print(p, burst_keys, state);
	print_close(p);
}

static int parse_step_queue(struct loader *l, const struct node *value, void *base)
{
	struct link_step *step = base;

	return queue_parse(l, value, &step->queue_ns, &step->to.queue_bytes);
}

static void print_step_queue(struct printer *p, const struct key *key, const void *base)
{
	const struct link_step *step = base;

	queue_print(p, key->name, step->queue_ns, step->to.queue_bytes);
}

static int parse_step_burst(struct loader *l, const struct node *value, void *base)
{
	return burst_parse(l, value, &((struct link_step *)base)->to);
}

static void print_step_burst(struct printer *p, const struct key *key, const void *base)
{
	burst_print(p, key->name, &((const struct link_step *)base)->to);
}

/* `use` is the field a key sets, so that only those that are set are printed. */
static const struct key step_keys[] = {
	{.name = "at",
		.kind = KEY_TIME,
		AT(struct link_step, at_ns),
		.low = 0,
		.high = TIME_HIGH,
		.required = true,
		.example = "30 s"},
	{.name = "rate",
		.kind = KEY_RATE,
		AT(struct link_step, to.rate_bps),
		.use = LINK_RATE,
		.low = RATE_LOW,
		.high = RATE_HIGH},
	{.name = "queue",
		.kind = KEY_CUSTOM,
		.use = LINK_QUEUE,
		.parse = parse_step_queue,
		.print = print_step_queue},
	{.name = "delay",
		.kind = KEY_TIME,
		AT(struct link_step, to.delay_ns),
		.use = LINK_DELAY,
		.low = 0,
		.high = DELAY_HIGH},
	{.name = "jitter",
		.kind = KEY_TIME,
		AT(struct link_step, to.jitter_ns),
		.use = LINK_JITTER,
		.low = 0,
		.high = DELAY_HIGH},
	{.name = "loss",
		.kind = KEY_SHARE,
		AT(struct link_step, to.loss),
		.use = LINK_LOSS,
		.low = 0,
		.high = 1,
		.below = true},
	{.name = "burst",
		.kind = KEY_CUSTOM,
		.use = LINK_BURST,
		.parse = parse_step_burst,
		.print = print_step_burst},
	{0},
};

void change_apply(const struct link_step *step, struct link_state *state, int64_t *queue_ns)
{
	if (step->set & LINK_RATE)
		state->rate_bps = step->to.rate_bps;
	if (step->set & LINK_DELAY)
		state->delay_ns = step->to.delay_ns;
	if (step->set & LINK_JITTER)
		state->jitter_ns = step->to.jitter_ns;
	if (step->set & LINK_QUEUE) {
		state->queue_bytes = step->to.queue_bytes;
		*queue_ns = step->queue_ns;
	}
}

static int parse_step(struct loader *l, const struct node *value, struct link_step *step)
{
	struct loader all = *l;
	int r;

	all.uses = ~0u;
	r = keys_section(&all, step_keys, value, "a change", step);
	for (const struct key *k = step_keys; !r && k->name; k++)
		if (node_get(value, k->name))
			step->set |= k->use;
	if (!r && !step->set)
		r = loader_error(l, value,
			"this change changes nothing; add rate, delay, queue, jitter, loss or "
			"burst");
	return r;
}

/* In order, and not so dense that nothing could follow; several at one time are one change. */
static int check_order(struct loader *l, const struct node *value, const struct link_step *step)
{
	int64_t after_ns = step[0].at_ns - step[-1].at_ns;

	if (after_ns < 0)
		return loader_error(
			l, value, "this change comes before the one above it; order them by `at`");
	if (after_ns > 0 && after_ns < EVENT_NS)
		return loader_error(l, value,
			"this change comes %" PRId64 " ns after the one above it; 1 ms is the "
			"least, or the same time",
			after_ns);
	return 0;
}

int changes_parse(struct loader *l, const struct node *value, void *base)
{
	struct link_direction *d = base;
	int r = loader_list(l, value, "changes");

	free(d->steps);
	d->steps = NULL;
	d->n_steps = 0;
	if (!r && value->n > LIST_MAX)
		r = loader_error(l, value, "at most %d changes", LIST_MAX);
	if (r || !value->n)
		return r;
	d->steps = memory_zero(value->n, sizeof *d->steps);
	for (size_t i = 0; !r && i < value->n; i++, d->n_steps++) {
		r = parse_step(l, value->items[i], &d->steps[i]);
		if (!r && i)
			r = check_order(l, value->items[i], &d->steps[i]);
	}
	return r;
}

void changes_print(struct printer *p, const struct key *key, const void *base)
{
	const struct link_direction *d = base;
	struct printer sub;

	if (!d->n_steps)
		return;
	print_open(p, key->name);
	sub = *p;
	sub.indent += 2;
	for (size_t i = 0; i < d->n_steps; i++) {
		sub.item = true;
		sub.uses = d->steps[i].set;
		keys_print(&sub, step_keys, &d->steps[i]);
	}
	print_close(p);
}

static const struct key outage_keys[] = {
	{.name = "every",
		.kind = KEY_TIME,
		AT(struct link_outage, every_ns),
		.low = EVENT_NS,
		.high = TIME_HIGH,
		.required = true,
		.example = "15 s"},
	{.name = "for",
		.kind = KEY_TIME,
		AT(struct link_outage, for_ns),
		.low = EVENT_NS,
		.high = TIME_HIGH,
		.required = true,
		.example = "0.7 s"},
	{.name = "first",
		.kind = KEY_TIME,
		AT(struct link_outage, first_ns),
		.low = 0,
		.high = TIME_HIGH},
	{0},
};

static int parse_outage(struct loader *l, const struct node *value, struct link_outage *o)
{
	int r = keys_section(l, outage_keys, value, "outages", o);

	if (r)
		return r;
	if (!node_get(value, "first"))
		o->first_ns = o->every_ns;
	if (o->for_ns >= o->every_ns)
		return loader_error(l, node_get(value, "for"),
			"an outage as long as its period leaves nothing; `for` must be below "
			"`every`");
	return 0;
}

/* Each may be rare enough and all of them be too many. */
static int check_density(
	struct loader *l, const struct node *value, const struct link_outage *outages, size_t n)
{
	double per_ns = 0;

	for (size_t i = 0; i < n; i++)
		per_ns += 1. / (double)outages[i].every_ns;
	return per_ns <= 1. / EVENT_NS
		       ? 0
		       : loader_error(l, value,
				 "these outages are %.4g a second together; at most "
				 "1000 can be followed",
				 per_ns * NS_PER_S);
}

int outages_parse(struct loader *l, const struct node *value, void *base)
{
	struct link_direction *d = base;
	size_t n = value->kind == NODE_LIST ? value->n : 1;
	int r = 0;

	free(d->outages);
	d->outages = NULL;
	d->n_outages = 0;
	if (n > LIST_MAX)
		return loader_error(l, value, "at most %d outages", LIST_MAX);
	if (!n)
		return 0;
	d->outages = memory_zero(n, sizeof *d->outages);
	for (size_t i = 0; !r && i < n; i++, d->n_outages++)
		r = parse_outage(
			l, value->kind == NODE_LIST ? value->items[i] : value, &d->outages[i]);
	return r ? r : check_density(l, value, d->outages, n);
}

void outages_print(struct printer *p, const struct key *key, const void *base)
{
	const struct link_direction *d = base;
	struct printer sub;

	if (!d->n_outages)
		return;
	print_open(p, key->name);
	sub = *p;
	sub.indent += 2;
	for (size_t i = 0; i < d->n_outages; i++) {
		sub.item = true;
		keys_print(&sub, outage_keys, &d->outages[i]);
	}
	print_close(p);
}
