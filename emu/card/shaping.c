/* Setting and changing a device's link; see shaping.h. */
#include "emu/card/shaping.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "emu/netem/compare.h"
#include "emu/rtnl.h"

#define HANDLE(major) ((uint32_t)(major) << 16)
#define SHAPED_CLASS 1 /* of prio: the first band, so that what is due does not wait */

/* The next major number that no qdisc of the device has. */
static uint32_t free_handle(const struct view *v, int index, uint32_t after)
{
	uint32_t h = after + HANDLE(1);

	while (qdiscs_handle(&v->qdiscs, index, h))
		h += HANDLE(1);
	return h;
}

/* What a direction is t_ns after the beginning. */
static void line_at(
	const struct shaping *s, enum direction d, int64_t t_ns, struct shaping_line *line)
{
	const struct link_direction *link = &s->wish.link->direction[d];

	link_at(link, d, t_ns, &line->state, &line->until_ns);
	layout_make(&line->layout, &line->state, link->overhead_bytes, &s->device);
}

char *shaping_ifb(char name[static IFNAMSIZ], int index)
{
	snprintf(name, IFNAMSIZ, "ifb-nl%d", index);
	return name;
}

void shaping_plan(struct shaping *s, const struct shaping_wish *wish, const struct device *d,
	const struct view *v)
{
	struct shaping_place *up = &s->place[UP];

	*s = (struct shaping){.wish = *wish, .device = *d};
	up->index = d->index;
	if (wish->has_prefix)
		up->top = free_handle(v, d->index, 0);
	up->netem = free_handle(v, d->index, up->top);
	up->tbf = free_handle(v, d->index, up->netem);
	s->place[DOWN] = (struct shaping_place){0, 0, HANDLE(1), HANDLE(2)};
	shaping_ifb(s->ifb, d->index);
	for (int i = 0; i < shaping_directions(wish); i++)
		line_at(s, (enum direction)i, 0, &s->line[i]);
}

static struct qdisc_place netem_place(const struct shaping_place *p)
{
	uint32_t parent = p->top ? p->top | SHAPED_CLASS : TC_H_ROOT;

	return (struct qdisc_place){p->index, parent, p->netem};
}

static struct qdisc_place tbf_place(const struct shaping_place *p)
{
	return (struct qdisc_place){p->index, p->netem | 1, p->tbf};
}

/* The qdisc at a place, if it is ours. */
static int read_ours(const struct shaping *s, const struct qdisc_place *place, const char *kind,
	struct nl_sock *sock, struct qdisc *q, struct error *err)
{
	int r = qdisc_read(sock, place, q, err);

	if (r < 0)
		return r;
	if (q->place.handle == place->handle && !strcmp(q->kind, kind))
		return 0;
	return error_set(err, -EBADE, STATUS_MACHINE, "somebody has replaced the %s on %s by %s",
		kind, place->index == s->device.index ? s->device.name : s->ifb,
		*q->kind ? q->kind : "the kernel's own qdisc");
}

/* prio with two bands: everything goes to the second unless a filter says otherwise. */
static int set_top(const struct shaping *s, struct nl_sock *sock, struct error *err)
{
	const struct shaping_place *p = &s->place[UP];
	const struct qdisc_place root = {p->index, TC_H_ROOT, p->top};
	const struct filter to = {
		.match = FILTER_TO, .prefix = s->wish.prefix, .class_id = p->top | SHAPED_CLASS};
	int overhead = s->line[UP].layout.frame_overhead, r;
	struct tc_prio_qopt prio = {.bands = 2};
	struct qdisc q;

	memset(prio.priomap, 1, sizeof prio.priomap);
	r = qdisc_set_raw(sock, QDISC_REPLACE, &root, "prio", &prio, sizeof prio, overhead, err);
	if (r == 0)
		r = read_ours(s, &root, "prio", sock, &q, err);
	if (r == 0 && q.frame_overhead != overhead)
		r = error_set(err, -EBADE, STATUS_MACHINE,
			"this kernel's prio did not take an overhead of %d B per packet", overhead);
	return r < 0 ? r : filter_add(sock, p->index, p->top, &to, err);
}

/* The overhead that netem has itself: a size table is the root's. */
static int own_overhead(const struct shaping_place *p, const struct layout *l)
{
	return p->top ? 0 : l->frame_overhead;
}

static int set_line(
	const struct shaping *s, enum direction d, struct nl_sock *sock, struct error *err)
{
	const struct shaping_place *p = &s->place[d];
	const struct layout *l = &s->line[d].layout;
	const struct qdisc_place netem = netem_place(p), tbf = tbf_place(p);
	enum qdisc_verb verb = p->top ? QDISC_ADD : QDISC_REPLACE;
	int r = qdisc_set_netem(sock, verb, &netem, &l->netem, own_overhead(p, l), err);

	return r < 0 ? r : qdisc_set_tbf(sock, QDISC_ADD, &tbf, &l->tbf, 0, err);
}

/* What comes in is redirected at last, when the way that it takes is there. */
static int set_incoming(struct shaping *s, struct nl_sock *sock, struct error *err)
{
	const struct qdisc_place ingress = {s->device.index, TC_H_INGRESS, TC_H_MAJ(TC_H_INGRESS)};
	struct filter all = {
		.match = s->wish.has_prefix ? FILTER_FROM : FILTER_ALL, .prefix = s->wish.prefix};
	int r = device_add_ifb(sock, s->ifb, &s->place[DOWN].index, err);

	if (r == 0)
		r = set_line(s, DOWN, sock, err);
	if (r == 0 && device_merges(s->device.name))
		r = device_set_merges(s->device.name, false, err);
	if (r == 0)
		r = qdisc_set_raw(sock, QDISC_ADD, &ingress, "ingress", NULL, 0, 0, err);
	all.redirect = s->place[DOWN].index;
	return r < 0 ? r : filter_add(sock, s->device.index, ingress.handle, &all, err);
}

/* A device that has gone is said so: what the kernel says of a qdisc is a riddle then. */
static int gone(const struct shaping *s, int r, const struct error *why, struct error *err)
{
	if (r == -ENODEV)
		return error_set(err, r, STATUS_MACHINE, "%s has gone (the kernel says: %s)",
			s->device.name, strerror(ENODEV));
	return r < 0 ? error_set(err, r, why->status, "%s", why->text) : 0;
}

int shaping_apply(struct shaping *s, struct nl_sock *sock, struct error *err)
{
	struct error why = {0};
	int r = s->place[UP].top ? set_top(s, sock, &why) : 0;

	if (r == 0)
		r = set_line(s, UP, sock, &why);
	if (r == 0)
		r = device_set_gso(sock, s->device.index, 1, &why);
	if (r == 0 && s->wish.incoming)
		r = set_incoming(s, sock, &why);
	return gone(s, r, &why, err);
}

static bool same_tbf(const struct tbf *a, const struct tbf *b)
{
	return a->rate == b->rate && a->burst == b->burst && a->limit == b->limit;
}

/* A bucket that is changed is full again: only when it must be. */
static int change(const struct shaping *s, enum direction d, const struct layout *is,
	struct nl_sock *sock, struct error *err)
{
	const struct qdisc_place netem = netem_place(&s->place[d]), tbf = tbf_place(&s->place[d]);
	int r = 0;

	if (!same_tbf(&is->tbf, &s->line[d].layout.tbf))
		r = qdisc_set_tbf(sock, QDISC_CHANGE, &tbf, &is->tbf, 0, err);
	return r < 0 ? r
		     : qdisc_set_netem(sock, QDISC_CHANGE, &netem, &is->netem,
			       own_overhead(&s->place[d], is), err);
}

int shaping_follow(
	struct shaping *s, struct nl_sock *sock, int64_t t_ns, bool *changed, struct error *err)
{
	struct error why = {0};
	int r = 0;

	*changed = false;
	for (int i = 0; r == 0 && i < shaping_directions(&s->wish); i++) {
		struct shaping_line now;

		if (s->line[i].until_ns > t_ns)
			continue;
		line_at(s, (enum direction)i, t_ns, &now);
		r = change(s, (enum direction)i, &now.layout, sock, &why);
		if (r == 0)
			s->line[i] = now;
		*changed = true;
	}
	return gone(s, r, &why, err);
}

int64_t shaping_next(const struct shaping *s)
{
	int64_t next_ns = TIME_NEVER;

	for (int i = 0; i < shaping_directions(&s->wish); i++)
		if (s->line[i].until_ns < next_ns)
			next_ns = s->line[i].until_ns;
	return next_ns;
}

static int verify_line(
	const struct shaping *s, enum direction d, struct nl_sock *sock, struct error *err)
{
	const struct qdisc_place netem = netem_place(&s->place[d]), tbf = tbf_place(&s->place[d]);
	const struct layout *l = &s->line[d].layout;
	char differences[1024];
	struct qdisc q;
	int n = 0, r = read_ours(s, &netem, "netem", sock, &q, err);

	if (r == 0)
		n = netem_compare(&l->netem, &q.netem, differences, sizeof differences);
	if (r == 0 && !n)
		r = read_ours(s, &tbf, "tbf", sock, &q, err);
	if (r == 0 && !n)
		n = tbf_compare(&l->tbf, &q.tbf, differences, sizeof differences);
	return !n ? r
		  : error_set(err, -EBADE, STATUS_MACHINE, "somebody has changed what is set: %s",
			    differences);
}

int shaping_verify(const struct shaping *s, struct nl_sock *sock, struct error *err)
{
	struct error why = {0};
	int r = 0;

	for (int i = 0; r == 0 && i < shaping_directions(&s->wish); i++)
		r = verify_line(s, (enum direction)i, sock, &why);
	return gone(s, r, &why, err);
}
