/* Qdiscs and filters put together to links; see view.h. */
#include "emu/card/view.h"

#include <errno.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define DEPTH 8 /* of qdiscs in qdiscs */
#define INCOMING TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)

int view_read(struct view *out, struct nl_sock *sock, struct error *err)
{
	struct view v = {0};
	int r = devices_read(&v.devices, sock, err);

	if (r == 0)
		r = qdiscs_read(&v.qdiscs, sock, err);
	if (r < 0) {
		view_release(&v);
		return r;
	}
	*out = v;
	return 0;
}

void view_release(struct view *v)
{
	devices_release(&v->devices);
	qdiscs_release(&v->qdiscs);
}

void ways_release(struct ways *w)
{
	free(w->list);
	*w = (struct ways){0};
}

bool view_is_shaped(const struct view *v, const struct device *d)
{
	return qdisc_is_set(qdiscs_at(&v->qdiscs, d->index, TC_H_ROOT)) ||
	       qdiscs_at(&v->qdiscs, d->index, TC_H_INGRESS);
}

static bool is_kind(const struct qdisc_node *n, const char *kind)
{
	return n && !strcmp(n->qdisc.kind, kind);
}

/* The n-th qdisc below one. */
static const struct qdisc_node *child_of(
	const struct view *v, const struct qdisc_node *of, size_t n)
{
	const struct qdisc_place *at = &of->qdisc.place;

	for (size_t i = 0; i < v->qdiscs.n; i++) {
		const struct qdisc_place *p = &v->qdiscs.nodes[i].qdisc.place;

		if (p->index == at->index && p->parent != TC_H_ROOT && p->parent != TC_H_INGRESS &&
			at->handle && TC_H_MAJ(p->parent) == TC_H_MAJ(at->handle) && n-- == 0)
			return &v->qdiscs.nodes[i];
	}
	return NULL;
}

/* What is being put together. */
struct walk {
	const struct view *view;
	const struct device *on;
	struct way like;	       /* direction, match and prefix of all that is found */
	int frame_overhead;	       /* the root's, which all below it count by */
	const struct filters *filters; /* of the root: which packets go to a class; NULL: none */
	struct ways *out;
};

static void add(struct walk *k, struct way way)
{
	layout_read(&way.words, way.netem ? &way.netem->qdisc.netem : NULL,
		way.tbf ? &way.tbf->qdisc.tbf : NULL, k->frame_overhead, k->on);
	k->out->list = memory_resize(k->out->list, k->out->n + 1, sizeof *k->out->list);
	k->out->list[k->out->n++] = way;
}

/* Whoever goes to the class, if only one filter says so. */
static void find_match(const struct walk *k, struct way *way)
{
	size_t n = 0;

	for (size_t i = 0; k->filters && way->class_id && i < k->filters->n; i++) {
		const struct filter *f = &k->filters->list[i];

		if (f->class_id != way->class_id)
			continue;
		way->match = n++ ? FILTER_OTHER : f->match;
		way->prefix = f->prefix;
	}
}

static void walk(struct walk *k, const struct qdisc_node *node, struct way way, int depth)
{
	const struct qdisc_node **slot = is_kind(node, "netem") ? &way.netem
					 : is_kind(node, "tbf") ? &way.tbf
								: NULL;
	const struct qdisc_node *child = depth < DEPTH ? child_of(k->view, node, 0) : NULL;

	if (slot && !*slot) {
		*slot = node;
		if (is_kind(child, "netem") || is_kind(child, "tbf"))
			walk(k, child, way, depth + 1);
		else
			add(k, way);
		return;
	}
	if (way.netem || way.tbf) { /* a third one of a kind: what is above is all we can tell */
		add(k, way);
		return;
	}
	for (size_t i = 0; child; child = child_of(k->view, node, ++i)) {
		way = k->like;
		way.index = k->on->index;
		way.class_id = child->qdisc.place.parent;
		find_match(k, &way);
		walk(k, child, way, depth + 1);
	}
}

static int walk_root(struct walk *k, struct nl_sock *sock, struct error *err)
{
	const struct qdisc_node *root = qdiscs_at(&k->view->qdiscs, k->on->index, TC_H_ROOT);
	struct filters filters = {0};
	struct way way = k->like;
	int r = 0;

	if (!qdisc_is_set(root))
		return 0;
	if (!is_kind(root, "netem") && !is_kind(root, "tbf"))
		r = filters_read(&filters, sock, k->on->index, root->qdisc.place.handle, err);
	way.index = k->on->index;
	k->filters = &filters;
	k->frame_overhead = root->qdisc.frame_overhead;
	if (r == 0)
		walk(k, root, way, 0);
	filters_release(&filters);
	k->filters = NULL;
	return r;
}

/* Where the device's incoming packets are redirected to. */
static int walk_incoming(
	struct walk *k, const struct device *d, struct nl_sock *sock, struct error *err)
{
	struct filters filters = {0};
	int r = filters_read(&filters, sock, d->index, INCOMING, err);

	for (size_t i = 0; r == 0 && i < filters.n; i++) {
		const struct filter *f = &filters.list[i];

		k->on = devices_find(&k->view->devices, f->redirect);
		k->like = (struct way){.direction = DOWN, .match = f->match, .prefix = f->prefix};
		if (f->redirect && k->on)
			r = walk_root(k, sock, err);
	}
	filters_release(&filters);
	return r;
}

int view_ways(struct ways *out, const struct view *v, const struct device *d, struct nl_sock *sock,
	struct error *err)
{
	struct ways ways = {0};
	struct walk k = {.view = v, .on = d, .like = {.direction = UP}, .out = &ways};
	int r = walk_root(&k, sock, err);

	if (r == 0 && qdiscs_at(&v->qdiscs, d->index, TC_H_INGRESS))
		r = walk_incoming(&k, d, sock, err);
	if (r < 0) {
		ways_release(&ways);
		return r;
	}
	*out = ways;
	return 0;
}

struct way_counters way_count(const struct way *w)
{
	const struct qdisc_counters *netem = w->netem ? &w->netem->qdisc.counters : NULL;
	const struct qdisc_counters *tbf = w->tbf ? &w->tbf->qdisc.counters : NULL;
	const struct qdisc_counters *top = netem ? netem : tbf;
	struct way_counters c = {
		.sent_packets = top->packets,
		.sent_bytes = top->bytes,
		.backlog_bytes = top->backlog_bytes,
		.lost = netem ? netem->drops : 0,
		.queue = tbf ? tbf->drops : 0,
	};

	/* netem counts what its child had no room for as dropped, too */
	if (netem && tbf && w->tbf->qdisc.place.parent != TC_H_ROOT)
		c.lost -= c.queue < c.lost ? c.queue : c.lost;
	return c;
}
