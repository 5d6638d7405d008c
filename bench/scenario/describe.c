/* The tables as text, for the reference in the documentation and the test that it is whole. */
#include <stdio.h>

#include "bench/scenario/sections.h"

static const char *const kinds[] = {
	[KEY_RATE] = "rate",
	[KEY_TIME] = "time",
	[KEY_BYTES] = "bytes",
	[KEY_BITS] = "bits",
	[KEY_COUNT] = "number",
	[KEY_INTEGER] = "number",
	[KEY_NUMBER] = "number",
	[KEY_SHARE] = "share",
	[KEY_SWITCH] = "true, false",
	[KEY_WORD] = "word",
	[KEY_TEXT] = "text",
	[KEY_SECTION] = "section",
	[KEY_CUSTOM] = "",
};

void keys_describe(FILE *out, const char *prefix, const struct key *table)
{
	char inner[128];

	for (const struct key *k = table; k->name; k++) {
		if (k->kind == KEY_SECTION) {
			snprintf(inner, sizeof inner, "%s%s.", prefix, k->name);
			keys_describe(out, inner, k->table);
			continue;
		}
		fprintf(out, "| `%s%s` | %s | %s | `%s` | %s |\n", prefix, k->name, kinds[k->kind],
			k->required    ? "required"
			: k->fallback  ? k->fallback
			: k->otherwise ? k->otherwise
				       : "",
			k->example, k->help);
	}
}
