/*
 * One peer's session: meeting, frames in, chunks out, parting; see peer.h.
 *
 * Nothing here calls into a strategy: what happened is told to the mesh's user, who queues it.
 */
#include "bench/live/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "bench/live/mesh.h"

#define RETRY_NS (250 * NS_PER_MS)
#define READS_AT_ONCE 32

static void channel_ready(struct loop_source *source, uint32_t events);
static void retry_due(struct loop_timer *timer);

static struct channel *control_of(struct peer *p)
{
	return &p->channels[p->n_channels - 1];
}

static const char *name_of(const struct peer *p)
{
	return p->mesh->config->nodes[p->id].name;
}

static const char *own_name(const struct peer *p)
{
	return p->mesh->config->nodes[p->mesh->config->self].name;
}

void peer_init(struct peer *p, struct mesh *mesh, int id)
{
	const struct mesh_config *config = mesh->config;
	const struct mesh_node *own = &config->nodes[config->self], *node = &config->nodes[id];

	*p = (struct peer){
		.mesh = mesh,
		.id = id,
		.initiator = config->self > id,
		.local = own->site == node->site,
		.incarnation = node->incarnation,
		.last_up = -1,
		.retry.fire = retry_due,
	};
	p->n_channels = (p->local ? 1 : config->connections) + 1;
	p->channels = memory_zero((size_t)p->n_channels, sizeof *p->channels);
	for (int i = 0; i < p->n_channels; i++)
		p->channels[i] = (struct channel){
			.source.ready = channel_ready,
			.loop = mesh->loop,
			.peer = p,
			.index = i,
			.fd = -1,
			.pool_fd = config->pool_fd,
			.bytes = p->local ? config->local : config->link,
		};
	stripe_init(
		&p->out, p->n_channels - 1, stripe_chunk_max(config->rate_bps, p->n_channels - 1));
}

void peer_release(struct peer *p)
{
	loop_timer_cancel(p->mesh->loop, &p->retry);
	for (int i = 0; i < p->n_channels; i++)
		channel_release(&p->channels[i]);
	free(p->channels);
	stripe_release(&p->out);
	assembly_release(&p->in);
}

static void set_heard(struct peer *p)
{
	p->heard_ns = p->mesh->loop->now_ns;
	if (p->silent) {
		p->silent = false;
		p->mesh->user->silence(p->mesh, p->id, false);
	}
}

static void close_session(struct peer *p)
{
	for (int i = 0; i < p->n_channels; i++)
		channel_close(&p->channels[i]);
	stripe_clear(&p->out);
	assembly_clear(&p->in);
	p->mesh->sent -= p->sent;
	p->mesh->received -= p->received;
	p->sent = p->received = 0;
	p->greeted = 0;
	p->state = PEER_DOWN;
}

/* While meeting, these only mean that the peer is not there (yet, or any more). */
static bool is_absence(int code)
{
	return code == -ECONNRESET || code == -ECONNREFUSED || code == -ETIMEDOUT ||
	       code == -EHOSTUNREACH || code == -ENETUNREACH;
}

/* The session is over because of code. A reset or an end of file is how a crash looks. */
static void part(struct peer *p, int code)
{
	bool was_up = p->state == PEER_UP;

	p->last_error = code;
	close_session(p);
	if (was_up ? code != -ECONNRESET : !is_absence(code))
		mesh_fail(p->mesh, "%s: the connections to %s broke, and not by a crash: %s",
			own_name(p), name_of(p), strerror(-code));
	if (was_up) {
		set_heard(p);
		p->mesh->user->lost(p->mesh, p->id);
	}
	if (p->initiator)
		loop_timer_set(p->mesh->loop, &p->retry, p->mesh->loop->now_ns + RETRY_NS);
}

static void set_up(struct peer *p)
{
	int r = 0;

	if (p->last_up == p->hello_incarnation)
		mesh_fail(p->mesh, "%s: the connections to %s broke although neither crashed",
			own_name(p), name_of(p));
	for (int i = 0; !r && i < p->n_channels; i++) {
		p->channels[i].state = CHANNEL_OPEN;
		r = channel_watch(&p->channels[i], EPOLLIN);
	}
	if (r < 0) {
		part(p, r);
		return;
	}
	loop_timer_cancel(p->mesh->loop, &p->retry);
	p->state = PEER_UP;
	p->last_up = p->incarnation = p->hello_incarnation;
	set_heard(p);
	p->mesh->user->up(p->mesh, p->id);
}

static void put_hello(struct channel *c)
{
	const struct mesh_config *config = c->peer->mesh->config;

	channel_put(c, &(struct wire_frame){
			       .type = WIRE_HELLO,
			       .index = (uint16_t)c->index,
			       .connections = (uint16_t)c->peer->n_channels,
			       .participant = (uint32_t)config->self,
			       .incarnation = config->nodes[config->self].incarnation,
			       .session = c->peer->session,
		       });
	mesh_dirty(c->peer->mesh, c->peer);
}

void peer_meet(struct peer *p)
{
	const struct mesh_config *config = p->mesh->config;
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_addr = config->nodes[p->id].address,
		.sin_port = htons((uint16_t)(MESH_PORT + p->id))};
	int r = 0;

	/* attempts count from 1 in every incarnation, so that a newer one's are larger */
	p->session = p->session ? p->session + 1
				: (uint64_t)config->nodes[config->self].incarnation << 32 | 1;
	p->state = PEER_MEETING;
	for (int i = 0; !r && i < p->n_channels; i++)
		r = channel_connect(&p->channels[i], &to, p->mesh->notsent_lowat);
	if (r < 0)
		part(p, r);
	else
		loop_timer_set(
			p->mesh->loop, &p->retry, p->mesh->loop->now_ns + config->attempt_ns);
}

/* Time for an attempt: the first, the next, or instead of one that takes too long. */
static void retry_due(struct loop_timer *timer)
{
	struct peer *p = container_of(timer, struct peer, retry);

	if (p->state == PEER_MEETING) {
		p->last_error = -ETIMEDOUT;
		close_session(p);
	}
	peer_meet(p);
}

/* Whether to take this connection into the session; a newer session replaces an older. */
static bool admit(struct peer *p, const struct wire_frame *hello)
{
	if (p->initiator || hello->connections != p->n_channels || hello->index >= p->n_channels ||
		hello->incarnation != hello->session >> 32 || hello->session < p->session)
		return false;
	if (hello->session > p->session && p->state != PEER_DOWN)
		part(p, -ECONNRESET);
	return p->channels[hello->index].state == CHANNEL_CLOSED;
}

void peer_accept(struct peer *p, const struct wire_frame *hello, int fd)
{
	_close_ int own = fd;
	struct channel *c;
	int r;

	if (!admit(p, hello))
		return;
	c = &p->channels[hello->index];
	r = channel_adopt(c, fd, p->mesh->notsent_lowat);
	if (r < 0) {
		part(p, r);
		return;
	}
	own = -1;
	p->state = PEER_MEETING;
	p->session = hello->session;
	p->hello_incarnation = hello->incarnation;
	p->greeted++;
	c->bytes->framing_received += WIRE_HEAD;
	put_hello(c);
	if (c == control_of(p))
		r = channel_watch(c, EPOLLIN);
	if (r < 0)
		part(p, r);
}

/* The acceptor's hello has come. */
static int greeted(struct peer *p, struct channel *c, const struct wire_frame *hello)
{
	if (hello->type != WIRE_HELLO || hello->participant != (uint32_t)p->id ||
		hello->session != p->session || hello->index != c->index)
		return -EPROTO;
	p->hello_incarnation = hello->incarnation;
	c->state = CHANNEL_WAITING;
	if (++p->greeted == p->n_channels) {
		channel_put(control_of(p), &(struct wire_frame){.type = WIRE_READY});
		mesh_dirty(p->mesh, p);
		set_up(p);
		return 0;
	}
	return channel_watch(c, EPOLLRDHUP);
}

static void deliver(struct peer *p, const struct rt_message *message)
{
	p->received++;
	p->mesh->received++;
	p->mesh->user->message(p->mesh, p->id, message);
}

static int control_frame(struct peer *p, const struct wire_frame *f)
{
	switch (f->type) {
	case WIRE_BEAT:
		return 0;
	case WIRE_PING:
		peer_put(p, WIRE_PONG, f->stamp);
		return 0;
	case WIRE_PONG:
		p->mesh->user->pong(p->mesh, p->id, clock_now_ns() - (int64_t)f->stamp);
		return 0;
	case WIRE_SIGNAL:
		deliver(p, &f->message);
		return 0;
	default:
		return -EPROTO;
	}
}

static int frame_in(struct peer *p, struct channel *c, const struct wire_frame *f)
{
	if (c->state == CHANNEL_GREETING)
		return greeted(p, c, f);
	if (c->state == CHANNEL_WAITING) {
		if (f->type != WIRE_READY || p->greeted != p->n_channels)
			return -EPROTO;
		set_up(p);
		return 0;
	}
	if (c == control_of(p))
		return control_frame(p, f);
	if (f->type != WIRE_FIRST && f->type != WIRE_CHUNK)
		return -EPROTO;
	c->body_id = f->id;
	return assembly_claim(&p->in, f);
}

static void body_in(struct peer *p, struct channel *c, int64_t bytes)
{
	struct rt_message message;

	assembly_arrived(&p->in, c->body_id, bytes);
	while (!c->body_in && assembly_take(&p->in, &message))
		deliver(p, &message);
}

/* Reads until nothing is left or others should have their turn. */
static int read_in(struct peer *p, struct channel *c)
{
	struct wire_frame frame;
	int64_t bytes;
	int r = 0;

	for (int i = 0; i < READS_AT_ONCE && c->state != CHANNEL_CLOSED; i++) {
		r = channel_read(c, &frame, &bytes);
		if (r < 0)
			break;
		set_heard(p);
		if (r == CHANNEL_BODY)
			body_in(p, c, bytes);
		else
			r = frame_in(p, c, &frame);
		if (r < 0)
			break;
	}
	if (r < 0 && r != -EAGAIN)
		return r;
	return c->state == CHANNEL_CLOSED ? 0 : channel_rest(c);
}

static int socket_error(int fd)
{
	int code = 0;
	socklen_t size = sizeof code;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0)
		return -errno;
	return -code;
}

/* connect() has ended, unless the event was meant for an earlier socket of this channel. */
static int connected(struct peer *p, struct channel *c)
{
	struct sockaddr_in sa;
	socklen_t size = sizeof sa;
	int r = socket_error(c->fd);

	if (r < 0)
		return r;
	if (getpeername(c->fd, (struct sockaddr *)&sa, &size) < 0)
		return 0;
	c->state = CHANNEL_GREETING;
	put_hello(c);
	return channel_watch(c, EPOLLIN);
}

static void channel_ready(struct loop_source *source, uint32_t events)
{
	struct channel *c = container_of(source, struct channel, source);
	struct peer *p = c->peer;
	int r = 0;

	if (c->state == CHANNEL_CLOSED)
		return;
	if (c->state == CHANNEL_CONNECTING) {
		r = connected(p, c);
	} else {
		if (events & EPOLLOUT) {
			c->blocked = false;
			mesh_dirty(p->mesh, p);
		}
		if (c->events & EPOLLIN && events & ~(uint32_t)EPOLLOUT)
			r = read_in(p, c);
		else if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			r = socket_error(c->fd) ?: -ECONNRESET;
	}
	if (r < 0)
		part(p, r);
}

void peer_send(struct peer *p, const struct rt_message *message)
{
	if (p->state != PEER_UP)
		return;
	if (message->bytes)
		stripe_put(&p->out, message);
	else
		channel_put(control_of(p),
			&(struct wire_frame){.type = WIRE_SIGNAL, .message = *message});
	p->sent++;
	p->mesh->sent++;
	mesh_dirty(p->mesh, p);
}

void peer_put(struct peer *p, enum wire_type type, uint64_t stamp)
{
	if (p->state != PEER_UP)
		return;
	channel_put(control_of(p), &(struct wire_frame){.type = type, .stamp = stamp});
	mesh_dirty(p->mesh, p);
}

void peer_beat(struct peer *p)
{
	if (p->state != PEER_UP)
		return;
	if (!channel_pending(control_of(p)))
		peer_put(p, WIRE_BEAT, 0);
	if (!p->silent && p->mesh->loop->now_ns - p->heard_ns > p->mesh->config->silence_ns) {
		p->silent = true;
		p->mesh->user->silence(p->mesh, p->id, true);
	}
}

/* Gives a channel its next chunk, if it may carry payload and there is some. */
static bool load(struct peer *p, struct channel *c)
{
	struct wire_frame chunk;

	if (c->state != CHANNEL_OPEN || c == control_of(p) || !stripe_cut(&p->out, &chunk))
		return false;
	channel_put(c, &chunk);
	p->cut_bytes += chunk.length;
	return true;
}

/* Writes at most one chunk to a channel. 1: written, 0: nothing to write or no room. */
static int write_one(struct peer *p, struct channel *c)
{
	int r;

	if (c->blocked || c->state < CHANNEL_GREETING)
		return 0;
	if (!channel_pending(c) && !load(p, c))
		return channel_watch(c, c->events & ~(uint32_t)EPOLLOUT);
	r = channel_write(c);
	if (r != -EAGAIN)
		return r < 0 ? r : 1;
	c->blocked = true;
	return channel_watch(c, c->events | EPOLLOUT);
}

/* One chunk per channel in turn, so that a small message is striped as well. */
void peer_write(struct peer *p)
{
	bool written;
	int r;

	do {
		written = false;
		for (int i = 0; i < p->n_channels; i++) {
			r = write_one(p, &p->channels[(p->turn + i) % p->n_channels]);
			if (r < 0) {
				part(p, r);
				return;
			}
			written |= r > 0;
		}
		p->turn = (p->turn + 1) % p->n_channels;
	} while (written);
}

bool peer_info(struct peer *p, struct tcp_sample *out)
{
	struct tcp_sample sum = {.min_rtt_ns = INT64_MAX};
	int n = 0;

	if (p->state != PEER_UP || p->local || p->cut_bytes == p->sampled_bytes)
		return false;
	for (int i = 0; i < p->n_channels - 1; i++)
		n += channel_info(&p->channels[i], &sum);
	if (!n)
		return false;
	p->sampled_bytes = p->cut_bytes;
	sum.rtt_ns /= n;
	*out = sum;
	return true;
}
