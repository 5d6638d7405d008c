/*
 * The canonical print: every key in use, by the tables that parse them, every quantity exact.
 * It is YAML in blocks; texts are in quotes, so that any of them reads back as it was.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "bench/scenario/keys.h"

void print_name(struct printer *p, const char *name)
{
	int indent = p->item ? p->indent - 2 : p->indent;

	fprintf(p->out, "%*s%s%s:", indent, "", p->item ? "- " : "", name);
	p->item = false;
}

void print_open(struct printer *p, const char *name)
{
	print_name(p, name);
	fputc('\n', p->out);
	p->indent += 2;
}

void print_close(struct printer *p)
{
	p->indent -= 2;
}

void print_word(struct printer *p, const char *name, const char *word)
{
	print_name(p, name);
	fprintf(p->out, " %s\n", word);
}

void print_quantity(struct printer *p, const char *name, enum quantity kind, int64_t value)
{
	char text[64];

	print_word(p, name, quantity_format(text, sizeof text, kind, value, true));
}

/* The fewest digits that read back as the same double. */
void print_number(struct printer *p, const char *name, double value)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	print_word(p, name, text);
}

/* An empty one is as good as none, and not printed. */
void print_text(struct printer *p, const char *name, const char *text)
{
	if (!*text)
		return;
	print_name(p, name);
	fputs(" \"", p->out);
	for (; *text; text++)
		fprintf(p->out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	fputs("\"\n", p->out);
}

static int64_t integer_at(const struct key *key, const void *at)
{
	return key->size == sizeof(int) ? *(const int *)at : *(const int64_t *)at;
}

static bool in_use(const struct printer *p, const struct key *key)
{
	return !key->use || (key->use & p->uses);
}

static void print_section(struct printer *p, const struct key *key, const void *base)
{
	const struct key *k = key->table;

	while (k->name && !in_use(p, k))
		k++;
	if (!k->name)
		return;
	print_open(p, key->name);
	keys_print(p, key->table, base);
	print_close(p);
}

static void print_key(struct printer *p, const struct key *key, const void *base)
{
	const void *at = (const char *)base + key->offset;

	switch (key->kind) {
	case KEY_INTEGER:
		print_name(p, key->name);
		fprintf(p->out, " %" PRId64 "\n", integer_at(key, at));
		break;
	case KEY_NUMBER:
		if (key->print)
			key->print(p, key, base);
		else
			print_number(p, key->name, *(const double *)at);
		break;
	case KEY_SHARE:
		print_quantity(p, key->name, QUANTITY_RATIO,
			llround(*(const double *)at * (double)RATIO_ONE));
		break;
	case KEY_SWITCH:
		print_word(p, key->name, *(const bool *)at ? "true" : "false");
		break;
	case KEY_WORD:
		print_word(p, key->name, key->words[*(const int *)at]);
		break;
	case KEY_TEXT:
		print_text(p, key->name, *(char *const *)at);
		break;
	case KEY_SECTION:
		print_section(p, key, base);
		break;
	case KEY_CUSTOM:
		if (key->print)
			key->print(p, key, base);
		break;
	default:
		print_quantity(p, key->name, key_quantity(key->kind), integer_at(key, at));
	}
}

void keys_print(struct printer *p, const struct key *table, const void *base)
{
	for (const struct key *k = table; k->name; k++)
		if (in_use(p, k))
			print_key(p, k, base);
}
