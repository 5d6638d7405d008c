/* sites and core: who takes part, over which link, and how far they are from each other. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bench/scenario/limits.h"
#include "bench/scenario/sections.h"

static int parse_link(struct loader *l, const struct node *value, void *base)
{
	return links_find(l, value, &((struct scenario_site *)base)->link);
}

static void print_link(struct printer *p, const struct key *key, const void *base)
{
	const struct scenario_site *site = base;

	print_word(p, key->name, p->s->links[site->link].name);
}

static bool reserved(const char *name)
{
	static const char *const names[] = {"all", "learner", "syncer", "delay", "matrix"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static int parse_name(struct loader *l, const struct node *value, void *base)
{
	struct scenario_site *site = base;
	const char *name;
	size_t n;
	int r = loader_text(l, value, &name, "a site's name");

	if (r)
		return r;
	n = strlen(name);
	if (!n || n >= SITE_NAME_MAX || !isalnum((unsigned char)name[0]) ||
		!isalnum((unsigned char)name[n - 1]) ||
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != n)
		return loader_error(l, value,
			"\"%.64s\" cannot be a site's name, which is its host name; use lower-case "
			"letters, digits and \"-\", e.g. \"site-1\"",
			name);
	if (reserved(name))
		return loader_error(l, value, "the name \"%s\" is reserved; choose another", name);
	strcpy(site->name, name);
	return 0;
}

static void print_site_name(struct printer *p, const struct key *key, const void *base)
{
	print_word(p, key->name, ((const struct scenario_site *)base)->name);
}

#define SITE_KEYS                                                                                  \
	{.name = "link",                                                                           \
		.kind = KEY_CUSTOM,                                                                \
		.parse = parse_link,                                                               \
		.print = print_link,                                                               \
		.otherwise = "the only one of `links`",                                            \
		.example = "wan",                                                                  \
		.help = "one of `links`, or a profile of the catalogue"},                          \
		{.name = "accelerators",                                                           \
			.kind = KEY_NUMBER,                                                        \
			AT(struct scenario_site, accelerators),                                    \
			.low = 1e-3,                                                               \
			.high = 1e9,                                                               \
			.fallback = "1",                                                           \
			.example = "64",                                                           \
			.help = "a site's weight in the totals"},                                  \
	{                                                                                          \
		.name = "speed", .kind = KEY_NUMBER, AT(struct scenario_site, speed), .low = 1e-3, \
		.high = 1e3, .fallback = "1", .example = "0.5",                                    \
		.help = "of its accelerators; 2 halves the step time"                              \
	}

static const struct key count_number = {.name = "count",
	.kind = KEY_INTEGER,
	.size = sizeof(int64_t),
	.low = 2,
	.high = SITES_MAX,
	.example = "8"};

static void print_count(struct printer *p, const struct key *key, const void *base)
{
	print_name(p, key->name);
	fprintf(p->out, " %d\n", p->s->job.n_learners);
}

const struct key count_keys[] = {
	{.name = "count",
		.kind = KEY_CUSTOM,
		.number = &count_number,
		.parse = keys_elsewhere,
		.print = print_count,
		.otherwise = "must be given",
		.example = "8",
		.help = "2 to 64; they are named site-1, site-2, ..."},
	SITE_KEYS,
	{0},
};

const struct key site_keys[] = {
	{.name = "name",
		.kind = KEY_CUSTOM,
		.parse = parse_name,
		.print = print_site_name,
		.otherwise = "site-1, site-2, ...",
		.example = "zurich",
		.help = "its host name"},
	SITE_KEYS,
	{0},
};

/* The only link there is needs no naming. */
static int default_link(struct loader *l, const struct node *site, struct scenario_site *out)
{
	if (node_get(site, "link"))
		return 0;
	if (l->s->n_links != 1)
		return loader_error(l, site,
			"\"link\" is missing; name one of `links` or a profile of the catalogue, "
			"e.g. "
			"\"link: wan\"");
	out->link = 0;
	return 0;
}

static int too_many(struct loader *l, const struct node *value, double n)
{
	if (n == 0)
		return loader_error(l, value, "no sites: give 2 to %d", SITES_MAX);
	return loader_error(l, value,
		n < 2 ? "%.0f site: there is nobody to exchange with; 2 to %d sites"
		      : "%.0f sites are too many; 2 to %d sites",
		n, SITES_MAX);
}

static int parse_count(struct loader *l, const struct node *value)
{
	static const struct key number = {
		.name = "count", .kind = KEY_INTEGER, .size = sizeof(int64_t), .example = "8"};
	const struct node *count = node_get(value, "count");
	const struct key *const tables[] = {count_keys, NULL};
	struct scenario *s = l->s;
	int64_t n;
	int r = keys_known(l, value, "sites", tables);

	if (r)
		return r;
	if (!count)
		return loader_error(l, value,
			"\"count\" is missing; write e.g. \"count: 8\", or list the sites");
	r = keys_value(l, &number, count, &n);
	if (!r && (n < 2 || n > SITES_MAX))
		return too_many(l, count, (double)n);
	if (!r)
		r = default_link(l, value, &s->sites[0]);
	if (!r)
		r = keys_parse(l, count_keys, value, &s->sites[0], true);
	if (r)
		return r;
	s->n_sites = (int)n;
	for (int i = 0; i < s->n_sites; i++) {
		s->sites[i] = s->sites[0];
		snprintf(s->sites[i].name, SITE_NAME_MAX, "site-%d", i + 1);
	}
	return 0;
}

int sites_find(const struct scenario *s, const char *name)
{
	for (int i = 0; i < s->n_sites; i++)
		if (!strcmp(s->sites[i].name, name))
			return i;
	return -1;
}

static int parse_site(struct loader *l, const struct node *value)
{
	struct scenario *s = l->s;
	struct scenario_site site = {0};
	const struct node *name = node_get(value, "name");
	int r;

	snprintf(site.name, sizeof site.name, "site-%d", s->n_sites + 1);
	r = keys_section(l, site_keys, value, "a site", &site);
	if (!r)
		r = default_link(l, value, &site);
	if (r)
		return r;
	if (sites_find(s, site.name) >= 0)
		return loader_error(l, name ? name : value,
			"there is a site \"%s\" already; give each its own name", site.name);
	s->sites[s->n_sites++] = site;
	return 0;
}

int sites_parse(struct loader *l, const struct node *value, void *scenario)
{
	int r = 0;

	if (value->kind == NODE_MAP)
		return parse_count(l, value);
	if (value->kind == NODE_TEXT)
		return loader_error(l, value,
			"sites are a number of equal ones, e.g. \"{count: 8, link: wan}\", or a "
			"list");
	r = loader_list(l, value, "sites");
	if (!r && (value->n < 2 || value->n > SITES_MAX))
		r = too_many(l, value, (double)value->n);
	for (size_t i = 0; !r && i < value->n; i++)
		r = parse_site(l, value->items[i]);
	return r;
}

/* Whether the short form with a count says it all. */
static bool alike(const struct scenario *s)
{
	char name[SITE_NAME_MAX];

	for (int i = 0; i < s->job.n_learners; i++) {
		const struct scenario_site *a = &s->sites[i], *b = &s->sites[0];

		snprintf(name, sizeof name, "site-%d", i + 1);
		if (strcmp(a->name, name) || a->link != b->link ||
			a->accelerators != b->accelerators || a->speed != b->speed)
			return false;
	}
	return true;
}

void sites_print(struct printer *p, const struct key *key, const void *scenario)
{
	const struct scenario *s = scenario;

	print_open(p, key->name);
	if (alike(s)) {
		keys_print(p, count_keys, &s->sites[0]);
		print_close(p);
		return;
	}
	p->indent += 2;
	for (int i = 0; i < s->job.n_learners; i++) {
		p->item = true;
		keys_print(p, site_keys, &s->sites[i]);
	}
	p->indent -= 2;
	print_close(p);
}

int sites_add_syncer(struct loader *l)
{
	const struct node *link = node_find(l->root, "workload.outer.syncer_link");
	const struct node *at = node_find(l->root, "sites");
	struct scenario *s = l->s;
	struct scenario_site site = {.name = "syncer", .link = s->sites[0].link, .speed = 1};

	if (s->n_sites == SITES_MAX)
		return loader_error(l, at,
			"a star syncer needs a site of its own, and %d sites are taken; at most %d "
			"sites, or \"syncer: sharded\"",
			s->n_sites, SITES_MAX - 1);
	for (int i = 1; !link && i < s->n_sites; i++)
		if (s->sites[i].link != site.link)
			return loader_error(l, at,
				"the sites' links differ, so say which one the star syncer has: "
				"\"syncer_link: ...\" in workload.outer");
	if (link && links_find(l, link, &site.link))
		return -EINVAL;
	s->sites[s->n_sites++] = site;
	return 0;
}

static int site_of_key(struct loader *l, const struct node *key, int *out)
{
	*out = sites_find(l->s, key->text);
	if (*out >= 0)
		return 0;
	return loader_error(l, key, "there is no site \"%.64s\"; the first is \"%s\"", key->text,
		l->s->sites[0].name);
}

static const struct key core_delay = {
	.name = "delay", .kind = KEY_TIME, .size = sizeof(int64_t), .high = DELAY_HIGH};

static int parse_delay(struct loader *l, const struct node *value, int64_t *out)
{
	if (value->kind == NODE_MAP)
		return loader_error(l, value,
			"a delay is one time for all, e.g. \"10 ms\"; distances between sites "
			"by name belong into core.matrix");
	return keys_value(l, &core_delay, value, out);
}

/* One row of the matrix; given counts both ways unless the other way is given too. */
static int parse_row(struct loader *l, int from, const struct node *row, bool given[][SITES_MAX])
{
	int64_t(*delay)[SITES_MAX] = l->s->core_delay_ns;
	int to, r = loader_map(l, row, "a row of the matrix");

	for (size_t i = 0; !r && i < row->n; i++) {
		r = site_of_key(l, row->keys[i], &to);
		if (!r && to == from)
			r = loader_error(l, row->keys[i],
				"a site is at no distance from itself; leave this out");
		if (!r)
			r = parse_delay(l, row->items[i], &delay[from][to]);
		if (r)
			return r;
		given[from][to] = true;
		if (!given[to][from])
			delay[to][from] = delay[from][to];
	}
	return r;
}

static int parse_matrix(struct loader *l, const struct node *matrix)
{
	bool given[SITES_MAX][SITES_MAX] = {{false}};
	int from, r = loader_map(l, matrix, "matrix");

	for (size_t i = 0; !r && i < matrix->n; i++) {
		r = site_of_key(l, matrix->keys[i], &from);
		if (!r)
			r = parse_row(l, from, matrix->items[i], given);
	}
	return r;
}

const struct key core_keys[] = {
	{.name = "delay",
		.kind = KEY_CUSTOM,
		.number = &core_delay,
		.parse = keys_elsewhere,
		.otherwise = "0 s",
		.example = "10 ms",
		.help = "one way between any two sites, beside their links'"},
	{.name = "matrix",
		.kind = KEY_CUSTOM,
		.parse = keys_elsewhere,
		.otherwise = "none",
		.example = "{zurich: {tokyo: 80 ms}}",
		.help = "by site names, where it differs from `delay`; counts both ways unless the "
			"other way is given too"},
	{0},
};

int core_parse(struct loader *l, const struct node *value, void *scenario)
{
	const struct key *const tables[] = {core_keys, NULL};
	const struct node *delay = node_get(value, "delay"), *matrix = node_get(value, "matrix");
	struct scenario *s = l->s;
	int64_t common = 0;
	int r = keys_known(l, value, "core", tables);

	if (!r && delay)
		r = parse_delay(l, delay, &common);
	if (r)
		return r;
	for (int i = 0; i < s->n_sites; i++)
		for (int j = 0; j < s->n_sites; j++)
			s->core_delay_ns[i][j] = i == j ? 0 : common;
	return matrix ? parse_matrix(l, matrix) : 0;
}

static bool differs(const struct scenario *s, int from, int to)
{
	return from != to && (s->core_delay_ns[from][to] != s->core_delay_ns[0][1] ||
				     s->core_delay_ns[to][from] != s->core_delay_ns[0][1]);
}

static void print_row(struct printer *p, int from)
{
	bool open = false;

	for (int to = 0; to < p->s->n_sites; to++) {
		if (!differs(p->s, from, to))
			continue;
		if (!open)
			print_open(p, p->s->sites[from].name);
		open = true;
		print_quantity(
			p, p->s->sites[to].name, QUANTITY_TIME, p->s->core_delay_ns[from][to]);
	}
	if (open)
		print_close(p);
}

void core_print(struct printer *p, const struct key *key, const void *scenario)
{
	const struct scenario *s = p->s;
	bool any = false;

	print_open(p, key->name);
	print_quantity(p, "delay", QUANTITY_TIME, s->core_delay_ns[0][1]);
	for (int i = 0; i < s->n_sites; i++)
		for (int j = 0; j < s->n_sites; j++)
			any |= differs(s, i, j);
	if (any)
		print_open(p, "matrix");
	for (int i = 0; any && i < s->n_sites; i++)
		print_row(p, i);
	if (any)
		print_close(p);
	print_close(p);
}

void sites_describe(FILE *out)
{
	keys_describe(out, "sites.", count_keys);
	keys_describe(out, "sites[].", site_keys);
	keys_describe(out, "core.", core_keys);
}
