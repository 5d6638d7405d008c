/*
 * A walk down the tables that also drive parsing, along a dotted key. Links and listed sites
 * stand one level deeper, under their names, which the loaded scenario knows.
 */
#include "bench/scenario/numeric.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/scenario/direction.h"
#include "bench/scenario/nearest.h"
#include "bench/scenario/sections.h"

#define PART 64

struct walk {
	const struct scenario *s;
	const char *key; /* whole */
	const char *at;	 /* the rest of it */
	struct error *err;
};

/* The next part of the key, without its dot; false at the end. */
static bool next(struct walk *w, char part[PART])
{
	size_t n = strcspn(w->at, ".");

	if (!*w->at)
		return false;
	snprintf(part, PART, "%.*s", (int)(n < PART ? n : PART - 1), w->at);
	w->at += n + (w->at[n] == '.');
	return true;
}

/* "KEY: there is no ...": with the whole key as it should be, where one is near. */
static int unknown(const struct walk *w, const char *part, const struct nearest *nearest)
{
	size_t tail = strlen(w->at) + (*w->at ? 1 : 0);
	int head = (int)(strlen(w->key) - tail - strlen(part));

	if (nearest->best)
		return error_set(w->err, -ENOENT, STATUS_INPUT,
			"%s: this scenario has no \"%s\" there; did you mean %.*s%s%s%s?", w->key,
			part, head > 0 ? head : 0, w->key, nearest->best, *w->at ? "." : "", w->at);
	return error_set(w->err, -ENOENT, STATUS_INPUT,
		"%s: this scenario has no \"%s\" there; docs/scenario.md lists every key", w->key,
		part);
}

static const struct key *search(const struct key *table, const char *part, struct nearest *nearest)
{
	for (const struct key *k = table; k->name; k++) {
		nearest_offer(nearest, k->name);
		if (!strcmp(k->name, part))
			return k;
	}
	return NULL;
}

static int down_table(struct walk *w, const struct key *table, const struct key **out)
{
	char part[PART];
	struct nearest nearest = {.written = part};
	const struct key *k = NULL;

	while (next(w, part)) {
		nearest.best = NULL;
		k = search(table, part, &nearest);
		if (!k)
			return unknown(w, part, &nearest);
		if (!*w->at)
			break;
		if (!k->table)
			return error_set(w->err, -ENOENT, STATUS_INPUT,
				"%s: \"%s\" has no keys below it", w->key, part);
		table = k->table;
	}
	*out = k;
	return 0;
}

/* links.NAME.rate, links.NAME.up.rate */
static int down_links(struct walk *w, const struct key **out)
{
	char part[PART] = "";
	struct nearest nearest = {.written = part};
	bool known = false;

	next(w, part);
	for (size_t i = 0; i < w->s->n_links; i++) {
		nearest_offer(&nearest, w->s->links[i].name);
		known |= !strcmp(w->s->links[i].name, part);
	}
	if (!known)
		return unknown(w, part, &nearest);
	if (!strncmp(w->at, "up.", 3) || !strncmp(w->at, "down.", 5))
		next(w, part);
	return down_table(w, direction_keys, out);
}

/* sites.NAME.speed of listed ones, sites.speed of those alike */
static int down_sites(struct walk *w, const struct key **out)
{
	size_t n = strcspn(w->at, ".");
	struct nearest nearest = {0};
	char part[PART];

	if (!w->at[n])
		return down_table(w, count_keys, out);
	nearest.written = part;
	next(w, part);
	for (int i = 0; i < w->s->n_sites; i++)
		nearest_offer(&nearest, w->s->sites[i].name);
	if (sites_find(w->s, part) < 0)
		return unknown(w, part, &nearest);
	return down_table(w, site_keys, out);
}

static int find(struct walk *w, const struct key **out)
{
	if (!strncmp(w->at, "links.", 6)) {
		w->at += 6;
		return down_links(w, out);
	}
	if (!strncmp(w->at, "sites.", 6)) {
		w->at += 6;
		return down_sites(w, out);
	}
	return down_table(w, root_keys, out);
}

/* The range of a key's own values, or of its kind where the table says none. */
static void take_range(struct numeric *out, const struct key *k)
{
	double scale = k->kind == KEY_TIME ? 1e9 : 1;

	out->low = k->low / scale;
	out->high = k->high / scale;
	out->below = k->below;
	if (k->low == 0 && k->high == 0)
		out->high = 9e18 / scale;
}

int numeric_find(struct numeric *out, const struct scenario *s, const char *key, struct error *err)
{
	struct walk w = {.s = s, .key = key, .at = key, .err = err};
	const struct key *k = NULL;
	int r;

	if (strlen(key) >= sizeof out->key)
		return error_set(err, -EINVAL, STATUS_INPUT, "%.64s...: there is no such key", key);
	r = find(&w, &k);
	if (r)
		return r;
	if (k && k->number)
		k = k->number;
	if (!k || k->kind > KEY_SHARE)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s holds no number; name a key that does, e.g. links.%s.rate", key,
			s->n_links ? s->links[0].name : "NAME");
	*out = (struct numeric){.plain = k->kind == KEY_NUMBER, .whole = k->kind == KEY_INTEGER};
	strcpy(out->key, key);
	out->kind = k->kind == KEY_SHARE    ? QUANTITY_RATIO
		    : k->kind == KEY_NUMBER ? QUANTITY_COUNT
					    : key_quantity(k->kind);
	out->whole |= k->kind == KEY_BITS || k->kind == KEY_COUNT || k->kind == KEY_BYTES;
	take_range(out, k);
	return 0;
}

static double scale_of(const struct numeric *n)
{
	return n->kind == QUANTITY_TIME || n->kind == QUANTITY_RATIO ? 1e9 : 1;
}

/* What follows a number of steps in `checkpoint.every`, and the spread of a step time. */
static void cut_decoration(char *text)
{
	char *end = strstr(text, " step");

	if (!end)
		end = strstr(text, "\302\261");
	if (!end)
		end = strstr(text, "+-");
	if (end)
		*end = '\0';
}

int numeric_parse(const struct numeric *n, const char *text, double *out, struct error *err)
{
	_free_ char *copy = memory_string(text);
	struct error inner = {0};
	enum quantity kind = n->kind;
	char *end;
	int64_t v;
	int r;

	cut_decoration(copy);
	if (n->plain) {
		double d = strtod(copy, &end);

		if (end == copy || end[strspn(end, " ")] || !isfinite(d) ||
			strspn(copy, "0123456789.+-eE ") != strlen(copy))
			return error_set(
				err, -EINVAL, STATUS_INPUT, "\"%.64s\" is not a number", text);
		*out = d;
		return 0;
	}
	if (kind == QUANTITY_BITS && !strstr(copy, "bit"))
		kind = QUANTITY_COUNT;
	r = quantity_parse(copy, kind, &v, &inner);
	if (r)
		return error_set(err, r, STATUS_INPUT, "%s", inner.text);
	*out = (double)v / scale_of(n);
	return 0;
}

bool numeric_current(const struct numeric *n, const struct scenario *s, double *out)
{
	struct tree tree = {0};
	struct error err = {0};
	_free_ char *text = NULL;
	const struct node *node;
	bool known = false;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return false;
	scenario_print(s, f);
	fclose(f);
	if (!tree_parse(&tree, &tree.root, "", text, strlen(text), true, &err)) {
		node = node_find(tree.root, n->key);
		known = node && node->kind == NODE_TEXT && node->text &&
			!numeric_parse(n, node->text, out, &err);
	}
	tree_release(&tree);
	return known;
}

char *numeric_format(char *buf, size_t size, const struct numeric *n, double value, bool exact)
{
	if (n->plain)
		snprintf(buf, size, exact ? "%.15g" : "%.4g", value);
	else if (n->whole && n->kind == QUANTITY_COUNT && fabs(value) < 1e6)
		snprintf(buf, size, "%.0f", value);
	else
		quantity_format(buf, size, n->kind, llround(value * scale_of(n)), exact);
	return buf;
}

const char *numeric_kind_name(const struct numeric *n)
{
	static const char *const names[] = {
		[QUANTITY_RATE] = "rate",
		[QUANTITY_TIME] = "time",
		[QUANTITY_BYTES] = "bytes",
		[QUANTITY_COUNT] = "count",
		[QUANTITY_BITS] = "bits",
		[QUANTITY_RATIO] = "ratio",
	};

	return n->plain ? "number" : names[n->kind];
}
