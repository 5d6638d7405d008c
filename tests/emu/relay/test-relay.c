/*
 * The backend with real devices and real stacks: what passes, what is counted, what is lost, and
 * what remains when something dies. Times are checked where a slow machine cannot spoil them;
 * how exact they are is the benchmark's business.
 */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/emu/relay/rig.h"

#define MS NS_PER_MS
#define MBIT INT64_C(1000000)
#define PORT 5001
#define LATE_MS 50 /* what a busy machine may add */

static void need_relay(void)
{
	struct error err = {0};

	if (backend_relay.probe(&err) < 0)
		skip();
}

static void wait_ms(int ms)
{
	poll(NULL, 0, ms);
}

static void send_to(int fd, int site, int family, const void *data, size_t n)
{
	unsigned length;
	struct sockaddr_storage to = rig_address(site, family, PORT, &length);

	assert_int_equal(sendto(fd, data, n, 0, (struct sockaddr *)&to, length), n);
}

/* A datagram within the time; 0 when none came. */
static ssize_t receive(int fd, void *data, size_t n, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, timeout_ms) <= 0)
		return 0;
	return recv(fd, data, n, 0);
}

static void check_conservation(const struct rig *rig)
{
	for (int i = 0; i < rig->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++) {
			struct link_stats s = rig_stats(rig, i, d);
			uint64_t segments = s.delivered_segments, bytes = s.delivered_bytes;

			for (int c = 0; c < DROP_CAUSES; c++) {
				segments += s.drop_segments[c];
				bytes += s.drop_bytes[c];
			}
			assert_int_equal(s.segments, segments);
			assert_int_equal(s.bytes, bytes);
		}
}

/* One-way delays of 5 + 5 ms at the access and 2 ms in the core: 24 ms there and back. */
static void test_udp_round_trips(void **state)
{
	const int families[] = {AF_INET, AF_INET6};
	struct rig rig;

	need_relay();
	rig_new(&rig, 2,
		&(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = 5 * MS, .core_ns = 2 * MS});
	rig_up(&rig, "", 0);
	for (int f = 0; f < 2; f++) {
		int a = rig_socket(&rig, 0, families[f], SOCK_DGRAM, 0, PORT);
		int b = rig_socket(&rig, 1, families[f], SOCK_DGRAM, 0, PORT);
		double ms[20];

		for (int i = 0; i < 20; i++) {
			int64_t sent_ns = clock_now_ns();
			int got = -1;

			send_to(a, 1, families[f], &i, sizeof i);
			assert_int_equal(receive(b, &got, sizeof got, 1000), sizeof got);
			assert_int_equal(got, i);
			send_to(b, 0, families[f], &i, sizeof i);
			assert_int_equal(receive(a, &got, sizeof got, 1000), sizeof got);
			ms[i] = (double)(clock_now_ns() - sent_ns) / 1e6;
			assert_true(ms[i] >= 24);
		}
		assert_true(stats_quantile(ms, 20, 0.5) < 24 + LATE_MS);
		close(a);
		close(b);
	}
	assert_int_equal(rig_stats(&rig, 0, UP).segments, 40);
	assert_int_equal(rig_stats(&rig, 0, DOWN).lateness.count, 40);
	/* 4 bytes of payload: 28 + 4 + 14 and 48 + 4 + 14. */
	assert_int_equal(rig_stats(&rig, 0, UP).bytes, 20 * 46 + 20 * 66);
	check_conservation(&rig);
	rig_down(&rig);
}

static void ping(const struct rig *rig, int family)
{
	const int protocol = family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	int fd = rig_socket(rig, 0, family, SOCK_DGRAM, protocol, 0);
	struct icmphdr request = {.type = family == AF_INET ? ICMP_ECHO : 128}, reply;
	int64_t sent_ns = clock_now_ns();

	request.un.echo.sequence = htons(7);
	send_to(fd, 1, family, &request, sizeof request);
	assert_int_equal(receive(fd, &reply, sizeof reply, 1000), sizeof reply);
	assert_int_equal(reply.type, family == AF_INET ? ICMP_ECHOREPLY : 129);
	assert_int_equal(reply.un.echo.sequence, htons(7));
	assert_true(clock_now_ns() - sent_ns >= 20 * MS);
	close(fd);
}

static void test_icmp(void **state)
{
	struct rig rig;

	need_relay();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = 5 * MS});
	rig_up(&rig, "", 0);
	ping(&rig, AF_INET);
	ping(&rig, AF_INET6);
	rig_down(&rig);
}

#define CONTENT_BYTES (6 << 20)

static uint8_t content(size_t i)
{
	return (uint8_t)(i * 2654435761u >> 13);
}

static void connect_pair(const struct rig *rig, int family, int *out, int *in)
{
	int listener = rig_socket(rig, 1, family, SOCK_STREAM, 0, PORT), fd;
	unsigned length;
	struct sockaddr_storage to = rig_address(1, family, PORT, &length);

	assert_int_equal(listen(listener, 1), 0);
	fd = rig_socket(rig, 0, family, SOCK_STREAM, 0, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, length), 0);
	*in = accept(listener, NULL, NULL);
	assert_true(*in >= 0);
	*out = fd;
	close(listener);
}

/* Sends the content on one socket and reads it on the other, by turns. */
static void transfer(int out, int in)
{
	static uint8_t buffer[1 << 18];
	size_t sent = 0, got = 0;

	while (got < CONTENT_BYTES) {
		struct pollfd p[2] = {{.fd = in, .events = POLLIN}, {.fd = out, .events = POLLOUT}};
		ssize_t n;

		assert_true(poll(p, sent < CONTENT_BYTES ? 2 : 1, 20000) > 0);
		if (p[0].revents) {
			n = recv(in, buffer, sizeof buffer, MSG_DONTWAIT);
			assert_true(n > 0);
			for (ssize_t i = 0; i < n; i++, got++)
				if (buffer[i] != content(got))
					fail_msg("byte %zu differs", got);
		} else if (p[1].revents) {
			size_t part = CONTENT_BYTES - sent;

			part = part < sizeof buffer ? part : sizeof buffer;
			for (size_t i = 0; i < part; i++)
				buffer[i] = content(sent + i);
			n = send(out, buffer, part, MSG_DONTWAIT);
			assert_true(n > 0 || errno == EAGAIN);
			sent += n > 0 ? (size_t)n : 0;
		}
	}
	assert_int_equal(recv(in, buffer, 1, MSG_DONTWAIT), -1);
}

/* Losses cut super-packets; what TCP makes of the pieces must be what was sent. */
static void test_tcp_content_over_a_lossy_link(void **state)
{
	const int families[] = {AF_INET, AF_INET6};
	struct link_stats up, down;
	struct rig rig;

	need_relay();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 500 * MBIT, .delay_ns = MS, .loss = 0.005});
	rig.plan->links[0][UP].base.burst_loss = 0.005; /* not for lone retransmissions and ACKs */
	rig.plan->links[0][UP].base.burst_length = 2;
	rig_up(&rig, "cubic", 0);
	for (int f = 0; f < 2; f++) {
		int out, in;

		connect_pair(&rig, families[f], &out, &in);
		transfer(out, in);
		close(out);
		close(in);
	}
	wait_ms(100);
	up = rig_stats(&rig, 0, UP);
	down = rig_stats(&rig, 1, DOWN);
	assert_true(up.drop_segments[DROP_RANDOM] > 0 && up.drop_segments[DROP_BURST] > 0);
	assert_true(up.segments >= 2 * CONTENT_BYTES / 1448);
	assert_true(up.packets < up.segments);	/* super-packets came */
	assert_true(down.packets > up.packets); /* and were cut */
	assert_int_equal(up.delivered_segments, down.segments);
	check_conservation(&rig);
	rig_down(&rig);
}

/* 0.25 ms at 100 Mbit/s are two full segments. */
static void test_super_packets_are_short(void **state)
{
	struct link_stats up;
	struct rig rig;
	int out, in;

	need_relay();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = MS});
	rig_up(&rig, "cubic", 0);
	connect_pair(&rig, AF_INET, &out, &in);
	transfer(out, in);
	close(out);
	close(in);
	up = rig_stats(&rig, 0, UP);
	assert_true(up.segments <= 2 * up.packets);
	assert_true(2 * up.segments >= 3 * up.packets);
	rig_down(&rig);
}

/* Numbered datagrams: what the receiver misses is what was counted, and as many as were asked for.
 * With 5 % of 20000 the 99 % interval is 4.6 to 5.4 %. */
static void test_loss_seen_by_the_receiver(void **state)
{
	enum { N = 20000 };
	uint64_t got = 0, lost;
	struct link_stats s;
	struct rig rig;
	double low, high;
	int a, b, number, last = -1;

	need_relay();
	rig_new(&rig, 2,
		&(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = MS, .jitter_ns = MS});
	rig.plan->links[0][UP].base.loss = 0.05;
	rig_up(&rig, "", 0);
	a = rig_socket(&rig, 0, AF_INET, SOCK_DGRAM, 0, PORT);
	b = rig_socket(&rig, 1, AF_INET, SOCK_DGRAM, 0, PORT);
	for (int i = 0; i < N; i++) {
		send_to(a, 1, AF_INET, &i, sizeof i);
		if (i % 50 == 49)
			wait_ms(1);
		while (receive(b, &number, sizeof number, i == N - 1 ? 500 : 0) > 0) {
			assert_true(number > last); /* in order, in spite of the jitter */
			last = number;
			got++;
		}
	}
	s = rig_stats(&rig, 0, UP);
	lost = N - got;
	assert_int_equal(s.segments, N);
	assert_int_equal(s.drop_segments[DROP_RANDOM], lost);
	stats_wilson(lost, N, 2.576, &low, &high);
	assert_true(low <= 0.05 && 0.05 <= high);
	check_conservation(&rig);
	rig_down(&rig);
}

/* Down from 100 to 300 ms of scenario time, which starts 50 ms after the first packet. */
static void test_blackout(void **state)
{
	struct link_window window = {100 * MS, 300 * MS};
	int64_t t0_ns, sent_ns[500];
	bool arrived[500] = {false};
	struct rig rig;
	int a, b, number, lost = 0;

	need_relay();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = 5 * MS});
	rig.plan->links[0][UP].n_blackouts = 1;
	rig.plan->links[0][UP].blackouts = &window;
	rig_up(&rig, "", 0);
	a = rig_socket(&rig, 0, AF_INET, SOCK_DGRAM, 0, PORT);
	b = rig_socket(&rig, 1, AF_INET, SOCK_DGRAM, 0, PORT);
	t0_ns = clock_now_ns() + 50 * MS;
	backend_relay.start(rig.run, t0_ns);
	for (int i = 0; i < 500; i++) {
		sent_ns[i] = clock_now_ns() - t0_ns;
		send_to(a, 1, AF_INET, &i, sizeof i);
		wait_ms(1);
		while (receive(b, &number, sizeof number, i == 499 ? 300 : 0) > 0)
			arrived[number] = true;
	}
	for (int i = 0; i < 500; i++) {
		lost += !arrived[i];
		if (sent_ns[i] < (100 - LATE_MS) * MS || sent_ns[i] >= 300 * MS)
			assert_true(arrived[i]);
		if (sent_ns[i] >= 100 * MS && sent_ns[i] < (300 - LATE_MS) * MS)
			assert_false(arrived[i]);
	}
	assert_int_equal(rig_stats(&rig, 0, UP).drop_segments[DROP_OUTAGE], lost);
	check_conservation(&rig);
	rig_down(&rig);
}

/* 1 Mbit/s: a frame takes 12 ms, the burst well below one; ten frames fit. */
static void test_tail_drop(void **state)
{
	uint8_t data[1472] = {0};
	struct rig rig;
	int a, b, got = 0;

	need_relay();
	rig_new(&rig, 2,
		&(struct rig_link){.rate_bps = MBIT, .delay_ns = MS, .queue_bytes = 10 * 1514});
	rig_up(&rig, "", 0);
	a = rig_socket(&rig, 0, AF_INET, SOCK_DGRAM, 0, PORT);
	b = rig_socket(&rig, 1, AF_INET, SOCK_DGRAM, 0, PORT);
	for (int i = 0; i < 40; i++)
		send_to(a, 1, AF_INET, data, sizeof data);
	while (receive(b, data, sizeof data, 300) > 0)
		got++;
	assert_in_range(got, 10, 10 + LATE_MS / 12);
	assert_int_equal(rig_stats(&rig, 0, UP).drop_segments[DROP_QUEUE], 40 - got);
	assert_int_equal(rig_stats(&rig, 0, UP).drop_bytes[DROP_QUEUE], (40 - got) * 1514);
	assert_in_range(rig_stats(&rig, 0, UP).queue_high_bytes, 9 * 1514, 10 * 1514);
	check_conservation(&rig);
	rig_down(&rig);
}

static void test_64_sites(void **state)
{
	const int families[] = {AF_INET, AF_INET6};
	struct error err = {0};
	struct rig rig;

	need_relay();
	rig_new(&rig, SITES_MAX, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = MS});
	rig_up(&rig, "", 0);
	for (int f = 0; f < 2; f++) {
		int fds[SITES_MAX];

		for (int i = 0; i < SITES_MAX; i++)
			fds[i] = rig_socket(&rig, i, families[f], SOCK_DGRAM, 0, PORT);
		for (int i = 0; i < SITES_MAX; i++)
			for (int j = 1; j < SITES_MAX; j += 9)
				send_to(fds[i], (i + j) % SITES_MAX, families[f], &i, sizeof i);
		for (int i = 0; i < SITES_MAX; i++) {
			for (int j = 1; j < SITES_MAX; j += 9) {
				int from = -1;

				assert_int_equal(
					receive(fds[i], &from, sizeof from, 1000), sizeof from);
				assert_int_equal((i - from + SITES_MAX) % SITES_MAX % 9, 1);
			}
			close(fds[i]);
		}
	}
	assert_int_equal(backend_relay.verify(rig.run, &err), 0);
	check_conservation(&rig);
	rig_down(&rig);
}

static bool vanishes(pid_t pid)
{
	for (int i = 0; i < 200; i++) {
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return true;
		waitpid(pid, NULL, WNOHANG);
		wait_ms(10);
	}
	return false;
}

static void test_killed_relay_is_noticed(void **state)
{
	struct error err = {0};
	struct rig rig;
	int pid, fd;

	need_relay();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = MS});
	rig_up(&rig, "", 0);
	fd = rig_socket(&rig, 0, AF_INET, SOCK_DGRAM, 0, PORT);
	pid = backend_relay.pid(rig.run);
	assert_true(pid > 0);
	assert_int_equal(backend_relay.verify(rig.run, &err), 0);
	kill(pid, SIGTERM); /* the program's to handle, not the relay's */
	wait_ms(50);
	assert_int_equal(backend_relay.verify(rig.run, &err), 0);
	kill(pid, SIGKILL);
	for (int i = 0; i < 100 && backend_relay.verify(rig.run, &err) == 0; i++)
		wait_ms(10);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(strstr(err.text, "the relay was killed by signal 9"));
	assert_int_equal(backend_relay.pid(rig.run), 0);
	err = (struct error){0};
	assert_true(backend_relay.verify(rig.run, &err) < 0); /* still */
	close(fd);
	rig_down(&rig);
}

static void test_up_twice(void **state)
{
	struct backend_run *run = NULL;
	struct error err = {0};
	struct rig rig;

	need_relay();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = MS});
	rig_up(&rig, "", 0);
	assert_true(backend_relay.up(&run, rig.topology, rig.plan, &err) < 0);
	assert_null(run);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(strstr(err.text, "cannot create the TUN device " SITE_DEVICE));
	err = (struct error){0};
	assert_int_equal(backend_relay.verify(rig.run, &err), 0); /* the first is unharmed */
	rig_down(&rig);
}

/* The relay's own errors reach the program: here it gets no address space. */
static void test_relay_without_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
	skip(); /* needs terabytes for itself */
#else
	const struct rlimit little = {100 << 20, 100 << 20};
	struct error *err = rig_share(sizeof *err);
	struct rig rig;
	pid_t pid;

	need_relay();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = MS});
	rig_topology(&rig, "", 0);
	pid = fork();
	if (pid == 0) {
		struct backend_run *run;

		setrlimit(RLIMIT_AS, &little);
		_exit(backend_relay.up(&run, rig.topology, rig.plan, err) == 0);
	}
	assert_true(rig_wait(pid));
	assert_int_equal(err->status, STATUS_MACHINE);
	assert_non_null(strstr(err->text, "no room for"));
	rig_down(&rig);
#endif
}

static void test_down_leaves_nothing(void **state)
{
	struct rig rig;
	int pid;

	need_relay();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = MS});
	rig_up(&rig, "", 0);
	pid = backend_relay.pid(rig.run);
	rig_down(&rig);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_null(backend_relay.down(NULL));
}

static void test_relay_dies_with_the_program(void **state)
{
	int *relay = rig_share(sizeof *relay);
	pid_t program;

	need_relay();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	program = fork();
	if (program == 0) {
		struct rig rig;

		rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100 * MBIT, .delay_ns = MS});
		rig_up(&rig, "", 0);
		*relay = backend_relay.pid(rig.run);
		kill(getpid(), SIGKILL);
	}
	waitpid(program, NULL, 0);
	assert_true(*relay > 0);
	assert_true(vanishes(*relay));
}

/* Runs probe in a child that spoils something first; its error comes back. */
static struct error *probe_after(void (*spoil)(void))
{
	struct error *err = rig_share(sizeof *err);
	pid_t pid = fork();

	if (pid == 0) {
		spoil();
		backend_relay.probe(err);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return err;
}

static void hide_tun(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", "/dev/net", "tmpfs", 0, NULL) < 0)
		_exit(1);
}

/* Under another name than the user's, nobody but root may open it. */
static void forbid_tun(void)
{
	hide_tun();
	if (mknod("/dev/net/tun", S_IFCHR | 0600, 10 << 8 | 200) < 0 || setgid(65534) < 0 ||
		setuid(65534) < 0)
		_exit(1);
}

/* A device number without a driver. */
static void break_tun(void)
{
	hide_tun();
	if (mknod("/dev/net/tun", S_IFCHR | 0600, 10 << 8 | 254) < 0)
		_exit(1);
}

/* What /dev/null is. */
static void replace_tun(void)
{
	hide_tun();
	if (mknod("/dev/net/tun", S_IFCHR | 0600, 1 << 8 | 3) < 0)
		_exit(1);
}

static void test_probe_says_what_is_missing(void **state)
{
	struct error *err;

	need_relay();
	if (geteuid() != 0)
		skip();
	err = probe_after(hide_tun);
	assert_int_equal(err->status, STATUS_MACHINE);
	assert_non_null(strstr(err->text, "/dev/net/tun does not exist"));
	assert_non_null(strstr(err->text, "modprobe tun"));
	assert_non_null(strstr(err->text, "--device /dev/net/tun"));
	err = probe_after(forbid_tun);
	assert_int_equal(err->status, STATUS_MACHINE);
	assert_non_null(strstr(err->text, "run as root"));
	err = probe_after(break_tun);
	assert_int_equal(err->status, STATUS_MACHINE);
	assert_non_null(strstr(err->text, "modprobe tun"));
	err = probe_after(replace_tun);
	assert_int_equal(err->status, STATUS_MACHINE);
	assert_non_null(strstr(err->text, "is not the TUN device"));
	assert_non_null(strstr(err->text, "mknod /dev/net/tun c 10 200"));
	assert_non_null(strstr(err->text, "--device /dev/net/tun"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe_says_what_is_missing),
		cmocka_unit_test(test_udp_round_trips),
		cmocka_unit_test(test_icmp),
		cmocka_unit_test(test_tcp_content_over_a_lossy_link),
		cmocka_unit_test(test_super_packets_are_short),
		cmocka_unit_test(test_loss_seen_by_the_receiver),
		cmocka_unit_test(test_blackout),
		cmocka_unit_test(test_tail_drop),
		cmocka_unit_test(test_64_sites),
		cmocka_unit_test(test_killed_relay_is_noticed),
		cmocka_unit_test(test_up_twice),
		cmocka_unit_test(test_relay_without_memory),
		cmocka_unit_test(test_down_leaves_nothing),
		cmocka_unit_test(test_relay_dies_with_the_program),
	};

	return cmocka_run_group_tests_name("relay", tests, NULL, NULL);
}
