/* The mesh's other end, played by a test; see ghost.h. */
#include "tests/live/ghost.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/test.h"

static struct rig *rig_of(struct mesh *mesh)
{
	return container_of(mesh, struct rig, mesh);
}

static void on_up(struct mesh *mesh, int peer)
{
	rig_of(mesh)->ups++;
}

static void on_lost(struct mesh *mesh, int peer)
{
	rig_of(mesh)->losts++;
}

static void on_message(struct mesh *mesh, int peer, const struct rt_message *message)
{
	struct rig *rig = rig_of(mesh);

	rig->message_before_up |= !rig->ups;
	rig->messages++;
	rig->last = *message;
}

static void on_pong(struct mesh *mesh, int peer, int64_t rtt_ns)
{
}

static void on_silence(struct mesh *mesh, int peer, bool silent)
{
}

static void on_failed(struct mesh *mesh, const char *text)
{
	struct rig *rig = rig_of(mesh);

	if (!*rig->failure)
		snprintf(rig->failure, sizeof rig->failure, "%s", text);
}

static const struct mesh_user user = {on_up, on_lost, on_message, on_pong, on_silence, on_failed};

static void settle(struct loop *loop)
{
	mesh_settle(&container_of(loop, struct rig, loop)->mesh);
}

static void wake(struct loop_timer *timer)
{
}

void step(struct rig *rig)
{
	loop_timer_set(&rig->loop, &rig->wake, clock_now_ns() + NS_PER_MS);
	assert_int_equal(loop_once(&rig->loop), 0);
}

static struct sockaddr_in address_of(int participant)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)(MESH_PORT + participant))};
}

void rig_open(struct rig *rig, int self)
{
	struct error err = {0};

	*rig = (struct rig){.wake.fire = wake, .listen_fd = -1};
	memset(rig->fds, -1, sizeof rig->fds);
	assert_int_equal(loop_open(&rig->loop, settle), 0);
	rig->config = (struct mesh_config){.self = self,
		.n_nodes = 2,
		.connections = CONNECTIONS,
		.pool_fd = channel_pool_open(),
		.rate_bps = 1000000000,
		.attempt_ns = 5 * NS_PER_S,
		.beat_ns = NS_PER_S,
		.silence_ns = 100 * NS_PER_S,
		.link = &rig->link,
		.local = &rig->local,
		.nodes = {{.name = "berlin (learner)", .site = 0},
			{.name = "oslo (learner)", .site = 1}}};
	rig->config.nodes[0].address = rig->config.nodes[1].address = address_of(0).sin_addr;
	if (mesh_open(&rig->mesh, &rig->loop, &rig->config, &user, &err) < 0)
		fail_msg("%s", err.text);
}

void ghost_close(struct rig *rig)
{
	for (int i = 0; i < CHANNELS; i++) {
		if (rig->fds[i] >= 0)
			close(rig->fds[i]);
		rig->fds[i] = -1;
	}
}

void rig_close(struct rig *rig)
{
	loop_timer_cancel(&rig->loop, &rig->wake);
	mesh_close(&rig->mesh);
	loop_close(&rig->loop);
	close(rig->config.pool_fd);
	ghost_close(rig);
	if (rig->listen_fd >= 0)
		close(rig->listen_fd);
}

void ghost_put(int fd, const struct wire_frame *frame)
{
	uint8_t out[WIRE_LONGEST];
	size_t size = wire_encode(frame, out);

	assert_int_equal(send(fd, out, size, MSG_NOSIGNAL), size);
}

struct wire_frame ghost_get(struct rig *rig, int fd)
{
	uint8_t in[WIRE_LONGEST];
	struct wire_frame frame;
	size_t have = 0, size = WIRE_HEAD;
	ssize_t n;

	for (int i = 0; have < size; i++) {
		assert_true(i < 10000);
		step(rig);
		n = recv(fd, in + have, size - have, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			continue;
		assert_true(n > 0);
		have += (size_t)n;
		size = wire_size(in[0]);
	}
	assert_int_equal(wire_decode(&frame, in, have), 0);
	return frame.type == WIRE_BEAT ? ghost_get(rig, fd) : frame;
}

int ghost_listen(void)
{
	struct sockaddr_in sa = address_of(0);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

void ghost_accept(struct rig *rig, uint32_t incarnation)
{
	struct wire_frame hello;
	int fd, n = 0;

	while (n < CHANNELS) {
		step(rig);
		fd = accept4(rig->listen_fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		hello = ghost_get(rig, fd);
		assert_int_equal(hello.type, WIRE_HELLO);
		assert_int_equal(hello.participant, 1);
		assert_int_equal(hello.connections, CHANNELS);
		assert_int_equal(rig->fds[hello.index], -1);
		rig->fds[hello.index] = fd;
		rig->session = hello.session;
		hello.participant = 0;
		hello.incarnation = incarnation;
		ghost_put(fd, &hello);
		n++;
	}
}

void ghost_accept_ready(struct rig *rig, uint32_t incarnation)
{
	ghost_accept(rig, incarnation);
	assert_int_equal(ghost_get(rig, rig->fds[CONNECTIONS]).type, WIRE_READY);
}

int ghost_connect(const struct wire_frame *hello)
{
	struct sockaddr_in sa = address_of(0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	ghost_put(fd, hello);
	return fd;
}

struct wire_frame ghost_hello(uint32_t incarnation, uint32_t attempt, int index)
{
	return (struct wire_frame){.type = WIRE_HELLO,
		.index = (uint16_t)index,
		.connections = CHANNELS,
		.participant = 1,
		.incarnation = incarnation,
		.session = (uint64_t)incarnation << 32 | attempt};
}

void ghost_connect_all(struct rig *rig, uint32_t incarnation, uint32_t attempt)
{
	struct wire_frame hello, answer;

	for (int i = 0; i < CHANNELS; i++) {
		hello = ghost_hello(incarnation, attempt, i);
		rig->fds[i] = ghost_connect(&hello);
		answer = ghost_get(rig, rig->fds[i]);
		assert_int_equal(answer.type, WIRE_HELLO);
		assert_int_equal(answer.participant, 0);
		assert_true(answer.session == hello.session);
		assert_int_equal(answer.index, i);
	}
}

void wait_for(struct rig *rig, const int *count, int want)
{
	for (int i = 0; *count < want; i++) {
		assert_true(i < 60000);
		step(rig);
	}
	assert_int_equal(*count, want);
}

void wait_failure(struct rig *rig, const char *part)
{
	for (int i = 0; !*rig->failure; i++) {
		assert_true(i < 60000);
		step(rig);
	}
	if (!strstr(rig->failure, part))
		fail_msg("\"%s\" has no \"%s\"", rig->failure, part);
}

void assert_closed(struct rig *rig, int fd)
{
	char byte;
	ssize_t n = -1;

	for (int i = 0; i < 10000 && n < 0; i++) {
		step(rig);
		n = recv(fd, &byte, 1, MSG_DONTWAIT);
		if (n < 0 && errno == ECONNRESET)
			n = 0;
	}
	close(fd);
	assert_int_equal(n, 0);
}

int64_t drain(int fd, int64_t most)
{
	static char buffer[1 << 20];
	int64_t sum = 0;
	ssize_t n;

	while (sum < most &&
		(n = recv(fd, buffer,
			 most - sum < (int64_t)sizeof buffer ? (size_t)(most - sum) : sizeof buffer,
			 MSG_DONTWAIT)) > 0)
		sum += n;
	return sum;
}
