/*
 * The mesh against a ghost: the other participant is played by the test with plain sockets and
 * the wire format, so that it can do what an agent of ours would not.
 */
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/live/ghost.h"
#include "tests/test.h"

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
