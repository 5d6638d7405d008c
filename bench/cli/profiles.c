/* narrowlink profiles: the catalogue of links, with their sources. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/units.h"
#include "bench/cli/command.h"
#include "emu/link.h"

static const char profiles_help[] =
	"Options:\n"
	"  --json             as JSON: rates in bit/s, times in ns, each with its source\n\n"
	"A profile is one site's access link: its delay is one way, from the site to a core on "
	"the\n"
	"ground. A scenario uses it by name: sites: {count: 2, link: geo-1g}\n\n"
	"Examples:\n"
	"  narrowlink profiles\n"
	"  narrowlink profiles --json | jq '.[] | select(.name == \"leo-1g\")'\n";

static json_t *direction_json(const struct link_direction *d, enum direction which)
{
	struct link_state s;
	int64_t until_ns;

	link_at(d, which, 0, &s, &until_ns);
	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:i, s:b}", "rate_bps",
		(json_int_t)s.rate_bps, "delay_ns", (json_int_t)s.delay_ns, "jitter_ns",
		(json_int_t)s.jitter_ns, "queue_bytes", (json_int_t)s.queue_bytes, "loss", s.loss,
		"burst_loss", s.burst_loss, "burst_length", s.burst_length, "overhead_bytes",
		d->overhead_bytes, "changes", d->n_steps || d->n_outages || d->trace);
}

static int print_json(void)
{
	json_t *all = json_array();
	const struct link_profile *p;

	for (size_t i = 0; (p = link_catalogue(i)); i++)
		json_array_append_new(all,
			json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", p->name, "title", p->title,
				"source", p->source, "up", direction_json(&p->direction[UP], UP),
				"down", direction_json(&p->direction[DOWN], DOWN)));
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
	return 0;
}

static void print_row(const struct link_profile *p)
{
	struct link_state s;
	int64_t until_ns;
	char rate[32], delay[32], queue[32];

	link_at(&p->direction[UP], UP, 0, &s, &until_ns);
	printf("%-24s %10s %10s %10s  %s\n", p->name,
		quantity_format(rate, sizeof rate, QUANTITY_RATE, s.rate_bps, false),
		quantity_format(delay, sizeof delay, QUANTITY_TIME, s.delay_ns, false),
		quantity_format(queue, sizeof queue, QUANTITY_BYTES, s.queue_bytes, false),
		p->title);
}

/* Profiles of one family share their source; it is printed once, after them. */
static void print_table(void)
{
	const struct link_profile *p, *next;

	printf("%-24s %10s %10s %10s\n", "profile", "rate", "one way", "queue");
	for (size_t i = 0; (p = link_catalogue(i)); i++) {
		print_row(p);
		next = link_catalogue(i + 1);
		if (!next || next->source != p->source)
			printf("  source: %s\n\n", p->source);
	}
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (c != 'j')
			return command_option(&command_profiles, c, argv, err);
		json = true;
	}
	if (optind != argc)
		return command_usage(&command_profiles, err, "it takes no arguments");
	if (json)
		print_json();
	else
		print_table();
	return STATUS_HOLDS;
}

const struct command command_profiles = {
	.name = "profiles",
	.arguments = "",
	.summary = "List the catalogue of links and where their numbers come from",
	.help = profiles_help,
	.run = run,
};
