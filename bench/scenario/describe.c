/* The tables as text, for the reference in the documentation and the test that it is whole. */
#include <stdio.h>

#include "bench/scenario/sections.h"

void keys_describe(FILE *out, const char *prefix, const struct key *table)
{
	char inner[128];

	for (const struct key *k = table; k->name; k++) {
		if (k->kind == KEY_SECTION) {
			snprintf(inner, sizeof inner, "%s%s.", prefix, k->name);
			keys_describe(out, inner, k->table);
			continue;
		}
		fprintf(out, "| `%s%s` | %s | `%s` | %s |\n", prefix, k->name,
			k->required    ? "required"
			: k->fallback  ? k->fallback
			: k->otherwise ? k->otherwise
				       : "",
			k->example, k->help);
	}
}
