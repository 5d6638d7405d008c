/* A device's qdiscs kept and made again; see saved.h. */
#include "emu/card/saved.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "emu/rtnl.h"

void saved_release(struct saved *s)
{
	qdiscs_release(&s->qdiscs);
}

static int lost_if_replaced(
	const char *device, const struct qdisc_node *n, const char *what, struct error *err)
{
	char name[48];

	return error_set(err, -EBUSY, STATUS_MACHINE,
		"%s has %s, whose %s could not be put back as they were; save them yourself and "
		"remove it: tc qdisc del dev %s %s",
		device, qdisc_name(name, sizeof name, n), what, device,
		n->qdisc.place.parent == TC_H_INGRESS ? n->qdisc.kind : "root");
}

/* Kinds whose classes somebody has to make. */
static bool has_made_classes(const char *kind)
{
	static const char *const kinds[] = {"htb", "hfsc", "drr", "qfq", "cbq", "atm"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i], kind))
			return true;
	return false;
}

static int check_node(const struct shaping *s, const struct qdisc_node *n, struct nl_sock *sock,
	struct error *err)
{
	struct filters filters = {0};
	int r;

	if (has_made_classes(n->qdisc.kind))
		return lost_if_replaced(s->device.name, n, "classes", err);
	r = filters_read(&filters, sock, s->device.index, n->qdisc.place.handle, err);
	if (r == 0 && filters.n)
		r = lost_if_replaced(s->device.name, n, "filters", err);
	filters_release(&filters);
	return r;
}

static void keep(struct qdiscs *kept, const struct qdisc_node *n)
{
	struct qdisc_node copy = *n;

	if (n->options) {
		copy.options = memory_zero(n->options_size + 1, 1);
		memcpy(copy.options, n->options, n->options_size);
	}
	kept->nodes = memory_resize(kept->nodes, kept->n + 1, sizeof *kept->nodes);
	kept->nodes[kept->n++] = copy;
}

/* The device's qdiscs that somebody set, but for its input. */
static int keep_all(struct saved *saved, const struct shaping *s, const struct view *v,
	struct nl_sock *sock, struct error *err)
{
	const struct qdisc_node *root = qdiscs_at(&v->qdiscs, s->device.index, TC_H_ROOT);
	int r = 0;

	if (!qdisc_is_set(root))
		return 0;
	keep(&saved->qdiscs, root);
	r = check_node(s, root, sock, err);
	for (size_t i = 0; r == 0 && i < v->qdiscs.n; i++) {
		const struct qdisc_node *n = &v->qdiscs.nodes[i];
		const struct qdisc_place *p = &n->qdisc.place;

		if (p->index != s->device.index || n == root || p->parent == TC_H_INGRESS ||
			!p->handle)
			continue;
		keep(&saved->qdiscs, n);
		r = check_node(s, n, sock, err);
	}
	return r;
}

/* The ifb must not be there, since it is removed in the end, nor another's use of the input. */
static int check_incoming(const struct shaping *s, const struct view *v, struct error *err)
{
	const struct qdisc_node *input = qdiscs_at(&v->qdiscs, s->device.index, TC_H_INGRESS);

	if (if_nametoindex(s->ifb))
		return error_set(err, -EEXIST, STATUS_MACHINE,
			"there is a device %s already, which somebody has left; narrowlink clear "
			"%s removes it",
			s->ifb, s->device.name);
	return input ? lost_if_replaced(s->device.name, input, "filters", err) : 0;
}

int saved_take(struct saved *out, const struct shaping *s, const struct view *v,
	struct nl_sock *sock, struct error *err)
{
	struct saved saved = {
		.gso_max_segs = s->device.gso_max_segs,
		.merges = device_merges(s->device.name),
	};
	int r = 0;

	if (s->wish.incoming)
		r = check_incoming(s, v, err);
	if (r == 0)
		r = keep_all(&saved, s, v, sock, err);
	if (r < 0) {
		saved_release(&saved);
		return r;
	}
	*out = saved;
	return 0;
}

/* Keeps the first error; a device that has gone is none. */
static void note(int *first, int r)
{
	if (r < 0 && r != -ENODEV && *first == 0)
		*first = r;
}

/* The ifb is ours, and the ingress qdisc and GRO then, too. */
static int take_incoming_back(
	const struct saved *saved, const struct shaping *s, struct nl_sock *sock, struct error *err)
{
	const struct qdisc_place ingress = {s->device.index, TC_H_INGRESS, TC_H_MAJ(TC_H_INGRESS)};
	struct error ignored = {0};
	int index = (int)if_nametoindex(s->ifb), first = 0;

	if (!index)
		return 0;
	/* it is not there when the kernel refused it */
	qdisc_delete(sock, &ingress, &ignored);
	note(&first, device_delete(sock, index, err));
	if (saved->merges && !device_merges(s->device.name) && if_nametoindex(s->device.name))
		note(&first, device_set_merges(s->device.name, true, err));
	return first;
}

static int make_again(const struct saved *saved, struct nl_sock *sock, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < saved->qdiscs.n; i++) {
		const struct qdisc_node *n = &saved->qdiscs.nodes[i];

		r = qdisc_set_raw(sock, QDISC_REPLACE, &n->qdisc.place, n->qdisc.kind, n->options,
			n->options_size, n->qdisc.frame_overhead, err);
	}
	return r;
}

/* Whether the kernel tells the same as before. */
static int compare(
	const struct saved *saved, const struct shaping *s, struct nl_sock *sock, struct error *err)
{
	struct qdiscs now = {0};
	int r = qdiscs_read(&now, sock, err);

	for (size_t i = 0; r == 0 && i < saved->qdiscs.n; i++) {
		const struct qdisc_node *want = &saved->qdiscs.nodes[i];
		const struct qdisc_node *got =
			qdiscs_at(&now, s->device.index, want->qdisc.place.parent);
		char name[48];

		if (got && !strcmp(got->qdisc.kind, want->qdisc.kind) &&
			got->options_size == want->options_size &&
			!memcmp(got->options, want->options, want->options_size))
			continue;
		r = error_set(err, -EBADE, STATUS_MACHINE,
			"%s was put back on %s, but is not in all what it was; see tc -d qdisc "
			"show dev %s",
			qdisc_name(name, sizeof name, want), s->device.name, s->device.name);
	}
	qdiscs_release(&now);
	return r;
}

static int put_root_back(
	const struct saved *saved, const struct shaping *s, struct nl_sock *sock, struct error *err)
{
	const struct shaping_place *p = &s->place[UP];
	struct qdisc_place root = {p->index, TC_H_ROOT, p->top ? p->top : p->netem};
	uint32_t before = saved->qdiscs.n ? saved->qdiscs.nodes[0].qdisc.place.handle : 0;
	struct error gone = {0};
	struct qdisc now;
	int r = qdisc_read(sock, &root, &now, &gone);

	if (r < 0)
		return r == -ENODEV ? r : error_set(err, r, gone.status, "%s", gone.text);
	if (now.place.handle == before)
		return 0; /* ours had not been set */
	if (now.place.handle != root.handle)
		return error_set(err, -EBUSY, STATUS_MACHINE,
			"somebody has set a %s on %s meanwhile; it is left as it is", now.kind,
			s->device.name);
	if (!saved->qdiscs.n)
		return qdisc_delete(sock, &root, err);
	r = make_again(saved, sock, err);
	if (r < 0) { /* rather the kernel's own than half a link */
		struct error ignored = {0};

		root.handle = 0;
		qdisc_delete(sock, &root, &ignored);
		return r;
	}
	return compare(saved, s, sock, err);
}

static int put_gso_back(
	const struct saved *saved, const struct shaping *s, struct nl_sock *sock, struct error *err)
{
	struct devices all = {0};
	const struct device *d = NULL;
	int r = saved->gso_max_segs ? devices_read(&all, sock, err) : 0;

	if (r == 0)
		d = devices_find(&all, s->device.index);
	if (d && d->gso_max_segs != saved->gso_max_segs)
		r = device_set_gso(sock, s->device.index, saved->gso_max_segs, err);
	devices_release(&all);
	return r;
}

int saved_put_back(
	const struct saved *saved, const struct shaping *s, struct nl_sock *sock, struct error *err)
{
	int first = 0;

	if (s->wish.incoming)
		note(&first, take_incoming_back(saved, s, sock, err));
	note(&first, put_root_back(saved, s, sock, err));
	note(&first, put_gso_back(saved, s, sock, err));
	return first;
}
