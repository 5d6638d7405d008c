/*
 * links: named link profiles, from nothing or from one of the catalogue, both directions alike
 * or each with its own values.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "bench/scenario/direction.h"
#include "bench/scenario/nearest.h"
#include "bench/scenario/sections.h"

static const struct key link_keys[] = {
	{.name = "title",
		.kind = KEY_TEXT,
		AT(struct link_profile, title),
		.otherwise = "none",
		.example = "\"GEO satellite\"",
		.help = "what the link is, in a line"},
	{.name = "source",
		.kind = KEY_TEXT,
		AT(struct link_profile, source),
		.otherwise = "none",
		.example = "\"operator's data sheet\"",
		.help = "where its numbers come from"},
	{.name = "profile",
		.kind = KEY_CUSTOM,
		.parse = keys_elsewhere,
		.otherwise = "none",
		.example = "geo-1g",
		.help = "a profile of the catalogue to start from"},
	{.name = "up",
		.kind = KEY_CUSTOM,
		.parse = keys_elsewhere,
		.otherwise = "as written beside it",
		.example = "{rate: 100 Mbit/s}",
		.help = "values of the direction from the site to the core"},
	{.name = "down",
		.kind = KEY_CUSTOM,
		.parse = keys_elsewhere,
		.otherwise = "as written beside it",
		.example = "{rate: 1 Gbit/s}",
		.help = "values of the direction from the core to the site"},
	{0},
};

static void copy_profile(struct link_profile *out, const struct link_profile *in, const char *name)
{
	out->name = memory_string(name);
	out->title = memory_string(in->title ? in->title : "");
	out->source = memory_string(in->source ? in->source : "");
	for (int d = 0; d < DIRECTIONS; d++)
		direction_copy(&out->direction[d], &in->direction[d]);
}

struct link_profile *links_free(struct link_profile *links, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free((char *)links[i].name);
		free((char *)links[i].title);
		free((char *)links[i].source);
		for (int d = 0; d < DIRECTIONS; d++)
			direction_clear(&links[i].direction[d]);
	}
	free(links);
	return NULL;
}

static struct link_profile *add_link(struct scenario *s)
{
	s->links = memory_resize(s->links, s->n_links + 1, sizeof *s->links);
	memset(&s->links[s->n_links], 0, sizeof *s->links);
	return &s->links[s->n_links++];
}

static int unknown_profile(struct loader *l, const struct node *value, bool catalogue_only)
{
	struct nearest nearest = {.written = value->text};

	for (size_t i = 0; !catalogue_only && i < l->s->n_links; i++)
		nearest_offer(&nearest, l->s->links[i].name);
	for (size_t i = 0; link_catalogue(i); i++)
		nearest_offer(&nearest, link_catalogue(i)->name);
	if (nearest.best)
		return loader_error(l, value, "there is no link \"%.64s\"; did you mean \"%s\"?",
			value->text, nearest.best);
	return loader_error(l, value,
		"there is no link \"%.64s\"; %s (`narrowlink profiles` lists the catalogue)",
		value->text,
		catalogue_only ? "name a profile of the catalogue"
			       : "name one of `links` or a profile of the catalogue");
}

int links_find(struct loader *l, const struct node *value, int *out)
{
	const struct link_profile *profile;
	const char *name;
	int r = loader_text(l, value, &name, "a link's name");

	if (r)
		return r;
	for (size_t i = 0; i < l->s->n_links; i++)
		if (!strcmp(l->s->links[i].name, name)) {
			*out = (int)i;
			return 0;
		}
	profile = link_catalogue_find(name);
	if (!profile)
		return unknown_profile(l, value, false);
	copy_profile(add_link(l->s), profile, name);
	*out = (int)l->s->n_links - 1;
	return 0;
}

static int start_from_profile(struct loader *l, const struct node *value, struct link_profile *link)
{
	const struct link_profile *profile;
	const char *name;
	int r = loader_text(l, value, &name, "the name of a profile");

	if (r)
		return r;
	profile = link_catalogue_find(name);
	if (!profile)
		return unknown_profile(l, value, true);
	free((char *)link->title);
	free((char *)link->source);
	link->title = memory_string(profile->title);
	link->source = memory_string(profile->source);
	for (int d = 0; d < DIRECTIONS; d++) {
		direction_clear(&link->direction[d]);
		direction_copy(&link->direction[d], &profile->direction[d]);
	}
	return 0;
}

/* One direction: the keys of the link, then those of its own section. */
static int parse_direction(struct loader *l, const struct node *map, enum direction which,
	struct link_direction *d, bool complete)
{
	const struct key *const own[] = {direction_keys, NULL};
	const char *name = direction_name(which);
	const struct node *section = node_get(map, name);
	int r = keys_parse(l, direction_keys, map, d, false);

	if (!r && section) {
		r = keys_known(l, section, name, own);
		if (!r)
			r = keys_parse(l, direction_keys, section, d, false);
	}
	return r ? r : direction_check(l, map, section, d, complete);
}

static int check_name(struct loader *l, const struct node *key)
{
	size_t n = strlen(key->text);

	if (n && n < SITE_NAME_MAX &&
		strspn(key->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_-") == n)
		return 0;
	return loader_error(l, key,
		"\"%.64s\" cannot be a link's name; use letters, digits, \"-\" and \"_\"",
		key->text);
}

static int parse_link(struct loader *l, const struct node *key, const struct node *map)
{
	const struct key *const tables[] = {link_keys, direction_keys, NULL};
	const struct node *profile;
	struct link_profile *link;
	int r = check_name(l, key);

	if (!r)
		r = keys_known(l, map, key->text, tables);
	if (r)
		return r;
	link = add_link(l->s);
	link->name = memory_string(key->text);
	link->title = memory_string("");
	link->source = memory_string("");
	for (int d = 0; d < DIRECTIONS; d++)
		direction_profile(&link->direction[d]);
	profile = node_get(map, "profile");
	if (profile)
		r = start_from_profile(l, profile, link);
	if (!r)
		r = keys_parse(l, link_keys, map, link, false);
	for (int d = 0; !r && d < DIRECTIONS; d++)
		r = parse_direction(
			l, map, (enum direction)d, &link->direction[d], profile != NULL);
	return r;
}

int links_parse(struct loader *l, const struct node *value, void *scenario)
{
	int r = loader_map(l, value, "links");

	for (size_t i = 0; !r && i < value->n; i++)
		r = parse_link(l, value->keys[i], value->items[i]);
	return r;
}

/* A direction as text, to see whether both are alike. */
static char *direction_text(const struct printer *p, const struct link_direction *d)
{
	struct printer sub = *p;
	char *text = NULL;
	size_t size;

	sub.out = open_memstream(&text, &size);
	if (!sub.out)
		abort();
	keys_print(&sub, direction_keys, d);
	fclose(sub.out);
	return text;
}

static void print_link(struct printer *p, const struct link_profile *link)
{
	_free_ char *up = direction_text(p, &link->direction[UP]);
	_free_ char *down = direction_text(p, &link->direction[DOWN]);

	keys_print(p, link_keys, link);
	if (!strcmp(up, down)) {
		keys_print(p, direction_keys, &link->direction[UP]);
		return;
	}
	for (int d = 0; d < DIRECTIONS; d++) {
		print_open(p, direction_name((enum direction)d));
		keys_print(p, direction_keys, &link->direction[d]);
		print_close(p);
	}
}

void links_print(struct printer *p, const struct key *key, const void *scenario)
{
	print_open(p, key->name);
	for (size_t i = 0; i < p->s->n_links; i++) {
		print_open(p, p->s->links[i].name);
		print_link(p, &p->s->links[i]);
		print_close(p);
	}
	print_close(p);
}

void links_describe(FILE *out)
{
	keys_describe(out, "links.NAME.", link_keys);
	keys_describe(out, "links.NAME.", direction_keys);
}
