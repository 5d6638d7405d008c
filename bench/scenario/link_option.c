/* A link by itself; see link_option.h. */
#include "bench/scenario/link_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/scenario/nearest.h"
#include "bench/scenario/sections.h"

static int named(struct link_option *out, const char *name, struct error *err)
{
	struct nearest nearest = {.written = name};

	for (size_t i = 0; link_catalogue(i); i++)
		nearest_offer(&nearest, link_catalogue(i)->name);
	out->link = link_catalogue_find(name);
	if (out->link)
		return 0;
	if (nearest.best)
		return error_set(err, -ENOENT, STATUS_INPUT,
			"there is no link \"%.64s\"; did you mean \"%s\"?", name, nearest.best);
	return error_set(err, -ENOENT, STATUS_INPUT,
		"there is no link \"%.64s\"; name a profile (`narrowlink profiles` lists them) or "
		"write e.g. \"{rate: 100 Mbit/s, delay: 15 ms}\"",
		name);
}

/* The text as the only one of a scenario's links. */
static int written(struct link_option *out, const char *text, struct error *err)
{
	struct scenario s = {.path = ""};
	struct tree tree = {0};
	struct loader l = {.s = &s, .tree = &tree, .uses = ~0u, .err = err};
	struct node *links, *link;
	int r = tree_parse(&tree, &link, "--link", text, strlen(text), true, err);

	if (r == 0) {
		links = tree_map(&tree, link);
		node_put(links, tree_text(&tree, link, "link", strlen("link")), link);
		l.root = links;
		r = links_parse(&l, links, &s);
	}
	tree_release(&tree);
	*out = (struct link_option){s.links, s.links, s.n_traces, s.traces};
	if (r < 0)
		link_option_release(out);
	return r;
}

int link_option_parse(struct link_option *out, const char *text, struct error *err)
{
	const char *first = text + strspn(text, " \t");
	_free_ char *braces = NULL;

	*out = (struct link_option){0};
	if (*first == '{')
		return written(out, text, err);
	if (!strchr(text, ':'))
		return named(out, text, err);
	braces = memory_format("{%s}", text);
	return written(out, braces, err);
}

void link_option_release(struct link_option *o)
{
	if (o->own)
		links_free(o->own, 1);
	for (size_t i = 0; i < o->n_traces; i++)
		link_trace_free(o->traces[i]);
	free(o->traces);
	*o = (struct link_option){0};
}
