/* Progressive filling; see share.h. */
#include "bench/model/share.h"

#include <math.h>

static void set_level(struct share_link *l)
{
	l->level = l->flows ? l->left / l->weight : INFINITY;
}

static int tightest(const struct share_link *links, int n_links)
{
	double level = INFINITY;
	int found = -1;

	for (int l = 0; l < n_links; l++) {
		if (!(links[l].level < level))
			continue;
		level = links[l].level;
		found = l;
	}
	return found;
}

static void settle(struct share_link *links, struct share_flow *f, double rate)
{
	f->bottleneck = links[f->link[1]].level < links[f->link[0]].level;
	f->offered = f->weight * links[f->link[f->bottleneck]].level;
	f->rate = rate;
	for (int side = 0; side < 2; side++) {
		struct share_link *l = &links[f->link[side]];

		l->left = most(0, l->left - rate);
		l->weight -= f->weight;
		l->flows--;
	}
}

/* Those that want less than they are offered, and there may be more when they have it. */
static size_t content(struct share_link *links, struct share_flow *const *flows, size_t n)
{
	size_t settled = 0;

	for (size_t i = 0; i < n; i++) {
		struct share_flow *f = flows[i];
		struct share_link *a = &links[f->link[0]], *b = &links[f->link[1]];

		if (f->rate >= 0 || !(f->want > 0) ||
			f->want >= f->weight * least(a->level, b->level))
			continue;
		settle(links, f, f->want);
		set_level(a);
		set_level(b);
		settled++;
	}
	return settled;
}

static size_t fill(struct share_link *links, int l)
{
	double level = links[l].level;
	size_t settled = 0;

	for (int side = 0; side < 2; side++)
		for (struct share_flow *f = links[l].first[side]; f; f = f->next[side]) {
			if (f->rate >= 0)
				continue;
			settle(links, f, f->weight * level);
			set_level(&links[f->link[!side]]);
			settled++;
		}
	links[l].level = INFINITY;
	return settled;
}

static bool prepare(
	struct share_link *links, int n_links, struct share_flow *const *flows, size_t n)
{
	bool modest = false;

	for (int l = 0; l < n_links; l++) {
		links[l].left = links[l].capacity;
		links[l].weight = links[l].flows = 0;
		links[l].first[0] = links[l].first[1] = NULL;
	}
	for (size_t i = n; i-- > 0;) {
		struct share_flow *f = flows[i];

		f->rate = -1;
		modest |= f->want > 0;
		for (int side = 0; side < 2; side++) {
			struct share_link *l = &links[f->link[side]];

			l->weight += f->weight;
			l->flows++;
			f->next[side] = l->first[side];
			l->first[side] = f;
		}
	}
	for (int l = 0; l < n_links; l++)
		set_level(&links[l]);
	return modest;
}

void share_fill(struct share_link *links, int n_links, struct share_flow *const *flows, size_t n)
{
	bool modest = prepare(links, n_links, flows, n);
	size_t open = n;

	while (open) {
		size_t settled = modest ? content(links, flows, n) : 0;

		if (!settled)
			settled = fill(links, tightest(links, n_links));
		open -= settled;
	}
}
