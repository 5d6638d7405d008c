/*
 * Real links, measured; and links that are not what they say. Those are the relay with a plan that
 * differs from the one the calibration holds it against.
 */
#include <cap-ng.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "emu/measure/calibrate.h"
#include "emu/measure/capture.h"
#include "tests/emu/namespaces.h"

#define TRIES 3

static double rate_factor, extra_loss;

static int wrong_up(struct backend_run **out, const struct topology *t,
	const struct link_plan *plan, struct error *err)
{
	static struct link_plan wrong; /* the relay's until down */

	wrong = *plan;
	for (int i = 0; i < t->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++) {
			struct link_state *s = &wrong.links[i][d].base;

			s->rate_bps = (int64_t)((double)s->rate_bps * rate_factor);
			s->loss += extra_loss;
		}
	return backend_relay.up(out, t, &wrong, err);
}

/* Two sites at 5 Mbit/s, 5 ms each way, a queue of 300 ms: slow enough for a busy machine. */
static void make_plan(struct link_plan *plan)
{
	plan->seed = 3;
	plan->dilation = 1;
	for (int i = 0; i < 2; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			plan->links[i][d] = (struct link_direction){
				.base = {.rate_bps = 5000000,
					.queue_bytes = 187500,
					.delay_ns = 2500000},
				.queue_ns = 300 * NS_PER_MS,
				.overhead_bytes = 14,
			};
}

static const struct topology_tcp tcp = {
	.receive_buffer = 1 << 20, .send_buffer = 1 << 20, .slow_start_after_idle = true};

static void measure(struct calibration *c, const struct calibrate_effort *effort, bool flows,
	double rate, double loss)
{
	static struct link_plan plan;
	struct backend wrong = backend_relay;
	struct calibrate_setup setup = {.backend = &wrong,
		.plan = &plan,
		.effort = effort,
		.n_sites = 2,
		.names = {"one", "two"},
		.n_ways = 1,
		.ways = {{0, 1, flows}}};
	struct error err = {0};

	isolate_or_skip();
	if (backend_relay.probe(&err) < 0)
		exit(SKIP);
	rate_factor = rate;
	extra_loss = loss;
	wrong.up = wrong_up;
	make_plan(&plan);
	CHECK_OK(calibrate(c, &setup, &err), err);
}

static const struct check *find(const struct calibration *c, enum check_kind kind, int from)
{
	for (size_t i = 0; i < c->n_checks; i++)
		if (c->checks[i].kind == kind && c->checks[i].from == from)
			return &c->checks[i];
	fprintf(stderr, "no check %s of site %d\n", check_name(kind), from);
	exit(1);
}

static void print(const struct calibration *c)
{
	for (size_t i = 0; i < c->n_checks; i++)
		fprintf(stderr, "# %d>%d %s: %g, want %g: %s %s\n", c->checks[i].from,
			c->checks[i].to, check_name(c->checks[i].kind), c->checks[i].got,
			c->checks[i].want, check_result_name(c->checks[i].result),
			c->checks[i].why);
}

/*
 * What does not hang on how busy the machine is: nothing is lost or out of order, nothing is there
 * too early, and a rate is never above the link's. A late probe, a slow sender may be.
 */
static void true_link(void)
{
	struct calibration c;

	measure(&c, &calibrate_usual, true, 1, 0);
	print(&c);
	for (int from = 0; from < 2; from++) {
		CHECK(find(&c, CHECK_LOSS, from)->result == CHECK_HOLDS);
		CHECK(find(&c, CHECK_REORDER, from)->result == CHECK_HOLDS);
		CHECK(find(&c, CHECK_DELAY, from)->min >= .005);
		CHECK(find(&c, CHECK_RATE_UDP, from)->result != CHECK_OFF);
		CHECK(find(&c, CHECK_RATE_TCP, from)->result != CHECK_OFF);
	}
	CHECK(find(&c, CHECK_RTT, 0)->min >= .010);
	CHECK(c.n_samples > 1000);
	calibration_release(&c);
}

/* Unmeasured only where the machine kept the sender from filling the queue, or stood still. */
static void slow_link(void)
{
	enum check_result result = CHECK_UNKNOWN;
	struct calibration c;

	for (int i = 0; i < TRIES && result == CHECK_UNKNOWN; i++) {
		measure(&c, &calibrate_brief, true, .97, 0);
		print(&c);
		result = find(&c, CHECK_RATE_UDP, 0)->result;
		calibration_release(&c);
	}
	if (result == CHECK_UNKNOWN)
		exit(SKIP);
	CHECK(result == CHECK_OFF);
}

/* 0.2 % over both links, 3800 probes: that none is lost has probability 5e-4, and the seed is
 * fixed. */
static void lossy_link(void)
{
	struct calibration c;

	measure(&c, &calibrate_usual, false, 1, .001);
	print(&c);
	CHECK(find(&c, CHECK_LOSS, 0)->result == CHECK_OFF);
	CHECK(find(&c, CHECK_LOSS, 1)->result == CHECK_OFF);
	calibration_release(&c);
}

static const struct flow_spec small_flow = {.from = 0,
	.to = 1,
	.port = 5201,
	.streams = 1,
	.measure_ns = NS_PER_S,
	.patience_ns = NS_PER_S};

/* One line; nothing is left. */
static void port_in_use(void)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(5201)};
	struct error err = {0};
	struct topology *t;
	struct flow f;
	int fd;

	isolate_or_skip();
	t = up(2, &tcp);
	CHECK_OK(topology_enter(t, 1, &err), err);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(fd, (struct sockaddr *)&own, sizeof own) == 0 && listen(fd, 1) == 0);
	CHECK_OK(topology_leave(t, &err), err);
	CHECK(flow_start(&f, t, &small_flow, &err) == -EADDRINUSE);
	CHECK(err.status == STATUS_MACHINE && !strchr(err.text, '\n'));
	CHECK(strstr(err.text, "port 5201 of site site1 is in use"));
	close(fd);
	topology_down(t);
}

/* Without links nobody is reached; the library says so. */
static void nobody_there(void)
{
	struct flow_result result;
	struct error err = {0};
	struct topology *t;
	struct flow f;

	isolate_or_skip();
	t = up(2, &tcp);
	CHECK_OK(topology_enter(t, 1, &err), err);
	CHECK(system("ip address add 198.18.0.2/32 dev lo") == 0);
	CHECK_OK(topology_leave(t, &err), err);
	CHECK_OK(flow_start(&f, t, &small_flow, &err), err);
	CHECK(flow_finish(&f, &result, &err) < 0);
	fprintf(stderr, "# %s\n", err.text);
	CHECK(err.status == STATUS_MACHINE && !strchr(err.text, '\n'));
	CHECK(strstr(err.text, "the sending libiperf"));
	topology_down(t);
}

static void child_killed(void)
{
	struct flow_result result;
	struct error err = {0};
	struct topology *t;
	struct flow f;

	isolate_or_skip();
	t = up(2, &tcp);
	CHECK_OK(topology_enter(t, 1, &err), err);
	CHECK(system("ip address add 198.18.0.2/32 dev lo") == 0);
	CHECK_OK(topology_leave(t, &err), err);
	CHECK_OK(flow_start(&f, t, &small_flow, &err), err);
	kill(f.client.pid, SIGKILL);
	CHECK(flow_finish(&f, &result, &err) == -ECHILD);
	fprintf(stderr, "# %s\n", err.text);
	CHECK(strstr(err.text, "killed by signal 9") || strstr(err.text, "failed"));
	CHECK(f.server.pid == 0);
	topology_down(t);
}

/* A site without a device: the capture says so in a line, and leaves nothing behind. */
static void nothing_to_capture(void)
{
	char dir[] = "/tmp/narrowlink-capture-XXXXXX";
	struct capture_spec spec = {.dir = dir, .sites = {true}, .snaplen = 96, .dilation = 1};
	struct capture *c = NULL;
	struct error err = {0};
	struct topology *t;
	int files;

	isolate_or_skip();
	CHECK(mkdtemp(dir));
	t = up(1, &tcp);
	files = open_files();
	CHECK(capture_start(&c, t, &spec, &err) < 0);
	fprintf(stderr, "# %s\n", err.text);
	CHECK(!c && err.status == STATUS_MACHINE && !strchr(err.text, '\n'));
	CHECK(strstr(err.text, "the capture at site0"));
	CHECK(open_files() == files);
	CHECK(rmdir(dir) == 0);
	topology_down(t);
}

static void without_capture_rights(void)
{
	char dir[] = "/tmp/narrowlink-capture-XXXXXX";
	struct capture_spec spec = {.dir = dir, .sites = {true}, .snaplen = 96, .dilation = 1};
	struct capture *c = NULL;
	struct error err = {0};
	struct topology *t;

	isolate_or_skip();
	CHECK(mkdtemp(dir));
	t = up(1, &tcp);
	capng_get_caps_process();
	capng_update(CAPNG_DROP, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_RAW);
	CHECK(capng_apply(CAPNG_SELECT_CAPS) == 0);
	CHECK(capture_start(&c, t, &spec, &err) < 0);
	fprintf(stderr, "# %s\n", err.text);
	CHECK(!c && err.status == STATUS_MACHINE && !strchr(err.text, '\n'));
	CHECK(strstr(err.text, "permission"));
	CHECK(rmdir(dir) == 0);
	topology_down(t);
}

#define TEST(name)                                                                                 \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		run(name);                                                                         \
	}
TEST(true_link)
TEST(slow_link)
TEST(lossy_link)
TEST(port_in_use)
TEST(nobody_there)
TEST(child_killed)
TEST(nothing_to_capture)
TEST(without_capture_rights)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_true_link),
		cmocka_unit_test(test_slow_link),
		cmocka_unit_test(test_lossy_link),
		cmocka_unit_test(test_port_in_use),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_child_killed),
		cmocka_unit_test(test_nothing_to_capture),
		cmocka_unit_test(test_without_capture_rights),
	};

	return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
