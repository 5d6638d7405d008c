/* The scenario's `capture`: whose packets are kept, how much of each, how much in all. */
#include <stdlib.h>

#include "bench/scenario/sections.h"

static int parse_site(struct loader *l, const struct node *value, struct scenario_capture *c)
{
	const char *name;
	char *end;
	long number;
	int site, r = loader_text(l, value, &name, "a site's name or its number, e.g. 1");

	if (r)
		return r;
	site = sites_find(l->s, name);
	number = strtol(name, &end, 10);
	if (site < 0 && *name && !*end && number >= 1 && number <= l->s->n_sites)
		site = (int)number - 1;
	if (site < 0)
		return loader_error(l, value,
			"there is no site \"%.64s\"; write its name, or 1 to %d", name,
			l->s->n_sites);
	if (c->sites[site])
		return loader_error(l, value, "site \"%s\" is written twice; keep one of the two",
			l->s->sites[site].name);
	c->sites[site] = true;
	return 0;
}

static int parse_sites(struct loader *l, const struct node *value, void *base)
{
	int r = loader_list(l, value, "sites");

	for (size_t i = 0; !r && i < value->n; i++)
		r = parse_site(l, value->items[i], &((struct scenario *)base)->capture);
	return r;
}

static void print_sites(struct printer *p, const struct key *key, const void *base)
{
	const struct scenario *s = base;
	const char *between = "";

	print_name(p, key->name);
	fputs(" [", p->out);
	for (int i = 0; i < s->n_sites; i++) {
		if (!s->capture.sites[i])
			continue;
		fprintf(p->out, "%s%s", between, s->sites[i].name);
		between = ", ";
	}
	fputs("]\n", p->out);
}

static const struct key capture_keys[] = {
	{.name = "sites",
		.kind = KEY_CUSTOM,
		.parse = parse_sites,
		.print = print_sites,
		.required = true,
		.example = "[1, 2]",
		.help = "whose packets, by name or number"},
	{.name = "snaplen",
		.kind = KEY_BYTES,
		AT(struct scenario, capture.snaplen_bytes),
		.low = 80,
		.high = 65536,
		.fallback = "96 B",
		.example = "1500 B",
		.help = "bytes kept of each packet: 80 have the headers that bytes are counted by"},
	{.name = "limit",
		.kind = KEY_BYTES,
		AT(struct scenario, capture.limit_bytes),
		.low = 1e4,
		.high = 1e15,
		.fallback = "1 GB",
		.example = "100 MB",
		.help = "of all files of a case together; what comes later is counted, not kept"},
	{0},
};

int capture_parse(struct loader *l, const struct node *value, void *scenario)
{
	return keys_section(l, capture_keys, value, "capture", scenario);
}

void capture_print(struct printer *p, const struct key *key, const void *scenario)
{
	const struct scenario *s = scenario;

	if (!s->capture.limit_bytes)
		return;
	print_open(p, key->name);
	keys_print(p, capture_keys, s);
	print_close(p);
}

void capture_describe(FILE *out)
{
	keys_describe(out, "capture.", capture_keys);
}
