/* Listening, greeting, heartbeats, and who has something to write; see mesh.h. */
#include "bench/live/mesh.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"

void mesh_fail(struct mesh *mesh, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	mesh->user->failed(mesh, text);
}

void mesh_dirty(struct mesh *mesh, struct peer *peer)
{
	if (peer->dirty)
		return;
	peer->dirty = true;
	peer->next_dirty = mesh->dirty;
	mesh->dirty = peer;
}

void mesh_settle(struct mesh *mesh)
{
	struct peer *p;

	while ((p = mesh->dirty)) {
		mesh->dirty = p->next_dirty;
		p->dirty = false;
		peer_write(p);
	}
}

static void dismiss(struct mesh_guest *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}

/* A guest's hello is complete. */
static void introduce(struct mesh_guest *g)
{
	struct mesh *mesh = g->mesh;
	struct wire_frame hello;
	int fd = g->fd;

	if (wire_decode(&hello, g->in, sizeof g->in) < 0 || hello.type != WIRE_HELLO ||
		hello.participant >= (uint32_t)mesh->config->n_nodes ||
		!mesh->peers[hello.participant]) {
		dismiss(g);
		return;
	}
	g->fd = -1;
	peer_accept(mesh->peers[hello.participant], &hello, fd);
}

static void guest_ready(struct loop_source *source, uint32_t events)
{
	struct mesh_guest *g = container_of(source, struct mesh_guest, source);
	ssize_t n;

	if (g->fd < 0)
		return;
	n = recv(g->fd, g->in + g->in_count, sizeof g->in - g->in_count, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		dismiss(g);
		return;
	}
	g->in_count += (size_t)n;
	if (g->in_count == sizeof g->in)
		introduce(g);
}

static struct mesh_guest *free_guest(struct mesh *mesh)
{
	for (size_t i = 0; i < mesh->n_guests; i++)
		if (mesh->guests[i].fd < 0)
			return &mesh->guests[i];
	return NULL;
}

/* One connection at a time: the loop calls again while there are more. */
static void listener_ready(struct loop_source *source, uint32_t events)
{
	struct mesh *mesh = container_of(source, struct mesh, listener);
	int fd = accept4(mesh->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct mesh_guest *g;

	if (fd < 0) {
		if (errno != EAGAIN && errno != ECONNABORTED)
			mesh_fail(mesh, "%s: cannot accept a connection: %s",
				mesh->config->nodes[mesh->config->self].name, strerror(errno));
		return;
	}
	g = free_guest(mesh);
	if (!g || loop_add(mesh->loop, fd, EPOLLIN, &g->source) < 0) {
		close(fd);
		return;
	}
	g->fd = fd;
	g->in_count = 0;
}

static void beat_due(struct loop_timer *timer)
{
	struct mesh *mesh = container_of(timer, struct mesh, beat);

	for (int i = 0; i < mesh->config->n_nodes; i++)
		if (mesh->peers[i])
			peer_beat(mesh->peers[i]);
	loop_timer_set(mesh->loop, timer, mesh->loop->now_ns + mesh->config->beat_ns);
}

static int listen_on(struct mesh *mesh)
{
	const struct mesh_config *config = mesh->config;
	struct sockaddr_in sa = {.sin_family = AF_INET,
		.sin_addr = config->nodes[config->self].address,
		.sin_port = htons((uint16_t)(MESH_PORT + config->self))};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	mesh->listen_fd = fd;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
		bind(fd, (struct sockaddr *)&sa, sizeof sa) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	return loop_add(mesh->loop, fd, EPOLLIN, &mesh->listener);
}

static void make_guests(struct mesh *mesh)
{
	mesh->n_guests = (size_t)(mesh->config->n_nodes * (mesh->config->connections + 1));
	mesh->guests = memory_zero(mesh->n_guests, sizeof *mesh->guests);
	for (size_t i = 0; i < mesh->n_guests; i++)
		mesh->guests[i] =
			(struct mesh_guest){.source.ready = guest_ready, .mesh = mesh, .fd = -1};
}

int mesh_open(struct mesh *mesh, struct loop *loop, const struct mesh_config *config,
	const struct mesh_user *user, struct error *err)
{
	int r;

	*mesh = (struct mesh){.loop = loop,
		.config = config,
		.user = user,
		.listener.ready = listener_ready,
		.listen_fd = -1,
		.notsent_lowat =
			(int)stripe_unsent(stripe_chunk_max(config->rate_bps, config->connections)),
		.beat.fire = beat_due};
	r = listen_on(mesh);
	if (r < 0) {
		cleanup_close(&mesh->listen_fd);
		return error_sys(err, r, "%s: cannot listen on port %d",
			config->nodes[config->self].name, MESH_PORT + config->self);
	}
	make_guests(mesh);
	for (int i = 0; i < config->n_nodes; i++)
		if (i != config->self) {
			mesh->peers[i] = memory_zero(1, sizeof *mesh->peers[i]);
			peer_init(mesh->peers[i], mesh, i);
		}
	for (int i = 0; i < config->self; i++)
		peer_meet(mesh->peers[i]);
	loop_timer_set(loop, &mesh->beat, loop->now_ns + config->beat_ns);
	return 0;
}

void mesh_close(struct mesh *mesh)
{
	loop_timer_cancel(mesh->loop, &mesh->beat);
	for (int i = 0; i < mesh->config->n_nodes; i++)
		if (mesh->peers[i]) {
			peer_release(mesh->peers[i]);
			free(mesh->peers[i]);
		}
	for (size_t i = 0; i < mesh->n_guests; i++)
		dismiss(&mesh->guests[i]);
	free(mesh->guests);
	cleanup_close(&mesh->listen_fd);
}

void mesh_send(struct mesh *mesh, int peer, const struct rt_message *message)
{
	peer_send(mesh->peers[peer], message);
}

void mesh_ping(struct mesh *mesh, int peer)
{
	peer_put(mesh->peers[peer], WIRE_PING, (uint64_t)clock_now_ns());
}

bool mesh_is_up(const struct mesh *mesh, int peer)
{
	return mesh->peers[peer]->state == PEER_UP;
}

uint64_t mesh_epoch(const struct mesh *mesh)
{
	const struct mesh_config *config = mesh->config;
	uint64_t sum = config->nodes[config->self].incarnation;

	for (int i = 0; i < config->n_nodes; i++)
		if (mesh->peers[i])
			sum += mesh->peers[i]->incarnation;
	return sum;
}
