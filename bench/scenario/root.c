/* The root of the scenario language: its sections in the order in which they are read. */
#include <string.h>

#include "base/units.h"
#include "bench/scenario/limits.h"
#include "bench/scenario/sections.h"

static int parse_version(struct loader *l, const struct node *value, void *base)
{
	const char *text;
	int r = loader_text(l, value, &text, "the version of the language, 1");

	if (!r && strcmp(text, "1"))
		r = loader_error(l, value,
			"version \"%.64s\" of the language is not known; write \"narrowlink: 1\"",
			text);
	return r;
}

static void print_version(struct printer *p, const struct key *key, const void *base)
{
	print_word(p, key->name, "1");
}

static const struct key seed_number = {.name = "seed", .kind = KEY_INTEGER, .example = "42"};

static int parse_seed(struct loader *l, const struct node *value, void *base)
{
	struct error err = {0};
	const char *text;
	int64_t seed;
	int r = loader_text(l, value, &text, "a whole number, e.g. \"42\"");

	if (!r && quantity_parse(text, QUANTITY_COUNT, &seed, &err))
		r = loader_error(l, value,
			"\"%.64s\" is no seed; write a whole number from 0, e.g. \"42\"", text);
	if (!r)
		((struct scenario *)base)->seed = (uint64_t)seed;
	return r;
}

static void print_seed(struct printer *p, const struct key *key, const void *base)
{
	print_name(p, key->name);
	fprintf(p->out, " %llu\n", (unsigned long long)((const struct scenario *)base)->seed);
}

static int parse_dilation(struct loader *l, const struct node *value, void *base)
{
	static const struct key number = {.name = "dilation",
		.kind = KEY_NUMBER,
		.size = sizeof(double),
		.low = 1,
		.high = 1000,
		.example = "4"};
	struct scenario *s = base;
	const char *text;
	int r = loader_text(l, value, &text, "a number from 1, e.g. \"4\", or auto");

	s->dilation_auto = !r && !strcmp(text, "auto");
	s->dilation = 1;
	return r || s->dilation_auto ? r : keys_value(l, &number, value, &s->dilation);
}

static void print_dilation(struct printer *p, const struct key *key, const void *base)
{
	const struct scenario *s = base;

	if (s->dilation_auto)
		print_word(p, key->name, "auto");
	else
		print_number(p, key->name, s->dilation);
}

static int parse_congestion(struct loader *l, const struct node *value, void *base)
{
	struct scenario_transport *t = &((struct scenario *)base)->transport;
	const char *text;
	size_t n;
	int r = loader_text(l, value, &text, "a congestion control, e.g. cubic");

	if (r)
		return r;
	n = strlen(text);
	if (!n || n >= sizeof t->congestion ||
		strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") != n)
		return loader_error(l, value,
			"\"%.64s\" cannot be a congestion control; write e.g. cubic, reno or bbr",
			text);
	strcpy(t->congestion, text);
	return 0;
}

static void print_congestion(struct printer *p, const struct key *key, const void *base)
{
	print_word(p, key->name, ((const struct scenario *)base)->transport.congestion);
}

static const struct key buffer_bytes = {.name = "buffers",
	.kind = KEY_BYTES,
	.size = sizeof(int64_t),
	.low = 4096,
	.high = INT32_MAX};

static int parse_buffers(struct loader *l, const struct node *value, void *base)
{
	struct scenario_transport *t = &((struct scenario *)base)->transport;
	const char *text;
	int r = loader_text(l, value, &text, "bytes, e.g. \"64 MB\", or auto");

	t->buffers_auto = !r && !strcmp(text, "auto");
	if (r || t->buffers_auto)
		return r;
	return keys_value(l, &buffer_bytes, value, &t->buffer_bytes);
}

static void print_buffers(struct printer *p, const struct key *key, const void *base)
{
	const struct scenario_transport *t = &((const struct scenario *)base)->transport;

	char bytes[64], both[96];

	quantity_format(bytes, sizeof bytes, QUANTITY_BYTES, t->buffer_bytes, false);
	snprintf(both, sizeof both, "auto # %s", bytes);
	if (t->buffers_auto)
		print_word(p, key->name, both);
	else
		print_quantity(p, key->name, QUANTITY_BYTES, t->buffer_bytes);
}

static const char *const tcp_words[] = {"real", "ideal", NULL};

static const struct key transport_keys[] = {
	{.name = "tcp",
		.kind = KEY_WORD,
		AT(struct scenario, transport.tcp),
		.words = tcp_words,
		.fallback = "real",
		.example = "ideal",
		.help = "ideal: a link is a pipe of its rate in payload and its delay, without "
			"headers, "
			"windows, queues and loss, as published simulators assume; simulated time "
			"only"},
	{.name = "connections",
		.kind = KEY_INTEGER,
		AT(struct scenario, transport.connections),
		.low = 1,
		.high = 64,
		.fallback = "4",
		.example = "8",
		.help = "TCP connections to each peer"},
	{.name = "congestion",
		.kind = KEY_CUSTOM,
		.parse = parse_congestion,
		.print = print_congestion,
		.fallback = "cubic",
		.example = "bbr",
		.help = "congestion control; the kernel must have it"},
	{.name = "buffers",
		.kind = KEY_CUSTOM,
		.number = &buffer_bytes,
		.parse = parse_buffers,
		.print = print_buffers,
		.fallback = "auto",
		.example = "64 MB",
		.help = "send and receive buffer of a connection; auto: twice the largest "
			"bandwidth-delay product of two sites, at least 256 KiB, at most 1 GiB"},
	{.name = "slow_start_after_idle",
		.kind = KEY_SWITCH,
		AT(struct scenario, transport.slow_start_after_idle),
		.fallback = "true",
		.example = "false",
		.help = "whether TCP forgets its window when it was idle, as Linux does by "
			"default"},
	{.name = "silence",
		.kind = KEY_TIME,
		AT(struct scenario, transport.silence_ns),
		.low = 1e6,
		.high = 86400e9,
		.fallback = "5 s",
		.example = "10 s",
		.help = "a peer not heard from for so long is reported as silent"},
	{0},
};

static const struct key limit = {
	.name = "limit", .kind = KEY_TIME, .size = sizeof(int64_t), .low = 1e6, .high = TIME_HIGH};

static int parse_limit(struct loader *l, const struct node *value, void *base)
{
	return keys_value(l, &limit, value, &((struct scenario *)base)->limit_ns);
}

static void print_limit(struct printer *p, const struct key *key, const void *base)
{
	print_quantity(p, key->name, QUANTITY_TIME, ((const struct scenario *)base)->limit_ns);
}

static const struct key run_keys[] = {
	{.name = "steps",
		.kind = KEY_INTEGER,
		AT(struct scenario, job.steps),
		.low = 1,
		.high = 1e6,
		.fallback = "24",
		.example = "48",
		.help = "measured training steps"},
	{.name = "warmup",
		.kind = KEY_INTEGER,
		AT(struct scenario, job.warmup),
		.low = 0,
		.high = 1e6,
		.fallback = "2",
		.example = "0",
		.help = "steps before them"},
	{.name = "limit",
		.kind = KEY_CUSTOM,
		.number = &limit,
		.parse = parse_limit,
		.print = print_limit,
		.otherwise = "three times the compute time of all steps, and 1 min",
		.example = "2 min",
		.help = "the run ends here whatever happens; it counts from time zero, when all "
			"have connected"},
	{0},
};

static const char *const calibration_words[] = {"short", "full", "off", NULL};

const struct key root_keys[] = {
	{.name = "narrowlink",
		.kind = KEY_CUSTOM,
		.parse = parse_version,
		.print = print_version,
		.required = true,
		.example = "1",
		.help = "version of this language"},
	{.name = "title",
		.kind = KEY_TEXT,
		AT(struct scenario, title),
		.otherwise = "the file's name",
		.example = "12B across eight sites",
		.help = "what the scenario is, in a line"},
	{.name = "seed",
		.kind = KEY_CUSTOM,
		.number = &seed_number,
		.parse = parse_seed,
		.print = print_seed,
		.fallback = "1",
		.example = "42",
		.help = "of everything that is random"},
	{.name = "dilation",
		.kind = KEY_NUMBER,
		.use = USE_SITES,
		AT(struct scenario, dilation),
		.parse = parse_dilation,
		.print = print_dilation,
		.low = 1,
		.high = 1000,
		.fallback = "1",
		.example = "4",
		.help = "everything runs so many times slower; results are in the scenario's time; "
			"auto: the least that this machine can carry; the model takes a number for "
			"what it does to TCP's own timers"},
	{.name = "links",
		.kind = KEY_CUSTOM,
		.use = USE_SITES,
		.parse = links_parse,
		.print = links_print,
		.otherwise = "none",
		.example = "{wan: {rate: 1 Gbit/s, delay: 15 ms}}",
		.help = "access links by name"},
	{.name = "sites",
		.kind = KEY_CUSTOM,
		.use = USE_SITES,
		.table = count_keys,
		.parse = sites_parse,
		.print = sites_print,
		.required = true,
		.example = "{count: 8, link: wan}",
		.help = "alike (`count`), or a list with names"},
	{.name = "workload",
		.kind = KEY_CUSTOM,
		.use = USE_SITES,
		.table = workload_keys,
		.parse = workload_parse,
		.print = workload_print,
		.required = true,
		.example = "{strategy: decoupled-diloco, parameters: 12 B, step: 4 s}",
		.help = "the job"},
	{.name = "core",
		.kind = KEY_CUSTOM,
		.use = USE_SITES,
		.table = core_keys,
		.parse = core_parse,
		.print = core_print,
		.otherwise = "no delay",
		.example = "{delay: 10 ms}",
		.help = "the network between the links"},
	{.name = "transport",
		.kind = KEY_SECTION,
		.use = USE_SITES,
		.table = transport_keys,
		.help = "TCP"},
	{.name = "run",
		.kind = KEY_SECTION,
		.use = USE_SITES,
		.table = run_keys,
		.help = "how long"},
	{.name = "fleet",
		.kind = KEY_SECTION,
		.use = USE_FLEET,
		.table = fleet_keys,
		.help = "instead of sites, links and a workload"},
	{.name = "faults",
		.kind = KEY_CUSTOM,
		.use = USE_SITES,
		.parse = faults_parse,
		.print = faults_print,
		.otherwise = "none",
		.example = "[{kind: crash, target: site 3, at: 40 s, for: 9 s}]",
		.help = "what breaks when"},
	{.name = "expect",
		.kind = KEY_CUSTOM,
		.parse = expect_parse,
		.print = expect_print,
		.otherwise = "none: no verdict",
		.example = "{useful_work: \">= 90 %\"}",
		.help = "what must hold"},
	{.name = "calibration",
		.kind = KEY_WORD,
		.use = USE_SITES,
		AT(struct scenario, calibration),
		.words = calibration_words,
		.fallback = "short",
		.example = "full",
		.help = "how the links are measured before the run: short, full or off"},
	{.name = "capture",
		.kind = KEY_CUSTOM,
		.use = USE_SITES,
		.parse = capture_parse,
		.print = capture_print,
		.otherwise = "nothing",
		.example = "{sites: [1], snaplen: 96 B, limit: 1 GB}",
		.help = "packets of these sites, as pcap files in the run's folder"},
	{.name = "matrix",
		.kind = KEY_CUSTOM,
		.parse = keys_elsewhere,
		.otherwise = "one case",
		.example = "{workload.outer.syncer: [star, sharded]}",
		.help = "dotted keys with lists of values; every combination is a case, the first "
			"key "
			"varies slowest; at most 1000"},
	{0},
};
