/*
 * A link's direction: what it is at the start, and its changes over time. The keys of a change
 * are those of the direction that may change.
 */
#include "bench/scenario/direction.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/scenario/changes.h"
#include "bench/scenario/limits.h"

static const struct key queue_time = {.name = "queue",
	.kind = KEY_TIME,
	.low = 1e3,
	.high = DELAY_HIGH,
	.example = QUEUE_DEFAULT};

static int parse_queue(struct loader *l, const struct node *value, void *base)
{
	struct link_direction *d = base;

	return queue_parse(l, value, &d->queue_ns, &d->base.queue_bytes);
}

static void print_queue(struct printer *p, const struct key *key, const void *base)
{
	const struct link_direction *d = base;

	queue_print(p, key->name, d->queue_ns, d->base.queue_bytes);
}

static int parse_burst(struct loader *l, const struct node *value, void *base)
{
	return burst_parse(l, value, &((struct link_direction *)base)->base);
}

static void print_burst(struct printer *p, const struct key *key, const void *base)
{
	const struct link_state *state = &((const struct link_direction *)base)->base;

	if (state->burst_loss > 0 || state->burst_length != 1)
		burst_print(p, key->name, state);
}

static const struct {
	const char *name;
	int bytes;
} overheads[] = {
	{"ethernet", LINK_OVERHEAD_ETHERNET},
	{"ip", LINK_OVERHEAD_IP},
	{"wire", LINK_OVERHEAD_WIRE},
};
#define N_OVERHEADS (sizeof overheads / sizeof *overheads)

static int parse_overhead(struct loader *l, const struct node *value, void *base)
{
	struct link_direction *d = base;
	const char *text;
	int64_t bytes;
	int r = loader_text(l, value, &text, "ethernet, ip, wire or a number of bytes");

	if (r)
		return r;
	for (size_t i = 0; i < N_OVERHEADS; i++)
		if (!strcmp(text, overheads[i].name)) {
			d->overhead_bytes = overheads[i].bytes;
			return 0;
		}
	if (strspn(text, "0123456789") == 0)
		return loader_error(l, value,
			"\"%.64s\" is no overhead; write ethernet (14 B), ip (0 B), wire (38 B) or "
			"e.g. \"26 B\"",
			text);
	r = loader_quantity(l, value, QUANTITY_BYTES, &bytes);
	if (!r && bytes > 256)
		r = loader_error(
			l, value, "\"%.64s\": at most \"256 B\" of overhead a packet", text);
	if (!r)
		d->overhead_bytes = (int)bytes;
	return r;
}

static void print_overhead(struct printer *p, const struct key *key, const void *base)
{
	const struct link_direction *d = base;

	for (size_t i = 0; i < N_OVERHEADS; i++)
		if (d->overhead_bytes == overheads[i].bytes) {
			print_word(p, key->name, overheads[i].name);
			return;
		}
	print_quantity(p, key->name, QUANTITY_BYTES, d->overhead_bytes);
}

/* A trace is named relative to the scenario file. */
static char *trace_path(const struct scenario *s, const char *name)
{
	const char *slash = strrchr(s->path, '/');

	if (*name == '/' || !slash)
		return memory_string(name);
	return memory_format("%.*s/%s", (int)(slash - s->path), s->path, name);
}

static int load_trace(
	struct loader *l, const struct node *value, const char *path, const struct link_trace **out)
{
	struct scenario *s = l->s;
	struct link_trace *trace;
	struct error err = {0};
	struct stat st;

	for (size_t i = 0; i < s->n_traces; i++)
		if (!strcmp(s->traces[i]->path, path)) {
			*out = s->traces[i];
			return 0;
		}
	if (stat(path, &st))
		return loader_error(l, value,
			"there is no file \"%.500s\"; name a recorded ping trace (CSV with the "
			"columns relative and rtt), relative to the scenario file",
			path);
	if (!S_ISREG(st.st_mode))
		return loader_error(l, value,
			"\"%.500s\" is a %s, not a file; name a recorded ping trace (CSV with the "
			"columns relative and rtt)",
			path, S_ISDIR(st.st_mode) ? "directory" : "device or a pipe");
	if (link_trace_load(&trace, path, &err))
		return loader_error(l, value, "%s", err.text);
	s->traces = memory_resize(s->traces, s->n_traces + 1, sizeof *s->traces);
	s->traces[s->n_traces++] = trace;
	*out = trace;
	return 0;
}

static int parse_trace(struct loader *l, const struct node *value, void *base)
{
	struct link_direction *d = base;
	_free_ char *path = NULL;
	const char *name;
	int r = loader_text(l, value, &name, "the path of a recorded ping trace");

	if (r)
		return r;
	path = trace_path(l->s, name);
	r = load_trace(l, value, path, &d->trace);
	if (!r && !d->base.delay_ns && d->trace->side[UP].n_delays)
		d->base.delay_ns = d->trace->side[UP].delays[0].delay_ns;
	return r;
}

/* The whole path, since the print may be read from elsewhere. */
static void print_trace(struct printer *p, const struct key *key, const void *base)
{
	const struct link_direction *d = base;
	_free_ char *whole = d->trace ? realpath(d->trace->path, NULL) : NULL;

	if (d->trace)
		print_text(p, key->name, whole ? whole : d->trace->path);
}

const struct key direction_keys[] = {
	{.name = "rate",
		.kind = KEY_RATE,
		AT(struct link_direction, base.rate_bps),
		.low = RATE_LOW,
		.high = RATE_HIGH,
		.otherwise = "must be given",
		.example = "0.84 Gbit/s",
		.help = "counts `overhead` per packet"},
	{.name = "trace",
		.kind = KEY_CUSTOM,
		.parse = parse_trace,
		.print = print_trace,
		.otherwise = "none",
		.example = "ping.csv",
		.help = "a recorded ping trace (CSV with the columns relative in s and rtt in ms, "
			"lost probes missing); drives delay and outages, from start to end and "
			"again; at most 1000 rows a second; "
			"a path relative to the scenario file"},
	{.name = "delay",
		.kind = KEY_TIME,
		AT(struct link_direction, base.delay_ns),
		.low = 0,
		.high = DELAY_HIGH,
		.otherwise = "must be given, unless there is a trace",
		.example = "15 ms",
		.help = "one way, between the site and the core"},
	{.name = "queue",
		.kind = KEY_CUSTOM,
		.number = &queue_time,
		.parse = parse_queue,
		.print = print_queue,
		.otherwise = QUEUE_DEFAULT,
		.example = "50 ms",
		.help = "limit of the tail-drop queue: a time (it follows the rate) or bytes"},
	{.name = "jitter",
		.kind = KEY_TIME,
		AT(struct link_direction, base.jitter_ns),
		.low = 0,
		.high = DELAY_HIGH,
		.otherwise = "0 s",
		.example = "2 ms",
		.help = "delay varies evenly by plus or minus this, order kept; at most `delay`"},
	{.name = "loss",
		.kind = KEY_SHARE,
		AT(struct link_direction, base.loss),
		.low = 0,
		.high = 1,
		.below = true,
		.otherwise = "0 %",
		.example = "0.01 %",
		.help = "random loss of each packet on its own"},
	{.name = "burst",
		.kind = KEY_CUSTOM,
		.table = burst_keys,
		.parse = parse_burst,
		.print = print_burst,
		.otherwise = "none",
		.example = "{loss: 0.1 %, length: 8}",
		.help = "Gilbert-Elliott loss: mean loss, and mean length of a burst in packets"},
	{.name = "overhead",
		.kind = KEY_CUSTOM,
		.parse = parse_overhead,
		.print = print_overhead,
		.otherwise = "ethernet",
		.example = "ip",
		.help = "what the rate counts beside the IP packet: ethernet (14 B), ip (0 B), "
			"wire "
			"(38 B) or bytes"},
	{.name = "changes",
		.kind = KEY_CUSTOM,
		.parse = changes_parse,
		.print = changes_print,
		.otherwise = "none",
		.example = "[{at: 30 s, rate: 100 Mbit/s}]",
		.help = "from `at` on, the values given: rate, delay, queue, jitter, loss, burst; "
			"at least 1 ms apart"},
	{.name = "outages",
		.kind = KEY_CUSTOM,
		.parse = outages_parse,
		.print = outages_print,
		.otherwise = "none",
		.example = "{every: 15 s, for: 0.7 s}",
		.help = "periodic times at which nothing passes; `first` (default: `every`) is "
			"when the first begins; a list for several, at most 1000 a second"},
	{0},
};

void direction_profile(struct link_direction *d)
{
	*d = (struct link_direction){
		.base.burst_length = 1,
		.queue_ns = QUEUE_DEFAULT_NS,
		.overhead_bytes = LINK_OVERHEAD_ETHERNET,
	};
}

static void *copy_array(const void *from, size_t n, size_t size)
{
	void *to = n ? memory_zero(n, size) : NULL;

	if (n)
		memcpy(to, from, n * size);
	return to;
}

void direction_copy(struct link_direction *out, const struct link_direction *in)
{
	*out = *in;
	out->steps = copy_array(in->steps, in->n_steps, sizeof *in->steps);
	out->outages = copy_array(in->outages, in->n_outages, sizeof *in->outages);
	out->blackouts = copy_array(in->blackouts, in->n_blackouts, sizeof *in->blackouts);
}

void direction_clear(struct link_direction *d)
{
	free(d->steps);
	free(d->outages);
	free(d->blackouts);
	*d = (struct link_direction){0};
}

/* Where a key of the direction was written, or the link itself. */
static const struct node *written(
	const struct node *map, const struct node *section, const char *key)
{
	const struct node *n = node_get(section, key);

	if (!n)
		n = node_get(map, key);
	return n ? n : map;
}

static int check_state(struct loader *l, const struct node *jitter, const struct node *queue,
	const struct link_direction *d, const struct link_state *s, int64_t queue_ns)
{
	const int packet = LINK_MTU + d->overhead_bytes;
	int64_t bytes = queue_ns > 0 ? clock_bytes_in(queue_ns, s->rate_bps) : s->queue_bytes;
	char a[64], b[64];

	if (!d->trace && s->jitter_ns > s->delay_ns)
		return loader_error(l, jitter,
			"jitter (%s) is above the delay (%s); at most the delay",
			quantity_format(a, sizeof a, QUANTITY_TIME, s->jitter_ns, true),
			quantity_format(b, sizeof b, QUANTITY_TIME, s->delay_ns, true));
	if (bytes < packet)
		return loader_error(l, queue,
			"a queue of %s holds no packet of %d B at %s and would drop everything; "
			"make "
			"it longer",
			quantity_format(a, sizeof a, QUANTITY_BYTES, bytes, true), packet,
			quantity_format(b, sizeof b, QUANTITY_RATE, s->rate_bps, true));
	return 0;
}

/* The same rules after each change. */
static int check_changes(
	struct loader *l, const struct node *changes, const struct link_direction *d)
{
	struct link_state s = d->base;
	int64_t queue_ns = d->queue_ns;
	int r = 0;

	for (size_t i = 0; !r && i < d->n_steps; i++) {
		const struct node *at =
			changes->kind == NODE_LIST && i < changes->n ? changes->items[i] : changes;

		change_apply(&d->steps[i], &s, &queue_ns);
		r = check_state(l, at, at, d, &s, queue_ns);
	}
	return r;
}

int direction_check(struct loader *l, const struct node *map, const struct node *section,
	struct link_direction *d, bool complete)
{
	const char *missing = !d->base.rate_bps ? "rate" : NULL;
	int r;

	if (!missing && !complete && !d->trace && !node_get(map, "delay") &&
		!node_get(section, "delay"))
		missing = "delay";
	if (missing)
		return loader_error(l, map, "\"%s\" is missing; write e.g. \"%s: %s\"", missing,
			missing, *missing == 'r' ? "0.84 Gbit/s" : "15 ms");
	r = check_state(l, written(map, section, "jitter"), written(map, section, "queue"), d,
		&d->base, d->queue_ns);
	if (r)
		return r;
	if (d->queue_ns > 0)
		d->base.queue_bytes = clock_bytes_in(d->queue_ns, d->base.rate_bps);
	return check_changes(l, written(map, section, "changes"), d);
}
