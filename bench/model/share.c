/* Progressive filling; see share.h. */
#include "bench/model/share.h"

#include <math.h>

static int tightest(const struct share_link *links, int n_links)
{
	double least = INFINITY;
	int found = -1;

	for (int l = 0; l < n_links; l++) {
		double level;

		if (!links[l].flows)
			continue;
		level = links[l].left / links[l].weight;
		if (level < least) {
			least = level;
			found = l;
		}
	}
	return found;
}

static void settle(struct share_link *links, struct share_flow *f, int bottleneck, double level)
{
	f->rate = f->weight * level;
	f->bottleneck = f->link[1] == bottleneck;
	for (int side = 0; side < 2; side++) {
		struct share_link *l = &links[f->link[side]];

		l->left = fmax(0, l->left - f->rate);
		l->weight -= f->weight;
		l->flows--;
	}
}

void share_fill(struct share_link *links, int n_links, struct share_flow *const *flows, size_t n)
{
	size_t open = n;
	int l;

	for (l = 0; l < n_links; l++) {
		links[l].left = links[l].capacity;
		links[l].weight = 0;
		links[l].flows = 0;
	}
	for (size_t i = 0; i < n; i++) {
		flows[i]->rate = -1;
		for (int side = 0; side < 2; side++) {
			links[flows[i]->link[side]].weight += flows[i]->weight;
			links[flows[i]->link[side]].flows++;
		}
	}
	while (open && (l = tightest(links, n_links)) >= 0) {
		double level = links[l].left / links[l].weight;

		for (size_t i = 0; i < n; i++) {
			if (flows[i]->rate >= 0 || (flows[i]->link[0] != l && flows[i]->link[1] != l))
				continue;
			settle(links, flows[i], l, level);
			open--;
		}
	}
}
