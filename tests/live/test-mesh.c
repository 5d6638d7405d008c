/*
 * The mesh against a ghost: the other participant is played by the test with plain sockets and
 * the wire format, so that it can do what an agent of ours would not.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/live/mesh.h"
#include "tests/test.h"

#define CONNECTIONS 3
#define CHANNELS (CONNECTIONS + 1)

struct rig {
	struct loop loop;
	struct mesh mesh;
	struct mesh_config config;
	struct traffic link, local;
	int ups, losts, messages;
	bool message_before_up;
	struct rt_message last;
	char failure[512];
	struct loop_timer wake;
	int listen_fd, fds[CHANNELS]; /* the ghost's */
	uint64_t session;	      /* as the mesh said hello */
};

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

/* Lets the mesh do what it can, for a millisecond at most. */
static void step(struct rig *rig)
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

static void rig_open(struct rig *rig, int self)
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

static void ghost_close(struct rig *rig)
{
	for (int i = 0; i < CHANNELS; i++) {
		if (rig->fds[i] >= 0)
			close(rig->fds[i]);
		rig->fds[i] = -1;
	}
}

static void rig_close(struct rig *rig)
{
	loop_timer_cancel(&rig->loop, &rig->wake);
	mesh_close(&rig->mesh);
	loop_close(&rig->loop);
	close(rig->config.pool_fd);
	ghost_close(rig);
	if (rig->listen_fd >= 0)
		close(rig->listen_fd);
}

static void ghost_put(int fd, const struct wire_frame *frame)
{
	uint8_t out[WIRE_LONGEST];
	size_t size = wire_encode(frame, out);

	assert_int_equal(send(fd, out, size, MSG_NOSIGNAL), size);
}

/* Reads a frame, stepping the mesh meanwhile; beats are passed over. */
static struct wire_frame ghost_get(struct rig *rig, int fd)
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

static int ghost_listen(void)
{
	struct sockaddr_in sa = address_of(0);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

/* The ghost as acceptor, participant 0: greets on all channels and waits for READY. */
static void ghost_accept(struct rig *rig, uint32_t incarnation)
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

static void ghost_accept_ready(struct rig *rig, uint32_t incarnation)
{
	ghost_accept(rig, incarnation);
	assert_int_equal(ghost_get(rig, rig->fds[CONNECTIONS]).type, WIRE_READY);
}

/* The ghost as initiator, participant 1: one connection and its hello. */
static int ghost_connect(const struct wire_frame *hello)
{
	struct sockaddr_in sa = address_of(0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	ghost_put(fd, hello);
	return fd;
}

static struct wire_frame ghost_hello(uint32_t incarnation, uint32_t attempt, int index)
{
	return (struct wire_frame){.type = WIRE_HELLO,
		.index = (uint16_t)index,
		.connections = CHANNELS,
		.participant = 1,
		.incarnation = incarnation,
		.session = (uint64_t)incarnation << 32 | attempt};
}

static void ghost_connect_all(struct rig *rig, uint32_t incarnation, uint32_t attempt)
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

static void wait_for(struct rig *rig, const int *count, int want)
{
	for (int i = 0; *count < want; i++) {
		assert_true(i < 60000);
		step(rig);
	}
	assert_int_equal(*count, want);
}

static void wait_failure(struct rig *rig, const char *part)
{
	for (int i = 0; !*rig->failure; i++) {
		assert_true(i < 60000);
		step(rig);
	}
	if (!strstr(rig->failure, part))
		fail_msg("\"%s\" has no \"%s\"", rig->failure, part);
}

/* Whether the mesh closes a connection of the ghost's. */
static void assert_closed(struct rig *rig, int fd)
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

/* Discards what has come on a connection, at most `most` bytes. */
static int64_t drain(int fd, int64_t most)
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

/*
 * The ghost reads little from one connection and all from the two others: that one carries less
 * than a quarter of each of theirs, and all bytes together are what the counters say.
 */
static void slower_connection_carries_less(void **state)
{
	const struct rt_message message = {.kind = 1, .bytes = 256 << 20};
	int64_t got[CHANNELS] = {0}, sum = 0;
	struct rig rig;

	rig_open(&rig, 1);
	rig.listen_fd = ghost_listen();
	ghost_accept_ready(&rig, 0);
	mesh_send(&rig.mesh, 0, &message);
	mesh_settle(&rig.mesh);
	while (sum < message.bytes) {
		step(&rig);
		for (int i = 0; i < CONNECTIONS; i++)
			got[i] += drain(rig.fds[i], i ? INT64_MAX : 65536);
		sum = got[0] + got[1] + got[2];
		if (rig.link.payload_sent == (uint64_t)message.bytes)
			got[0] += drain(rig.fds[0], INT64_MAX);
	}
	assert_int_equal(rig.link.payload_sent, message.bytes);
	assert_true(got[0] > 0);
	assert_true(4 * got[0] < got[1] && 4 * got[0] < got[2]);
	for (int i = 0; i < CHANNELS; i++)
		got[i] += drain(rig.fds[i], INT64_MAX);
	/* the hellos and READY were read apart */
	sum = got[0] + got[1] + got[2] + got[3] + (CHANNELS + 1) * WIRE_HEAD;
	assert_int_equal(sum, rig.link.payload_sent + rig.link.framing_sent);
	rig_close(&rig);
}

/* Payload waits for a reader; a message without payload does not wait behind it. */
static void signals_overtake_payload(void **state)
{
	const struct rt_message bulk = {.kind = 1, .bytes = 64 << 20};
	const struct rt_message signal = {.kind = 2, .round = 7};
	struct wire_frame f;
	struct rig rig;

	rig_open(&rig, 1);
	rig.listen_fd = ghost_listen();
	ghost_accept_ready(&rig, 0);
	mesh_send(&rig.mesh, 0, &bulk);
	mesh_send(&rig.mesh, 0, &signal);
	mesh_settle(&rig.mesh);
	f = ghost_get(&rig, rig.fds[CONNECTIONS]);
	assert_int_equal(f.type, WIRE_SIGNAL);
	assert_int_equal(f.message.kind, 2);
	assert_int_equal(f.message.round, 7);
	assert_true(rig.link.payload_sent < (uint64_t)bulk.bytes);
	rig_close(&rig);
}

/* One connection ends: the session does, and another begins with the next incarnation. */
static void one_end_ends_all(void **state)
{
	struct rig rig;
	uint64_t first;
	char byte;

	rig_open(&rig, 1);
	rig.listen_fd = ghost_listen();
	ghost_accept_ready(&rig, 0);
	first = rig.session;
	mesh_send(&rig.mesh, 0, &(struct rt_message){.bytes = 100 << 20});
	assert_int_equal(rig.mesh.sent, 1);
	close(rig.fds[1]);
	rig.fds[1] = -1;
	wait_for(&rig, &rig.losts, 1);
	assert_int_equal(rig.mesh.sent, 0);
	drain(rig.fds[2], INT64_MAX);
	assert_true(recv(rig.fds[2], &byte, 1, 0) <= 0);
	ghost_close(&rig);
	ghost_accept_ready(&rig, 1);
	wait_for(&rig, &rig.ups, 2);
	assert_true(rig.session > first);
	assert_int_equal(mesh_epoch(&rig.mesh), 1);
	assert_string_equal(rig.failure, "");
	rig_close(&rig);
}

static void break_without_crash_fails(void **state)
{
	struct rig rig;

	rig_open(&rig, 1);
	rig.listen_fd = ghost_listen();
	ghost_accept_ready(&rig, 5);
	ghost_close(&rig);
	wait_for(&rig, &rig.losts, 1);
	ghost_accept(&rig, 5);
	wait_failure(&rig, "oslo (learner): the connections to berlin (learner) broke although "
			   "neither crashed");
	rig_close(&rig);
}

static void garbage_fails(void **state)
{
	static const uint8_t garbage[WIRE_LONGEST] = {WIRE_FIRST, WIRE_VERSION, 1, 2, 3, 4};
	struct rig rig;

	rig_open(&rig, 1);
	rig.listen_fd = ghost_listen();
	ghost_accept_ready(&rig, 0);
	assert_int_equal(send(rig.fds[0], garbage, sizeof garbage, 0), sizeof garbage);
	wait_failure(&rig, "oslo (learner): the connections to berlin (learner) broke, and not by "
			   "a crash: Protocol error");
	assert_int_equal(rig.losts, 1);
	rig_close(&rig);
}

/*
 * What a link that stays dead looks like: nothing is acknowledged until TCP gives up. Here after
 * 300 ms instead of a quarter of an hour.
 */
static void dead_link_fails(void **state)
{
	unsigned patience_ms = 300;
	struct rig rig;

	rig_open(&rig, 1);
	rig.listen_fd = ghost_listen();
	ghost_accept_ready(&rig, 0);
	assert_int_equal(setsockopt(rig.mesh.peers[0]->channels[0].fd, IPPROTO_TCP,
				 TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms),
		0);
	assert_int_equal(system("tc qdisc add dev lo root tbf rate 1kbit burst 10 limit 10"), 0);
	mesh_send(&rig.mesh, 0, &(struct rt_message){.bytes = 1000});
	wait_failure(&rig, "oslo (learner): the connections to berlin (learner) broke, and not by "
			   "a crash: Connection timed out");
	assert_int_equal(system("tc qdisc del dev lo root"), 0);
	assert_int_equal(rig.losts, 1);
	rig_close(&rig);
}

/* A frame that is well-formed but has no business on its channel. */
static void frames_stay_on_their_channel(void **state)
{
	struct rig rig;

	rig_open(&rig, 1);
	rig.listen_fd = ghost_listen();
	ghost_accept_ready(&rig, 0);
	ghost_put(rig.fds[0], &(struct wire_frame){.type = WIRE_BEAT});
	wait_failure(&rig, "Protocol error");
	rig_close(&rig);
}

static void wrong_answer_fails(void **state)
{
	struct wire_frame hello;
	struct rig rig;
	int fd = -1;

	rig_open(&rig, 1);
	rig.listen_fd = ghost_listen();
	while (fd < 0) {
		step(&rig);
		fd = accept4(rig.listen_fd, NULL, NULL, SOCK_CLOEXEC);
	}
	hello = ghost_get(&rig, fd);
	hello.participant = 1; /* itself */
	ghost_put(fd, &hello);
	wait_failure(&rig, "Protocol error");
	close(fd);
	rig_close(&rig);
}

/* Payload that comes before READY is kept until the session is up. */
static void nothing_before_ready(void **state)
{
	const struct wire_frame first = {
		.type = WIRE_FIRST, .length = 5, .total = 5, .message = {.kind = 9, .bytes = 5}};
	struct rig rig;

	rig_open(&rig, 0);
	ghost_connect_all(&rig, 0, 1);
	ghost_put(rig.fds[0], &first);
	assert_int_equal(send(rig.fds[0], "12345", 5, 0), 5);
	for (int i = 0; i < 50; i++)
		step(&rig);
	assert_int_equal(rig.ups + rig.messages, 0);
	ghost_put(rig.fds[CONNECTIONS], &(struct wire_frame){.type = WIRE_READY});
	wait_for(&rig, &rig.messages, 1);
	assert_int_equal(rig.ups, 1);
	assert_false(rig.message_before_up);
	assert_int_equal(rig.last.kind, 9);
	assert_int_equal(rig.last.bytes, 5);
	assert_int_equal(rig.link.payload_received, 5);
	rig_close(&rig);
}

static void ready_too_early_fails(void **state)
{
	struct wire_frame hello = ghost_hello(0, 1, CONNECTIONS);
	struct rig rig;
	int fd;

	rig_open(&rig, 0);
	fd = ghost_connect(&hello);
	ghost_put(fd, &(struct wire_frame){.type = WIRE_READY});
	wait_failure(&rig, "Protocol error");
	close(fd);
	rig_close(&rig);
}

/* The peer's new incarnation says hello before the end of the old one was noticed. */
static void newer_incarnation_replaces(void **state)
{
	struct rig rig;
	int old[CHANNELS];

	rig_open(&rig, 0);
	ghost_connect_all(&rig, 0, 1);
	ghost_put(rig.fds[CONNECTIONS], &(struct wire_frame){.type = WIRE_READY});
	wait_for(&rig, &rig.ups, 1);
	memcpy(old, rig.fds, sizeof old);
	ghost_connect_all(&rig, 1, 1);
	assert_int_equal(rig.losts, 1);
	assert_int_equal(mesh_epoch(&rig.mesh), 0); /* not before it is up */
	ghost_put(rig.fds[CONNECTIONS], &(struct wire_frame){.type = WIRE_READY});
	wait_for(&rig, &rig.ups, 2);
	for (int i = 0; i < CHANNELS; i++)
		assert_closed(&rig, old[i]);
	assert_int_equal(mesh_epoch(&rig.mesh), 1);
	assert_string_equal(rig.failure, "");
	rig_close(&rig);
}

static void older_sessions_are_refused(void **state)
{
	struct wire_frame hello = ghost_hello(2, 6, 0);
	struct rig rig;
	int fd;

	rig_open(&rig, 0);
	ghost_connect_all(&rig, 2, 7);
	fd = ghost_connect(&hello);
	assert_closed(&rig, fd);
	ghost_put(rig.fds[CONNECTIONS], &(struct wire_frame){.type = WIRE_READY});
	wait_for(&rig, &rig.ups, 1);
	rig_close(&rig);
}

static void strangers_are_dismissed(void **state)
{
	struct wire_frame hellos[6];
	struct rig rig;
	int fd;

	rig_open(&rig, 0);
	for (int i = 0; i < 6; i++)
		hellos[i] = ghost_hello(0, 1, 0);
	hellos[0].participant = 0; /* the mesh's own */
	hellos[1].participant = 2; /* there are two */
	hellos[2].index = CHANNELS;
	hellos[3].connections = CHANNELS + 1;
	hellos[4].incarnation = 1; /* its session says 0 */
	hellos[5] = (struct wire_frame){.type = WIRE_BEAT};
	for (int i = 0; i < 6; i++) {
		fd = ghost_connect(&hellos[i]);
		assert_closed(&rig, fd);
	}
	ghost_connect_all(&rig, 0, 1);
	ghost_put(rig.fds[CONNECTIONS], &(struct wire_frame){.type = WIRE_READY});
	wait_for(&rig, &rig.ups, 1);
	assert_string_equal(rig.failure, "");
	rig_close(&rig);
}

/* A network of our own, with nothing but lo. */
static bool isolate(void)
{
	struct error err = {0};

	if (topology_isolate(&err) == 0 && system("ip link set lo up") == 0)
		return true;
	printf("1..0 # SKIP %.*s\n", (int)strcspn(err.text, "\n"), err.text);
	return false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slower_connection_carries_less),
		cmocka_unit_test(signals_overtake_payload),
		cmocka_unit_test(one_end_ends_all),
		cmocka_unit_test(break_without_crash_fails),
		cmocka_unit_test(garbage_fails),
		cmocka_unit_test(dead_link_fails),
		cmocka_unit_test(frames_stay_on_their_channel),
		cmocka_unit_test(wrong_answer_fails),
		cmocka_unit_test(nothing_before_ready),
		cmocka_unit_test(ready_too_early_fails),
		cmocka_unit_test(newer_incarnation_replaces),
		cmocka_unit_test(older_sessions_are_refused),
		cmocka_unit_test(strangers_are_dismissed),
	};

	if (!isolate())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
