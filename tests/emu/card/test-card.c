/*
 * Links on devices of a namespace, on a kernel that has netem: what is set is what is told, what
 * passes when, and that everything comes back, whoever dies. Where a time is checked from above,
 * the bound allows for the clock tick of a slow kernel.
 */
#include "tests/emu/namespaces.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "emu/backend.h"
#include "emu/card/carries.h"
#include "emu/card/keeper.h"
#include "emu/card/leftover.h"
#include "emu/card/owner.h"
#include "emu/rtnl.h"

#define MS NS_PER_MS
#define MBIT INT64_C(1000000)
#define PORT 5001

/* "card" and its other end in a namespace of their own, where 10.0.0.2 and 10.0.1.2 answer. */
struct bench {
	struct nl_sock *sock;
	pid_t far;
	struct shaping shaping;
	struct saved saved;
};

static void need_netem(void)
{
	struct error err = {0};

	if (backend_netem.probe(&err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(SKIP);
	}
}

static struct in_addr address(int net, int host)
{
	return (struct in_addr){htonl(10 << 24 | (unsigned)(net << 8) | (unsigned)host)};
}

static struct sockaddr_in to(int net)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = address(net, 2)};
}

/* Sends every datagram back, to the address it came from. */
static void echo(int fd)
{
	struct sockaddr_in from;
	char data[2000];

	for (;;) {
		socklen_t size = sizeof from;
		ssize_t n = recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&from, &size);

		if (n > 0)
			sendto(fd, data, (size_t)n, 0, (struct sockaddr *)&from, size);
	}
}

static int open_socket(int net, int host, bool bound)
{
	const struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons(bound ? PORT : 0),
		.sin_addr = address(net, host)};
	const int room = 16 << 20;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
	CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof a) == 0);
	return fd;
}

static void device_with(struct nl_sock *sock, const char *name, int host, int other)
{
	const struct rtnl_link_settings settings = {0};
	struct error err = {0};
	int index;

	CHECK_OK(rtnl_device_index(name, &index, &err), err);
	CHECK_OK(rtnl_device_up(sock, index, &settings, &err), err);
	for (int net = 0; net < 2; net++) {
		const struct in_addr own = address(net, host), peer = address(net, other);

		CHECK_OK(rtnl_add_address(sock, index, AF_INET, &own, &err), err);
		CHECK_OK(rtnl_add_host_route(sock, index, AF_INET, &peer, &err), err);
	}
}

/* The far end: a process that holds the namespace and answers on both addresses. */
static pid_t far_end(int ready[2], int go[2])
{
	struct nl_sock *sock = NULL;
	struct error err = {0};
	char c = 0;
	pid_t pid = fork();

	if (pid)
		return pid;
	CHECK(unshare(CLONE_NEWNET) == 0 && write(ready[1], &c, 1) == 1 && read(go[0], &c, 1) == 1);
	CHECK_OK(rtnl_open(&sock, &err), err);
	device_with(sock, "far", 2, 1);
	for (int net = 0; net < 2; net++)
		if (net || !fork()) {
			int fd = open_socket(net, 2, true);

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			CHECK(write(ready[1], &c, 1) == 1);
			echo(fd);
		}
	exit(0);
}

static void open_bench(struct bench *b)
{
	struct error err = {0};
	int ready[2], go[2], here, there, index;
	char path[64], c;

	*b = (struct bench){0};
	need_netem();
	isolate_or_skip();
	CHECK_OK(rtnl_open(&b->sock, &err), err);
	CHECK(pipe(ready) == 0 && pipe(go) == 0);
	b->far = far_end(ready, go);
	CHECK(read(ready[0], &c, 1) == 1);
	snprintf(path, sizeof path, "/proc/%d/ns/net", (int)b->far);
	there = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_OK(topology_here(&here, &err), err);
	CHECK_OK(rtnl_add_veth(
			 b->sock, (struct rtnl_veth_end[]){{"card", here}, {"far", there}}, &err),
		err);
	close(here);
	close(there);
	device_with(b->sock, "card", 1, 2);
	CHECK_OK(rtnl_device_index("card", &index, &err), err);
	CHECK_OK(device_set_gso(b->sock, index, 65535, &err), err);
	CHECK(write(go[1], &c, 1) == 1 && read(ready[0], &c, 1) == 1 && read(ready[0], &c, 1) == 1);
}

static void close_bench(struct bench *b)
{
	kill(b->far, SIGKILL);
	saved_release(&b->saved);
	rtnl_close(b->sock);
}

static const struct link_direction usual = {
	.base = {.rate_bps = 100 * MBIT, .delay_ns = 20 * MS, .burst_length = 1},
	.queue_ns = 50 * MS,
	.overhead_bytes = LINK_OVERHEAD_ETHERNET,
};

static void plan(struct bench *b, const struct shaping_wish *wish, const char *device)
{
	const struct device *d;
	struct error err = {0};
	struct view v;

	CHECK_OK(view_read(&v, b->sock, &err), err);
	CHECK_OK(devices_named(&d, &v.devices, device, &err), err);
	shaping_plan(&b->shaping, wish, d, &v);
	saved_release(&b->saved);
	CHECK_OK(saved_take(&b->saved, &b->shaping, &v, b->sock, &err), err);
	view_release(&v);
}

static void apply(struct bench *b, const struct shaping_wish *wish, const char *device)
{
	struct error err = {0};

	plan(b, wish, device);
	CHECK_OK(shaping_apply(&b->shaping, b->sock, &err), err);
	CHECK_OK(shaping_verify(&b->shaping, b->sock, &err), err);
}

static void put_back(struct bench *b)
{
	struct error err = {0};

	CHECK_OK(saved_put_back(&b->saved, &b->shaping, b->sock, &err), err);
}

static void command(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void command(const char *format, ...)
{
	_free_ char *line = NULL;
	va_list ap;

	va_start(ap, format);
	CHECK(vasprintf(&line, format, ap) > 0);
	va_end(ap);
	if (system(line)) {
		fprintf(stderr, "failed: %s\n", line);
		exit(1);
	}
}

/* All that is set, as text: qdiscs of all devices, and the ways of "card". */
static char *everything(struct bench *b)
{
	struct error err = {0};
	struct ways ways;
	struct view v;
	const struct device *d;
	char *text = NULL, words[512], prefix[PREFIX_TEXT];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	CHECK_OK(view_read(&v, b->sock, &err), err);
	CHECK_OK(devices_named(&d, &v.devices, "card", &err), err);
	fprintf(f, "gso %u\n", d->gso_max_segs);
	for (size_t i = 0; i < v.qdiscs.n; i++) {
		const struct qdisc *q = &v.qdiscs.nodes[i].qdisc;
		const struct device *on = devices_find(&v.devices, q->place.index);

		fprintf(f, "%s %s %x: below %x, overhead %d, options", on->name, q->kind,
			q->place.handle, q->place.parent, q->frame_overhead);
		/* a bucket's has its burst in the ticks of whoever set it */
		for (size_t k = 0; strcmp(q->kind, "tbf") && k < v.qdiscs.nodes[i].options_size;
			k++)
			fprintf(f, " %02x", v.qdiscs.nodes[i].options[k]);
		fputc('\n', f);
	}
	CHECK_OK(view_ways(&ways, &v, d, b->sock, &err), err);
	for (size_t i = 0; i < ways.n; i++) {
		const struct way *w = &ways.list[i];

		fprintf(f, "%s, class %x, match %d %s: %s %s %u\n", direction_name(w->direction),
			w->class_id, w->match,
			w->prefix.family ? prefix_format(prefix, &w->prefix) : "",
			layout_format(words, sizeof words, &w->words), w->words.also,
			w->tbf ? w->tbf->qdisc.tbf.burst : 0);
	}
	ways_release(&ways);
	view_release(&v);
	fclose(f);
	return text;
}

static void check_same(const char *got, const char *want)
{
	if (strcmp(got, want))
		fprintf(stderr, "have:\n%swant:\n%s", got, want);
	CHECK(!strcmp(got, want));
}

/* Ten millions of bytes per second, odd times, everything a profile has. */
static const struct link_profile full = {
	.name = "full",
	.direction =
		{
			[UP] = {.base = {.rate_bps = 80 * MBIT,
					.delay_ns = 300123456,
					.jitter_ns = 7654321,
					.loss = .001,
					.burst_loss = .01,
					.burst_length = 8},
				.queue_ns = 150 * MS,
				.overhead_bytes = LINK_OVERHEAD_WIRE},
			[DOWN] = {.base = {.rate_bps = INT64_C(40000000000),
					  .queue_bytes = 123456789,
					  .delay_ns = 15 * MS,
					  .loss = .0001,
					  .burst_length = 1},
				.overhead_bytes = LINK_OVERHEAD_IP},
		},
};

static const struct way *way_in(const struct ways *ways, enum direction d)
{
	for (size_t i = 0; i < ways->n; i++)
		if (ways->list[i].direction == d)
			return &ways->list[i];
	CHECK(!"there is a way in this direction");
	return NULL;
}

static void check_way(const struct way *w, const struct shaping *s)
{
	const struct link_direction *link = &s->wish.link->direction[w->direction];
	const struct link_state *got = &w->words.state;
	struct link_state want;
	int64_t until_ns;

	link_at(link, w->direction, 0, &want, &until_ns);
	CHECK(got->rate_bps == want.rate_bps);
	CHECK(got->queue_bytes == want.queue_bytes);
	CHECK(got->delay_ns == want.delay_ns);
	CHECK(got->jitter_ns == want.jitter_ns);
	CHECK(fabs(got->loss - want.loss) < 1e-9);
	CHECK(fabs(got->burst_loss - want.burst_loss) < 1e-8);
	CHECK(fabs(got->burst_length - want.burst_length) < 1e-6);
	CHECK(w->words.overhead_bytes == link->overhead_bytes);
	CHECK(!*w->words.also && !w->words.state.down);
	if (s->wish.has_prefix)
		CHECK(w->match == (w->direction == UP ? FILTER_TO : FILTER_FROM) &&
			!memcmp(&w->prefix, &s->wish.prefix, sizeof w->prefix));
	else
		CHECK(w->match == FILTER_ALL && !w->class_id);
}

static void tell_what_is_set(void)
{
	static const char *const prefixes[] = {NULL, "10.0.0.0/24", "2001:db8:1:2::/65", "::/0"};
	struct error err = {0};
	struct ways ways;
	struct bench b;
	struct view v;
	const struct device *d;
	char *before;

	open_bench(&b);
	command("tc qdisc add dev card root handle 1: fq limit 5000");
	before = everything(&b);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		struct shaping_wish wish = {&full, true, prefixes[i] != NULL, {0}};
		char *after;

		if (prefixes[i])
			CHECK_OK(prefix_parse(&wish.prefix, prefixes[i], &err), err);
		apply(&b, &wish, "card");
		CHECK_OK(view_read(&v, b.sock, &err), err);
		CHECK_OK(devices_named(&d, &v.devices, "card", &err), err);
		CHECK(d->gso_max_segs == 1);
		CHECK_OK(view_ways(&ways, &v, d, b.sock, &err), err);
		CHECK(ways.n == 2);
		check_way(way_in(&ways, UP), &b.shaping);
		check_way(way_in(&ways, DOWN), &b.shaping);
		ways_release(&ways);
		view_release(&v);
		put_back(&b);
		after = everything(&b);
		check_same(after, before);
		free(after);
	}
	free(before);
	close_bench(&b);
}

static void test_what_is_set_is_told(void **state)
{
	run(tell_what_is_set);
}

/* Times that tc can say: it cuts them to 8 us. */
static void run_commands(void)
{
	static const char *const prefixes[] = {NULL, "2001:db8:1:2::/65"};
	struct link_profile link = full;
	struct error err = {0};
	struct bench b;

	link.direction[UP].base.delay_ns = 300120 * NS_PER_US;
	link.direction[UP].base.jitter_ns = 7656 * NS_PER_US;
	open_bench(&b);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		struct shaping_wish wish = {&link, true, prefixes[i] != NULL, {0}};
		char *ours, *theirs, *lines = NULL;
		size_t size;
		FILE *f = open_memstream(&lines, &size);

		if (prefixes[i])
			CHECK_OK(prefix_parse(&wish.prefix, prefixes[i], &err), err);
		apply(&b, &wish, "card");
		ours = everything(&b);
		put_back(&b);
		shaping_commands(&b.shaping, f);
		fclose(f);
		command("set -e\n%s", lines);
		theirs = everything(&b);
		check_same(theirs, ours);
		put_back(&b);
		free(ours);
		free(theirs);
		free(lines);
	}
	close_bench(&b);
}

static void test_commands_do_the_same(void **state)
{
	run(run_commands);
}

/* The least of ten round trips. */
static double round_trip_ms(int net)
{
	const struct sockaddr_in peer = to(net);
	int fd = open_socket(net, 1, false), got;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	double least = 1e9;

	for (int i = 0; i < 10; i++) {
		int64_t sent_ns = clock_now_ns();

		CHECK(sendto(fd, &i, sizeof i, 0, (const struct sockaddr *)&peer, sizeof peer) > 0);
		CHECK(poll(&p, 1, 5000) == 1 && recv(fd, &got, sizeof got, 0) == sizeof got);
		CHECK(got == i);
		least = fmin(least, (double)(clock_now_ns() - sent_ns) / MS);
	}
	close(fd);
	return least;
}

static void check_round_trip(int net, double ms)
{
	double got = round_trip_ms(net);

	printf("# round trip %.3f ms; the link has %.0f ms\n", got, ms);
	CHECK(got >= ms && got <= ms + .2 + 10);
}

static void measure_round_trips(void)
{
	const struct link_profile link = {.direction = {usual, usual}};
	struct shaping_wish wish = {&link, false, false, {0}};
	struct error err = {0};
	struct bench b;

	open_bench(&b);
	apply(&b, &wish, "card");
	check_round_trip(0, 20);
	put_back(&b);
	wish.incoming = true;
	apply(&b, &wish, "card");
	check_round_trip(1, 40);
	put_back(&b);
	wish.has_prefix = true;
	CHECK_OK(prefix_parse(&wish.prefix, "10.0.1.0/24", &err), err);
	apply(&b, &wish, "card");
	check_round_trip(0, 0); /* not in the prefix */
	check_round_trip(1, 40);
	put_back(&b);
	check_round_trip(1, 0);
	close_bench(&b);
}

static void test_round_trips(void **state)
{
	run(measure_round_trips);
}

/* Bytes that one way let through, with their headers. */
static uint64_t sent_bytes(struct bench *b, enum direction direction)
{
	const struct device *d;
	struct error err = {0};
	struct ways ways;
	struct view v;
	uint64_t bytes;

	CHECK_OK(view_read(&v, b->sock, &err), err);
	CHECK_OK(devices_named(&d, &v.devices, "card", &err), err);
	CHECK_OK(view_ways(&ways, &v, d, b->sock, &err), err);
	bytes = way_count(way_in(&ways, direction)).sent_bytes;
	ways_release(&ways);
	view_release(&v);
	return bytes;
}

/* Sends at 10 Mbit/s from now on; frames of 1514 bytes. */
static pid_t spawn_sender(void)
{
	const struct sockaddr_in peer = to(0);
	static const char data[1472];
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = open_socket(0, 1, false);
	for (int64_t begin_ns = clock_now_ns(), n = 0;; n++) {
		while (clock_now_ns() < begin_ns + n * 1211200)
			poll(NULL, 0, 1);
		sendto(fd, data, sizeof data, 0, (const struct sockaddr *)&peer, sizeof peer);
	}
}

/*
 * 4 Mbit/s, filled by 10, in 2 s: the kernel's own bytes between two looks. What is in a bucket
 * (10 ms) and a frame's time may come on top, and looking takes a moment; timers that come late
 * on a busy machine take off.
 */
static void measure_rates(void)
{
	const struct link_profile link = {
		.direction = {[UP] = {.base = {.rate_bps = 4 * MBIT, .burst_length = 1},
				      .queue_ns = 100 * MS,
				      .overhead_bytes = LINK_OVERHEAD_ETHERNET},
			[DOWN] = {.base = {.rate_bps = 2 * MBIT, .burst_length = 1},
				.queue_ns = 100 * MS,
				.overhead_bytes = LINK_OVERHEAD_ETHERNET}}};
	const struct shaping_wish wish = {&link, true, false, {0}};
	uint64_t up, down;
	int64_t from_ns;
	double seconds;
	struct bench b;
	pid_t sender;

	open_bench(&b);
	apply(&b, &wish, "card");
	sender = spawn_sender();
	poll(NULL, 0, 500);
	from_ns = clock_now_ns();
	up = sent_bytes(&b, UP);
	down = sent_bytes(&b, DOWN);
	poll(NULL, 0, 2000);
	seconds = (double)(clock_now_ns() - from_ns) / NS_PER_S;
	up = sent_bytes(&b, UP) - up;
	down = sent_bytes(&b, DOWN) - down;
	kill(sender, SIGKILL);
	printf("# out %.3f Mbit/s of 4, in %.3f of 2\n", (double)up * 8e-6 / seconds,
		(double)down * 8e-6 / seconds);
	CHECK((double)up * 8e-6 / seconds > .8 * 4 && (double)up * 8e-6 / seconds < 1.02 * 4);
	CHECK((double)down * 8e-6 / seconds > .8 * 2 && (double)down * 8e-6 / seconds < 1.02 * 2);
	close_bench(&b);
}

static void test_rates(void **state)
{
	run(measure_rates);
}

/* Delay, rate, queue, jitter and loss change under traffic in both directions: nothing is lost. */
static void change_under_traffic(void)
{
	enum { N = 2000, STEPS = 16 };
	struct link_step steps[STEPS];
	struct link_profile link = {.direction = {usual, usual}};
	struct shaping_wish wish = {&link, true, false, {0}};
	const struct sockaddr_in peer = to(0);
	struct error err = {0};
	int64_t begin_ns;
	int sent = 0, back = 0, changes = 0;
	struct bench b;
	struct pollfd p;

	for (int i = 0; i < STEPS; i++)
		steps[i] = (struct link_step){
			.at_ns = (50 + 50 * i) * MS,
			.set = LINK_DELAY | LINK_RATE | LINK_QUEUE | LINK_JITTER | LINK_LOSS |
			       LINK_BURST,
			.to = {.delay_ns = (i % 4 ? 1 : 60) * MS,
				.jitter_ns = (i % 3) * MS,
				.rate_bps = (i % 2 ? 20 : 80) * MBIT,
				.loss = i % 5 == 1 ? 1e-9 : 0,
				.burst_loss = i % 5 == 2 ? 1e-9 : 0,
				.burst_length = 1},
			.queue_ns = (400 + i) * MS,
		};
	for (int d = 0; d < DIRECTIONS; d++) {
		link.direction[d].steps = steps;
		link.direction[d].n_steps = STEPS;
		link.direction[d].queue_ns = 400 * MS;
	}
	open_bench(&b);
	apply(&b, &wish, "card");
	p = (struct pollfd){.fd = open_socket(0, 1, false), .events = POLLIN};
	begin_ns = clock_now_ns();
	while (sent < N || poll(&p, 1, 1000) == 1) {
		int64_t t_ns = clock_now_ns() - begin_ns;
		char data[200] = "";
		bool changed;

		CHECK_OK(shaping_follow(&b.shaping, b.sock, t_ns, &changed, &err), err);
		changes += changed;
		for (; sent < N && t_ns >= sent * MS / 2; sent++)
			CHECK(sendto(p.fd, data, sizeof data, 0, (const struct sockaddr *)&peer,
				      sizeof peer) > 0);
		if (poll(&p, 1, 1) == 1 && recv(p.fd, data, sizeof data, MSG_DONTWAIT) > 0)
			back++;
	}
	CHECK_OK(shaping_verify(&b.shaping, b.sock, &err), err);
	printf("# %d changes, %d of %d came back\n", changes, back, N);
	CHECK(changes > 3 && back == N);
	close_bench(&b);
}

static void test_changes_lose_nothing(void **state)
{
	run(change_under_traffic);
}

/* A program that shapes "card" and never ends; *keeper is who would put things back. */
static pid_t spawn_controller(struct bench *b, const struct shaping_wish *wish, pid_t *keeper)
{
	struct error err = {0};
	int ready[2];
	pid_t pid;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (!pid) {
		struct keeper_job job = {&b->shaping, &b->saved, TIME_NEVER, -1};
		struct keeper k;

		plan(b, wish, "card");
		CHECK_OK(owner_take(&job.owner_fd, b->shaping.device.index, "card", &err), err);
		CHECK_OK(keeper_start(&k, &job, &err), err);
		CHECK_OK(shaping_apply(&b->shaping, b->sock, &err), err);
		CHECK(write(ready[1], &k.pid, sizeof k.pid) == sizeof k.pid);
		if (poll(&(struct pollfd){.fd = k.fd, .events = POLLIN}, 1, -1) == 1)
			exit(keeper_end(&k, &err) < 0 ? (int)err.status : 0);
		exit(99);
	}
	CHECK(read(ready[0], keeper, sizeof *keeper) == sizeof *keeper);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* How long it takes until all is as it was; TIME_NEVER after 2 s. */
static int64_t until_back(struct bench *b, const char *before)
{
	int64_t begin_ns = clock_now_ns();
	char *now;
	bool back;

	do {
		now = everything(b);
		back = !strcmp(now, before);
		free(now);
	} while (!back && clock_now_ns() - begin_ns < 2 * NS_PER_S);
	return back ? clock_now_ns() - begin_ns : TIME_NEVER;
}

static void kill_controllers(void)
{
	const struct link_profile link = {.direction = {usual, usual}};
	const struct shaping_wish wish = {&link, true, false, {0}};
	static const char *const previous[] = {
		"fq limit 5000", "netem delay 3ms 1ms limit 77", "", "pfifo limit 17"};
	struct bench b;

	open_bench(&b);
	for (size_t i = 0; i <= sizeof previous / sizeof *previous; i++) {
		pid_t keeper, controller;
		char *before, *shaped;
		int64_t took_ns;

		if (i == 2) /* a tree of two */
			command("tc qdisc add dev card parent 2:1 handle 7: tbf rate 9mbit burst "
				"20kb limit 90kb");
		else if (i < sizeof previous / sizeof *previous)
			command("tc qdisc replace dev card root handle %zu: %s", i + 1,
				previous[i]);
		else
			command("tc qdisc del dev card root");
		before = everything(&b);
		controller = spawn_controller(&b, &wish, &keeper);
		shaped = everything(&b);
		CHECK(strcmp(shaped, before) && strstr(shaped, "ifb-nl"));
		CHECK(kill(controller, SIGKILL) == 0);
		took_ns = until_back(&b, before);
		printf("# back after %.0f ms\n", (double)took_ns / MS);
		CHECK(took_ns < 2 * NS_PER_S);
		waitpid(controller, NULL, 0);
		free(shaped);
		free(before);
	}
	close_bench(&b);
}

static void test_a_killed_controller(void **state)
{
	run(kill_controllers);
}

/* The program puts back what a killed keeper cannot, and says so. */
static void kill_keeper(void)
{
	const struct link_profile link = {.direction = {usual, usual}};
	const struct shaping_wish wish = {&link, true, false, {0}};
	pid_t keeper, controller;
	char *before, *after;
	struct bench b;
	int status;

	open_bench(&b);
	before = everything(&b);
	controller = spawn_controller(&b, &wish, &keeper);
	CHECK(kill(keeper, SIGTERM) == 0 && kill(keeper, SIGINT) == 0); /* not its to heed */
	poll(NULL, 0, 50);
	CHECK(kill(keeper, SIGKILL) == 0);
	CHECK(waitpid(controller, &status, 0) == controller);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_MACHINE);
	after = everything(&b);
	check_same(after, before);
	free(before);
	free(after);
	close_bench(&b);
}

static void test_a_killed_keeper(void **state)
{
	run(kill_keeper);
}

static void end_by_lease(void)
{
	const struct link_profile link = {.direction = {usual, usual}};
	const struct shaping_wish wish = {&link, false, false, {0}};
	struct error err = {0};
	struct keeper_job job;
	struct keeper k;
	struct bench b;
	char *before, *after;

	open_bench(&b);
	before = everything(&b);
	plan(&b, &wish, "card");
	job = (struct keeper_job){&b.shaping, &b.saved, clock_now_ns() + 300 * MS, -1};
	CHECK_OK(owner_take(&job.owner_fd, b.shaping.device.index, "card", &err), err);
	CHECK_OK(keeper_start(&k, &job, &err), err);
	CHECK_OK(shaping_apply(&b.shaping, b.sock, &err), err);
	after = everything(&b);
	CHECK(strcmp(after, before));
	free(after);
	/* nobody asks for it: the program could hang */
	CHECK(poll(&(struct pollfd){.fd = k.fd, .events = POLLIN}, 1, 5000) == 1);
	after = everything(&b);
	check_same(after, before);
	CHECK_OK(keeper_end(&k, &err), err);
	free(before);
	free(after);
	close_bench(&b);
}

static void test_the_lease_ends(void **state)
{
	run(end_by_lease);
}

static void refuse_second(void)
{
	const struct link_profile link = {.direction = {usual, usual}};
	const struct shaping_wish wish = {&link, false, false, {0}};
	pid_t keeper, controller;
	struct error err = {0};
	char pid[32];
	struct bench b;
	int fd = -1, index;

	open_bench(&b);
	CHECK_OK(rtnl_device_index("card", &index, &err), err);
	CHECK(owner_pid(index) == 0);
	controller = spawn_controller(&b, &wish, &keeper);
	for (int i = 0; i < 200; i++) /* more than may wait for an answer */
		CHECK(owner_pid(index) == controller);
	CHECK(owner_take(&fd, index, "card", &err) == -EBUSY);
	snprintf(pid, sizeof pid, "by process %d;", (int)controller);
	CHECK(err.status == STATUS_MACHINE && strstr(err.text, pid));
	kill(controller, SIGKILL);
	waitpid(controller, NULL, 0);
	for (int i = 0; i < 200 && owner_pid(index); i++)
		poll(NULL, 0, 10);
	err = (struct error){0};
	CHECK_OK(owner_take(&fd, index, "card", &err), err);
	close_bench(&b);
}

static void test_a_second_controller(void **state)
{
	run(refuse_second);
}

static void lose_device(void)
{
	const struct link_profile link = {.direction = {usual, usual}};
	const struct shaping_wish wish = {&link, true, false, {0}};
	struct error err = {0};
	struct bench b;

	open_bench(&b);
	command("ip link add lost type dummy");
	command("ip link set lost up");
	apply(&b, &wish, "lost");
	command("ip link del lost");
	CHECK(shaping_verify(&b.shaping, b.sock, &err) == -ENODEV);
	CHECK(err.status == STATUS_MACHINE && strstr(err.text, "lost has gone"));
	CHECK(strstr(err.text, "No such device"));
	CHECK(if_nametoindex(b.shaping.ifb));
	put_back(&b);
	CHECK(!if_nametoindex(b.shaping.ifb));
	/* before anything was set, and in between */
	command("ip link add lost type dummy");
	plan(&b, &wish, "lost");
	command("ip link del lost");
	err = (struct error){0};
	CHECK(shaping_apply(&b.shaping, b.sock, &err) == -ENODEV);
	CHECK(strstr(err.text, "lost has gone"));
	put_back(&b);
	close_bench(&b);
}

static void test_a_device_that_goes(void **state)
{
	run(lose_device);
}

/* Somebody else's hands: a change is found, and what they set is not thrown away. */
static void meddle(void)
{
	const struct link_profile link = {.direction = {usual, usual}};
	const struct shaping_wish wish = {&link, false, false, {0}};
	struct error err = {0};
	struct bench b;
	char *after;

	open_bench(&b);
	apply(&b, &wish, "card");
	command("tc qdisc change dev card root handle 1: netem delay 21ms limit 2147483647");
	CHECK(shaping_verify(&b.shaping, b.sock, &err) < 0);
	CHECK(strstr(err.text, "delay: asked 20000000 ns, the kernel has 21000000 ns"));
	command("tc qdisc replace dev card root handle 9: pfifo limit 3");
	err = (struct error){0};
	CHECK(shaping_verify(&b.shaping, b.sock, &err) < 0);
	CHECK(strstr(err.text, "somebody has replaced the netem on card by pfifo"));
	err = (struct error){0};
	CHECK(saved_put_back(&b.saved, &b.shaping, b.sock, &err) < 0);
	CHECK(strstr(err.text, "somebody has set a pfifo on card meanwhile"));
	after = everything(&b);
	CHECK(strstr(after, "card pfifo 90000:") && !strstr(after, "gso 1\n"));
	free(after);
	close_bench(&b);
}

static void test_others_change_it(void **state)
{
	run(meddle);
}

static void check_refused(struct bench *b, bool incoming, const char *why)
{
	const struct link_profile link = {.direction = {usual, usual}};
	const struct shaping_wish wish = {&link, incoming, false, {0}};
	const struct device *d;
	struct error err = {0};
	struct view v;

	CHECK_OK(view_read(&v, b->sock, &err), err);
	CHECK_OK(devices_named(&d, &v.devices, "card", &err), err);
	shaping_plan(&b->shaping, &wish, d, &v);
	CHECK(saved_take(&b->saved, &b->shaping, &v, b->sock, &err) < 0);
	if (err.status != STATUS_MACHINE || !strstr(err.text, why))
		fprintf(stderr, "%s, not: %s\n", err.text, why);
	CHECK(err.status == STATUS_MACHINE && strstr(err.text, why));
	view_release(&v);
}

/* What could not be put back is not thrown away; clear removes it. */
static void refuse_and_clear(void)
{
	char removed[LEFTOVER_TEXT];
	const struct device *d;
	struct error err = {0};
	struct bench b;
	struct view v;
	char *before, *after;

	open_bench(&b);
	before = everything(&b);
	command("tc qdisc add dev card root handle 5: htb default 1");
	command("tc class add dev card parent 5: classid 5:1 htb rate 1mbit");
	check_refused(&b, false, "card has htb 5:, whose classes could not be put back");
	command("tc qdisc replace dev card root handle 6: prio");
	command("tc filter add dev card parent 6: protocol ip prio 1 u32 match u32 0 0 flowid 6:1");
	check_refused(&b, false, "card has prio 6:, whose filters could not be put back");
	command("ip link add ifb-nl%d type ifb", b.shaping.device.index);
	check_refused(&b, true, "narrowlink clear card removes it");
	command("tc qdisc add dev card ingress");
	command("tc filter add dev card parent ffff: protocol all prio 1 u32 match u32 0 0 action "
		"mirred egress redirect dev ifb-nl%d",
		b.shaping.device.index);
	command("ip link set card gso_max_segs 1");
	CHECK_OK(view_read(&v, b.sock, &err), err);
	CHECK_OK(devices_named(&d, &v.devices, "card", &err), err);
	CHECK_OK(leftover_remove(removed, &v, d, b.sock, &err), err);
	CHECK(strstr(removed, "what comes in by ifb-nl") && strstr(removed, "prio 6:"));
	view_release(&v);
	after = everything(&b);
	CHECK(!strstr(after, "prio") && !strstr(after, "ifb-nl") && !strstr(after, "gso 1\n"));
	command("tc qdisc add dev card clsact");
	check_refused(&b, true, "tc qdisc del dev card clsact");
	free(before);
	free(after);
	close_bench(&b);
}

static void test_what_cannot_be_put_back(void **state)
{
	run(refuse_and_clear);
}

static void find_routes(void)
{
	char text[CARRIES_TEXT];
	struct devices all;
	struct error err = {0};
	struct bench b;
	const struct device *card, *alone;

	open_bench(&b);
	command("ip link add alone type dummy");
	CHECK_OK(devices_read(&all, b.sock, &err), err);
	CHECK_OK(devices_named(&card, &all, "card", &err), err);
	unsetenv("SSH_CONNECTION");
	CHECK_OK(carries_what(text, &all, card, b.sock, &err), err);
	CHECK(!strstr(text, "default route"));
	setenv("SSH_CONNECTION", "10.0.1.2 4711 10.0.1.1 22", 1);
	CHECK_OK(carries_what(text, &all, card, b.sock, &err), err);
	CHECK(!strcmp(text, "your SSH session from 10.0.1.2"));
	command("ip route add default dev card");
	CHECK_OK(carries_what(text, &all, card, b.sock, &err), err);
	CHECK(!strcmp(text, "the default route and your SSH session from 10.0.1.2"));
	CHECK_OK(devices_named(&alone, &all, "alone", &err), err);
	CHECK_OK(carries_what(text, &all, alone, b.sock, &err), err);
	CHECK(!*text);
	devices_release(&all);
	close_bench(&b);
}

static void test_what_a_device_carries(void **state)
{
	run(find_routes);
}

/* The bridge's and the VLAN's traffic passes the cards below. */
static void test_devices_on_devices(void **state)
{
	struct device list[] = {{.index = 1, .name = "lo"},
		{.index = 2, .name = "eth0", .master = 4}, {.index = 3, .name = "eth1"},
		{.index = 4, .name = "br0"}, {.index = 5, .name = "br0.7", .below = 4},
		{.index = 6, .name = "a", .below = 7}, {.index = 7, .name = "b", .below = 6}};
	const struct devices all = {sizeof list / sizeof *list, list};

	assert_true(carries_through(&all, 2, 2));
	assert_true(carries_through(&all, 4, 2));
	assert_true(carries_through(&all, 5, 2));
	assert_false(carries_through(&all, 5, 3));
	assert_false(carries_through(&all, 2, 4));
	assert_false(carries_through(&all, 6, 3)); /* a circle */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices_on_devices),
		cmocka_unit_test(test_what_is_set_is_told),
		cmocka_unit_test(test_commands_do_the_same),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_changes_lose_nothing),
		cmocka_unit_test(test_a_killed_controller),
		cmocka_unit_test(test_a_killed_keeper),
		cmocka_unit_test(test_the_lease_ends),
		cmocka_unit_test(test_a_second_controller),
		cmocka_unit_test(test_a_device_that_goes),
		cmocka_unit_test(test_others_change_it),
		cmocka_unit_test(test_what_cannot_be_put_back),
		cmocka_unit_test(test_what_a_device_carries),
	};

	return cmocka_run_group_tests_name("card", tests, NULL, NULL);
}
