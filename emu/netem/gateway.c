/* Gateways of veth pairs and forwarding namespaces; see gateway.h. */
#include "emu/netem/gateway.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define TXQUEUELEN 1000 /* not used: these devices have no queue but the qdiscs set here */

/* A router's device that has come up. */
static int device_up(struct nl_sock *sock, const char *name, int *index, struct error *err)
{
	static const struct rtnl_link_settings keep = {0};
	int r = rtnl_device_index(name, index, err);

	return r < 0 ? r : rtnl_device_up(sock, *index, &keep, err);
}

/* Inside a router: the site is reached by one device. */
static int route_site(
	struct nl_sock *sock, const struct topology *t, int site, int index, struct error *err)
{
	const struct topology_site *s = &t->sites[site];
	int r = rtnl_add_host_route(sock, index, AF_INET, &s->address, err);

	if (r == 0 && t->ipv6)
		r = rtnl_add_host_route(sock, index, AF_INET6, &s->address6, err);
	return r;
}

/* Inside a router: everything else by another. */
static int route_rest(struct nl_sock *sock, const struct topology *t, int index, struct error *err)
{
	int r = rtnl_add_default_route(sock, index, AF_INET, "", err);

	if (r == 0 && t->ipv6)
		r = rtnl_add_default_route(sock, index, AF_INET6, "", err);
	return r;
}

/* Opens a socket in a namespace. */
static int open_in(struct nl_sock **sock, const struct topology *t, int netns_fd, struct error *err)
{
	int left, r = topology_enter_router(netns_fd, err);

	if (r == 0)
		r = rtnl_open(sock, err);
	left = topology_leave(t, err);
	return r < 0 ? r : left;
}

static int make_pairs(struct gateways *g, const struct topology *t, int i, struct error *err)
{
	struct gateway *w = &g->site[i];
	char name[16];
	const struct rtnl_veth_end pairs[][2] = {
		{{SITE_DEVICE, t->sites[i].netns_fd}, {"site", w->near_fd}},
		{{"far", w->near_fd}, {"near", w->far_fd}},
		{{"core", w->far_fd}, {name, g->core_fd}},
	};
	int r = 0;

	snprintf(name, sizeof name, "site-%d", i);
	for (int k = 0; r == 0 && k < 3; k++)
		r = rtnl_add_veth(g->core, pairs[k], err);
	return r;
}

/* Inside near or far: the device towards the site, and the one towards the core. */
static int set_router(struct nl_sock *sock, const struct topology *t, int site, int netns_fd,
	const char *in, const char *out, int index[2], struct error *err)
{
	int left, r = topology_enter_router(netns_fd, err);

	if (r == 0)
		r = device_up(sock, in, &index[0], err);
	if (r == 0)
		r = device_up(sock, out, &index[1], err);
	if (r == 0)
		r = route_site(sock, t, site, index[0], err);
	if (r == 0)
		r = route_rest(sock, t, index[1], err);
	left = topology_leave(t, err);
	return r < 0 ? r : left;
}

static int set_core(
	struct gateways *g, const struct topology *t, int site, int *index, struct error *err)
{
	char name[16];
	int left, r = topology_enter_router(g->core_fd, err);

	snprintf(name, sizeof name, "site-%d", site);
	if (r == 0)
		r = device_up(g->core, name, index, err);
	if (r == 0)
		r = route_site(g->core, t, site, *index, err);
	left = topology_leave(t, err);
	return r < 0 ? r : left;
}

static int site_index(const struct topology *t, int site, int *index, struct error *err)
{
	int left, r = topology_enter(t, site, err);

	if (r == 0)
		r = rtnl_device_index(SITE_DEVICE, index, err);
	left = topology_leave(t, err);
	return r < 0 ? r : left;
}

static void set_ports(
	struct gateways *g, int i, int wan, const int near[2], const int far[2], int core)
{
	struct gateway *w = &g->site[i];
	const struct port site = {w->site, wan}, near_site = {w->near, near[0]},
			  near_far = {w->near, near[1]}, far_near = {w->far, far[0]},
			  far_core = {w->far, far[1]}, core_site = {g->core, core};
	const struct port hops[DIRECTIONS][3] = {
		[UP] = {site, near_far, far_core},
		[DOWN] = {core_site, far_near, near_site},
	};

	w->inlet[UP] = near_site;
	w->queue[UP] = near_far;
	w->delay[UP] = w->inlet[DOWN] = far_core;
	w->queue[DOWN] = far_near;
	w->delay[DOWN] = near_site;
	memcpy(w->hops, hops, sizeof hops);
}

static int open_sockets(struct gateway *w, const struct topology *t, int i, struct error *err)
{
	int r = open_in(&w->near, t, w->near_fd, err);

	if (r == 0)
		r = open_in(&w->far, t, w->far_fd, err);
	if (r == 0)
		r = open_in(&w->site, t, t->sites[i].netns_fd, err);
	return r;
}

static int open_gateway(struct gateways *g, const struct topology *t, int i, struct error *err)
{
	struct gateway *w = &g->site[i];
	int wan, near[2], far[2], core;
	int r = topology_router(t, &w->near_fd, err);

	if (r == 0)
		r = topology_router(t, &w->far_fd, err);
	if (r == 0)
		r = open_sockets(w, t, i, err);
	if (r == 0)
		r = make_pairs(g, t, i, err);
	if (r == 0)
		r = set_router(w->near, t, i, w->near_fd, "site", "far", near, err);
	if (r == 0)
		r = set_router(w->far, t, i, w->far_fd, "near", "core", far, err);
	if (r == 0)
		r = set_core(g, t, i, &core, err);
	if (r == 0)
		r = topology_attach(t, i, LINK_MTU, TXQUEUELEN, 0, err);
	if (r == 0)
		r = site_index(t, i, &wan, err);
	if (r == 0)
		set_ports(g, i, wan, near, far, core);
	return r;
}

int gateways_open(struct gateways *g, const struct topology *t, struct error *err)
{
	int r;

	*g = (struct gateways){.core_fd = -1, .n = t->n_sites};
	for (int i = 0; i < g->n; i++)
		g->site[i].near_fd = g->site[i].far_fd = -1;
	r = topology_router(t, &g->core_fd, err);
	if (r == 0)
		r = open_in(&g->core, t, g->core_fd, err);
	for (int i = 0; r == 0 && i < g->n; i++)
		r = open_gateway(g, t, i, err);
	return r;
}

static void close_sockets(struct gateways *g)
{
	for (int i = 0; i < g->n; i++) {
		struct gateway *w = &g->site[i];

		w->site = rtnl_close(w->site);
		w->near = rtnl_close(w->near);
		w->far = rtnl_close(w->far);
	}
	g->core = rtnl_close(g->core);
}

/* Ports name the sockets that there were: the same places, other sockets. */
int gateways_reopen(struct gateways *g, const struct topology *t, struct error *err)
{
	int r;

	close_sockets(g);
	r = open_in(&g->core, t, g->core_fd, err);
	for (int i = 0; r == 0 && i < g->n; i++) {
		struct gateway *w = &g->site[i];

		r = open_sockets(w, t, i, err);
		w->queue[UP].sock = w->delay[DOWN].sock = w->near;
		w->queue[DOWN].sock = w->delay[UP].sock = w->far;
	}
	return r;
}

void gateways_close(struct gateways *g)
{
	close_sockets(g);
	for (int i = 0; i < g->n; i++) {
		cleanup_close(&g->site[i].near_fd);
		cleanup_close(&g->site[i].far_fd);
	}
	cleanup_close(&g->core_fd);
}
