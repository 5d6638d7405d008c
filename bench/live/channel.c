/* Bytes in and out of one TCP connection; see channel.h. */
#include "bench/live/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"

#define LOWAT_MAX (64 << 10)

int channel_pool_open(void)
{
	_close_ int fd = memfd_create("narrowlink-payload", MFD_CLOEXEC);
	int out, r;

	if (fd < 0)
		return -errno;
	r = posix_fallocate(fd, 0, CHANNEL_POOL);
	if (r)
		return -r;
	out = fd;
	fd = -1;
	return out;
}

/*
 * Closing resets the connection at once, also when the process is killed: no socket outlives its
 * agent, sends for minutes into links that are gone, and keeps a namespace and the memory that
 * all TCP shares. To the peer it looks like a machine that lost its power and came back.
 */
static int set_options(int fd, int notsent_lowat)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	int one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) < 0 ||
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 ||
		setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &notsent_lowat,
			sizeof notsent_lowat) < 0)
		return -errno;
	return 0;
}

/* A larger one than a quarter of the buffer would make the kernel enlarge the buffer. */
static int lowat_max(int fd)
{
	int buffer = 0;
	socklen_t size = sizeof buffer;

	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, &size) < 0 || buffer < 4)
		return 1;
	return buffer / 4 < LOWAT_MAX ? buffer / 4 : LOWAT_MAX;
}

static void start(struct channel *c, int fd, enum channel_state state, uint32_t events)
{
	c->fd = fd;
	c->state = state;
	c->events = events;
	c->blocked = false;
	c->out_sent = c->out_count = c->in_count = 0;
	c->body_out = c->body_in = 0;
	c->dry = false;
	c->lowat = 1;
	c->lowat_max = lowat_max(fd);
}

int channel_connect(struct channel *c, const struct sockaddr_in *to, int notsent_lowat)
{
	_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = set_options(fd, notsent_lowat);
	if (!r && connect(fd, (const struct sockaddr *)to, sizeof *to) < 0 && errno != EINPROGRESS)
		r = -errno;
	if (!r)
		r = loop_add(c->loop, fd, EPOLLOUT, &c->source);
	if (r < 0)
		return r;
	start(c, fd, CHANNEL_CONNECTING, EPOLLOUT);
	fd = -1;
	return 0;
}

int channel_adopt(struct channel *c, int fd, int notsent_lowat)
{
	int r = set_options(fd, notsent_lowat);

	if (!r)
		r = loop_change(c->loop, fd, EPOLLRDHUP, &c->source);
	if (!r)
		start(c, fd, CHANNEL_WAITING, EPOLLRDHUP);
	return r;
}

void channel_close(struct channel *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->state = CHANNEL_CLOSED;
	c->blocked = false;
	c->out_sent = c->out_count = 0;
	c->body_out = 0;
}

void channel_release(struct channel *c)
{
	channel_close(c);
	free(c->out);
	c->out = NULL;
}

int channel_watch(struct channel *c, uint32_t events)
{
	int r;

	if (events == c->events)
		return 0;
	r = loop_change(c->loop, c->fd, events, &c->source);
	if (!r)
		c->events = events;
	return r;
}

void channel_put(struct channel *c, const struct wire_frame *frame)
{
	if (c->out_sent == c->out_count)
		c->out_sent = c->out_count = 0;
	if (c->out_room - c->out_count < WIRE_LONGEST) {
		c->out_room = c->out_room ? 2 * c->out_room : 4 * WIRE_LONGEST;
		c->out = memory_resize(c->out, c->out_room, 1);
	}
	c->out_count += wire_encode(frame, c->out + c->out_count);
	c->body_out += frame->length;
}

bool channel_pending(const struct channel *c)
{
	return c->out_sent < c->out_count || c->body_out;
}

/* A broken pipe says the same as a reset: the peer has gone. */
static int send_error(void)
{
	return errno == EPIPE ? -ECONNRESET : -errno;
}

static int write_heads(struct channel *c)
{
	int more = c->body_out ? MSG_MORE : 0;
	ssize_t n;

	while (c->out_sent < c->out_count) {
		n = send(c->fd, c->out + c->out_sent, c->out_count - c->out_sent,
			MSG_NOSIGNAL | more);
		if (n < 0)
			return send_error();
		c->out_sent += (size_t)n;
		c->bytes->framing_sent += (uint64_t)n;
	}
	return 0;
}

/* A short count says that the socket is full as well as the next call would. */
int channel_write(struct channel *c)
{
	int r = write_heads(c);
	size_t most;
	off_t offset;
	ssize_t n;

	while (!r && c->body_out) {
		offset = 0;
		most = c->body_out < CHANNEL_POOL ? (size_t)c->body_out : CHANNEL_POOL;
		n = sendfile(c->fd, c->pool_fd, &offset, most);
		if (n < 0)
			return send_error();
		c->body_out -= n;
		c->bytes->payload_sent += (uint64_t)n;
		if ((size_t)n < most)
			return -EAGAIN;
	}
	return r;
}

/*
 * Discards up to `most` bytes of payload. The raw system call, because a sanitizer's recv()
 * takes the missing buffer for one that is written to.
 */
static ssize_t discard(int fd, int64_t most)
{
	return syscall(SYS_recvfrom, fd, NULL, (size_t)most, MSG_TRUNC, NULL, NULL);
}

static int read_body(struct channel *c, int64_t *body)
{
	ssize_t n = discard(c->fd, c->body_in);

	if (n <= 0)
		return n ? -errno : -ECONNRESET;
	c->body_in -= n;
	c->dry = c->body_in > 0;
	c->bytes->payload_received += (uint64_t)n;
	*body = n;
	return CHANNEL_BODY;
}

/* Reads towards `want` bytes of a head. 1 when they are there. */
static int read_head(struct channel *c, size_t want)
{
	ssize_t n;

	if (c->in_count >= want)
		return 1;
	n = recv(c->fd, c->in + c->in_count, want - c->in_count, 0);
	if (n <= 0)
		return n ? -errno : -ECONNRESET;
	c->in_count += (size_t)n;
	c->bytes->framing_received += (uint64_t)n;
	return c->in_count < want ? -EAGAIN : 1;
}

int channel_read(struct channel *c, struct wire_frame *frame, int64_t *body)
{
	size_t size;
	int r;

	if (c->dry) {
		c->dry = false;
		return -EAGAIN;
	}
	if (c->body_in)
		return read_body(c, body);
	r = read_head(c, WIRE_HEAD);
	if (r < 0)
		return r;
	size = wire_size(c->in[0]);
	if (!size)
		return -EPROTO;
	r = read_head(c, size);
	if (r < 0)
		return r;
	r = wire_decode(frame, c->in, size);
	if (r < 0)
		return r;
	c->in_count = 0;
	c->body_in = frame->length;
	return CHANNEL_FRAME;
}

int channel_rest(struct channel *c)
{
	int want = !c->body_in ? 1 : c->body_in < c->lowat_max ? (int)c->body_in : c->lowat_max;

	if (want == c->lowat)
		return 0;
	if (setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof want) < 0)
		return -errno;
	c->lowat = want;
	return 0;
}

bool channel_info(const struct channel *c, struct tcp_sample *sum)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof info;
	int64_t min;

	if (c->fd < 0 || getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
		return false;
	min = info.tcpi_min_rtt * NS_PER_US;
	sum->rtt_ns += info.tcpi_rtt * NS_PER_US;
	if (min < sum->min_rtt_ns)
		sum->min_rtt_ns = min;
	sum->cwnd_segments += info.tcpi_snd_cwnd;
	sum->retransmits += info.tcpi_total_retrans;
	sum->delivery_bps += 8 * info.tcpi_delivery_rate;
	sum->busy_ns += (int64_t)info.tcpi_busy_time * NS_PER_US;
	sum->window_limited_ns += (int64_t)info.tcpi_rwnd_limited * NS_PER_US;
	sum->buffer_limited_ns += (int64_t)info.tcpi_sndbuf_limited * NS_PER_US;
	return true;
}
