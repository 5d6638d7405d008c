/* Removing what was left on a device; see leftover.h. */
#include "emu/card/leftover.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "emu/card/shaping.h"
#include "emu/rtnl.h"

#define INCOMING TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)
#define GSO_MOST 65535 /* segments, what devices begin with */

static void add(char text[static LEFTOVER_TEXT], const char *what, const char *name)
{
	size_t used = strlen(text);

	snprintf(text + used, LEFTOVER_TEXT - used, "%s%s%s", used ? ", " : "", what, name);
}

static int remove_root(char removed[static LEFTOVER_TEXT], const struct view *v,
	const struct device *d, struct nl_sock *sock, struct error *err)
{
	const struct qdisc_node *root = qdiscs_at(&v->qdiscs, d->index, TC_H_ROOT);
	char name[48];
	int r = qdisc_is_set(root) ? qdisc_delete(sock, &root->qdisc.place, err) : 0;

	if (r == 0 && qdisc_is_set(root))
		add(removed, "", qdisc_name(name, sizeof name, root));
	return r;
}

/* The ifb that incoming packets are redirected to; NULL: they are not. */
static int find_ifb(const struct device **ifb, const struct view *v, const struct device *d,
	struct nl_sock *sock, struct error *err)
{
	struct filters filters = {0};
	int r = filters_read(&filters, sock, d->index, INCOMING, err);

	*ifb = NULL;
	for (size_t i = 0; r == 0 && i < filters.n && !*ifb; i++) {
		*ifb = devices_find(&v->devices, filters.list[i].redirect);
		if (*ifb && strcmp((*ifb)->kind, "ifb"))
			*ifb = NULL;
	}
	filters_release(&filters);
	return r;
}

static int remove_redirection(char removed[static LEFTOVER_TEXT], const struct view *v,
	const struct device *d, struct nl_sock *sock, struct error *err)
{
	const struct qdisc_node *input = qdiscs_at(&v->qdiscs, d->index, TC_H_INGRESS);
	const struct device *ifb = NULL;
	int r = input ? find_ifb(&ifb, v, d, sock, err) : 0;

	if (r < 0 || !ifb)
		return r;
	r = qdisc_delete(sock, &input->qdisc.place, err);
	if (r == 0)
		add(removed, "what comes in by ", ifb->name);
	return r;
}

/* Also one that nothing is redirected to any more. */
static int remove_our_ifb(char removed[static LEFTOVER_TEXT], const struct view *v,
	const struct device *d, struct nl_sock *sock, struct error *err)
{
	char name[IFNAMSIZ];
	int r = 0;

	shaping_ifb(name, d->index);
	for (size_t i = 0; r == 0 && i < v->devices.n; i++) {
		if (strcmp(v->devices.list[i].name, name))
			continue;
		r = device_delete(sock, v->devices.list[i].index, err);
		if (r == 0)
			add(removed, "the device ", name);
	}
	return r;
}

static int allow_super_packets(const struct device *d, struct nl_sock *sock, struct error *err)
{
	uint32_t most = d->tso_max_segs && d->tso_max_segs < GSO_MOST ? d->tso_max_segs : GSO_MOST;

	return d->gso_max_segs == 1 && most > 1 ? device_set_gso(sock, d->index, most, err) : 0;
}

int leftover_remove(char removed[static LEFTOVER_TEXT], const struct view *v,
	const struct device *d, struct nl_sock *sock, struct error *err)
{
	int r;

	*removed = '\0';
	r = remove_redirection(removed, v, d, sock, err);
	if (r == 0)
		r = remove_our_ifb(removed, v, d, sock, err);
	if (r == 0)
		r = remove_root(removed, v, d, sock, err);
	if (r == 0 && *removed)
		r = allow_super_packets(d, sock, err);
	return r;
}
