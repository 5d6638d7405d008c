/*
 * A link on the command line: a profile of the catalogue by its name, or written there in the words
 * of a scenario: "{rate: 100 Mbit/s, delay: 15 ms}", with or without the braces.
 */
#pragma once

#include "bench/scenario/scenario.h"

struct link_option {
	const struct link_profile *link;
	struct link_profile *own; /* NULL: link is the catalogue's */
	size_t n_traces;
	struct link_trace **traces;
};

/* STATUS_INPUT, with the place in the text. A trace's path is relative to the current folder. */
int link_option_parse(struct link_option *out, const char *text, struct error *err);
void link_option_release(struct link_option *o); /* a zeroed one too */
