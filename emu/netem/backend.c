/*
 * Backend `netem`: the kernel's own emulator, in gateways between the sites and the core. What
 * the kernel took is read back at every step; what it counts is what is told.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "emu/backend.h"
#include "emu/netem/follower.h"
#include "emu/netem/gateway.h"
#include "emu/netem/stage.h"

struct backend_run {
	const struct topology *topology;
	const struct link_plan *plan;
	int64_t core_ns[SITES_MAX];
	struct gateways gateways;
	struct follower_shared *shared;
	pid_t pid; /* the follower's; 0 when it has been reaped */
	int control_fd, status;
};

/*
 * What a real link needs, on a device that nobody uses: if the kernel takes this and gives it
 * back, it takes the rest.
 */
static int try_qdiscs(struct nl_sock *sock, int index, struct error *err)
{
	const struct link_state state = {
		.rate_bps = 40000000000, /* more than 32 bits of bytes/s */
		.queue_bytes = 1 << 26,
		.delay_ns = 300123456,
		.jitter_ns = 1234567,
		.burst_loss = .01,
		.burst_length = 10,
	};
	const struct qdisc_place place = {index, TC_H_ROOT, 0};
	struct stage s;
	int r;

	stage_make(&s, &state, LINK_OVERHEAD_WIRE, 0);
	r = qdisc_set_netem(sock, QDISC_ADD, &place, &s.netem, 0, err);
	if (r == 0)
		r = qdisc_delete(sock, &place, err);
	if (r == 0)
		r = qdisc_set_tbf(sock, QDISC_ADD, &place, &s.tbf, s.frame_overhead, err);
	return r;
}

static int try_all(struct error *err)
{
	struct nl_sock *sock = NULL;
	struct rtnl_veth_end ends[] = {{"try-0", -1}, {"try-1", -1}};
	_close_ int here = -1;
	int index, r = topology_isolate(err);

	if (r == 0)
		r = rtnl_open(&sock, err);
	if (r == 0)
		r = topology_here(&here, err);
	ends[0].netns_fd = ends[1].netns_fd = here;
	if (r == 0)
		r = rtnl_add_veth(sock, ends, err);
	if (r == 0)
		r = rtnl_device_index("try-0", &index, err);
	if (r == 0)
		r = try_qdiscs(sock, index, err);
	rtnl_close(sock);
	return r;
}

/* In a process of its own, since it moves into namespaces; they take everything with them. */
static int probe(struct error *err)
{
	struct error answer = {.status = STATUS_MACHINE, .text = "the probe for netem ended early"};
	int fds[2];
	pid_t pid;

	if (pipe(fds) < 0)
		return error_sys(err, -errno, "cannot probe for netem");
	pid = fork();
	if (pid == 0) {
		struct error own = {0};

		try_all(&own);
		_exit(write(fds[1], &own, sizeof own) != sizeof own);
	}
	cleanup_close(&fds[1]);
	if (pid > 0 && read(fds[0], &answer, sizeof answer) < 0)
		answer.status = STATUS_MACHINE;
	cleanup_close(&fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (answer.status != STATUS_HOLDS)
		return error_set(err, -ENOTSUP, answer.status, "%s", answer.text);
	return 0;
}

/* Any other site than this one. */
static int another(int site)
{
	return site == 0 ? 1 : 0;
}

/* From a site the core is equally far to all others: the delay is part of the site's own. */
static int suits(const struct link_plan *plan, int n_sites, struct error *err)
{
	for (int i = 0; i < n_sites; i++)
		for (int j = 0; j < n_sites; j++)
			if (j != i &&
				plan->core_delay_ns[i][j] != plan->core_delay_ns[i][another(i)])
				return error_set(err, -ENOTSUP, STATUS_INPUT,
					"engine netem: from site %d the core is not equally far to "
					"sites "
					"%d and %d; --engine relay can do that",
					i + 1, another(i) + 1, j + 1);
	return 0;
}

static int set_links(struct backend_run *run, struct error *err)
{
	struct link_state state;
	struct stage stage;
	int64_t until_ns;
	int r = 0;

	for (int i = 0; i < run->topology->n_sites; i++)
		for (enum direction d = UP; r == 0 && d < DIRECTIONS; d++) {
			const struct link_direction *link = &run->plan->links[i][d];

			link_at(link, d, -1, &state, &until_ns);
			stage_make(&stage, &state, link->overhead_bytes,
				d == UP ? run->core_ns[i] : 0);
			atomic_init(&run->shared->drops[i][d].cause, (int)stage_cause(&state));
			r = follower_apply(&run->gateways.site[i], d, &stage, NULL, err);
		}
	return r;
}

static int await_follower(struct backend_run *run, struct error *err)
{
	struct error answer = {.status = STATUS_MACHINE, .text = "the follower ended early"};

	if (recv(run->control_fd, &answer, sizeof answer, 0) < 0)
		return error_sys(err, -errno, "the follower does not answer");
	if (answer.status != STATUS_HOLDS)
		return error_set(err, -ENOTSUP, answer.status, "%s", answer.text);
	return 0;
}

static int fork_follower(struct backend_run *run, struct error *err)
{
	int fds[2];
	struct follower_job job = {
		.topology = run->topology,
		.plan = run->plan,
		.core_ns = run->core_ns,
		.gateways = &run->gateways,
		.shared = run->shared,
		.program = getpid(),
	};

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return error_sys(err, -errno, "cannot start the follower");
	run->control_fd = fds[0];
	run->pid = fork();
	if (run->pid == 0) {
		close(fds[0]);
		job.control_fd = fds[1];
		follower_main(&job);
		_exit(job.shared->err.status != STATUS_HOLDS);
	}
	cleanup_close(&fds[1]);
	if (run->pid > 0)
		return await_follower(run, err);
	run->pid = 0;
	return error_sys(err, -errno, "cannot start the follower");
}

static struct backend_run *down(struct backend_run *run)
{
	if (!run)
		return NULL;
	if (run->pid > 0) {
		kill(run->pid, SIGKILL);
		waitpid(run->pid, NULL, 0);
	}
	cleanup_close(&run->control_fd);
	gateways_close(&run->gateways);
	if (run->shared)
		munmap(run->shared, sizeof *run->shared);
	cleanup_free(&run);
	return NULL;
}

static int share_memory(struct backend_run *run, struct error *err)
{
	void *p = mmap(NULL, sizeof *run->shared, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return error_sys(err, -errno, "no memory for the links' statistics");
	run->shared = p;
	return 0;
}

static int up(struct backend_run **out, const struct topology *t, const struct link_plan *plan,
	struct error *err)
{
	struct backend_run *run = memory_zero(1, sizeof *run);
	int r;

	run->topology = t;
	run->plan = plan;
	run->control_fd = -1;
	run->gateways.core_fd = -1;
	for (int i = 0; i < t->n_sites; i++)
		run->core_ns[i] = plan->core_delay_ns[i][another(i)];
	r = suits(plan, t->n_sites, err);
	if (r == 0)
		r = share_memory(run, err);
	if (r == 0)
		r = gateways_open(&run->gateways, t, err);
	if (r == 0)
		r = set_links(run, err);
	if (r == 0)
		r = fork_follower(run, err);
	if (r < 0) {
		down(run);
		return r;
	}
	*out = run;
	return 0;
}

static void start(struct backend_run *run, int64_t t0_ns)
{
	if (send(run->control_fd, &t0_ns, sizeof t0_ns, MSG_NOSIGNAL) < 0)
		log_debug("netem: the follower does not hear: %s", strerror(errno));
}

static int verify(struct backend_run *run, struct error *err)
{
	const struct error *own = &run->shared->err;

	if (run->pid > 0 && waitpid(run->pid, &run->status, WNOHANG) == run->pid)
		run->pid = 0;
	if (run->pid > 0)
		return 0;
	if (WIFSIGNALED(run->status))
		return error_set(err, -ESRCH, STATUS_MACHINE,
			"the process that changes the links was killed by signal %d (%s)",
			WTERMSIG(run->status), strsignal(WTERMSIG(run->status)));
	return error_set(err, -ESRCH, STATUS_MACHINE, "the links could not be changed: %s",
		*own->text ? own->text : "the process for it has ended");
}

/* The kernel's counters of one direction, read one after the other. */
struct counted {
	struct rtnl_counters inlet;
	struct qdisc_counters queue, delay;
	uint64_t lost; /* by devices: no room between namespaces */
};

static int count(struct counted *c, const struct gateway *w, enum direction d, struct error *err)
{
	const struct qdisc_place queue = {w->queue[d].index, TC_H_ROOT, 0};
	const struct qdisc_place delay = {w->delay[d].index, TC_H_ROOT, 0};
	struct rtnl_counters hop;
	struct qdisc q;
	int r;

	*c = (struct counted){0};
	/* downstream first: nothing seems to arrive that was not sent */
	r = qdisc_read(w->delay[d].sock, &delay, &q, err);
	c->delay = q.counters;
	if (r == 0)
		r = qdisc_read(w->queue[d].sock, &queue, &q, err);
	c->queue = q.counters;
	if (r == 0)
		r = rtnl_read_counters(w->inlet[d].sock, w->inlet[d].index, &c->inlet, err);
	for (int i = 0; r == 0 && i < 3; i++) {
		r = rtnl_read_counters(w->hops[d][i].sock, w->hops[d][i].index, &hop, err);
		c->lost += r == 0 ? hop.tx_dropped : 0;
	}
	return r;
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Netem counts its drops as one, and not their bytes: those are split as the packets are. */
static void count_losses(struct link_stats *s, const struct counted *c,
	const struct follower_drops *drops, uint64_t delay_backlog)
{
	uint64_t bytes = more(s->sent_bytes, s->delivered_bytes + delay_backlog);

	for (int cause = 0; cause < DROP_CAUSES; cause++)
		s->drop_segments[cause] = atomic_load(&drops->before[cause]);
	s->drop_segments[atomic_load(&drops->cause)] +=
		more(c->delay.drops, atomic_load(&drops->counted));
	for (int cause = 0; c->delay.drops && cause < DROP_CAUSES; cause++)
		s->drop_bytes[cause] = (uint64_t)((double)bytes * (double)s->drop_segments[cause] /
						  (double)c->delay.drops);
}

static void stats(const struct backend_run *run, int site, enum direction d, struct link_stats *out)
{
	const struct follower_drops *drops = &run->shared->drops[site][d];
	_Atomic uint64_t *high = &run->shared->queue_high[site][d];
	/* what a frame counts more than on its device, where there is no size table */
	uint64_t more_per_frame =
		(uint64_t)(run->plan->links[site][d].overhead_bytes - LINK_OVERHEAD_ETHERNET);
	struct error err = {0};
	struct counted c;

	memset(out, 0, sizeof *out);
	if (count(&c, &run->gateways.site[site], d, &err) < 0) {
		log_debug("netem: %s", err.text);
		return;
	}
	out->segments = c.queue.packets + c.queue.drops + c.queue.backlog_packets;
	out->packets = out->segments; /* super-packets are split before they come in */
	out->sent_segments = c.queue.packets;
	out->sent_bytes = c.queue.bytes;
	out->delivered_segments = c.delay.packets;
	out->delivered_bytes = c.delay.bytes + more_per_frame * c.delay.packets;
	count_losses(
		out, &c, drops, c.delay.backlog_bytes + more_per_frame * c.delay.backlog_packets);
	out->drop_segments[DROP_QUEUE] = c.queue.drops;
	/* what came in and is not in the queue any more; a few frames of the devices' own with it
	 */
	if (c.queue.drops)
		out->drop_bytes[DROP_QUEUE] =
			more(c.inlet.rx_bytes + more_per_frame * c.inlet.rx_packets,
				c.queue.bytes + c.queue.backlog_bytes);
	out->bytes = c.queue.bytes + c.queue.backlog_bytes + out->drop_bytes[DROP_QUEUE];
	out->drop_segments[DROP_MEMORY] = c.lost;
	if (c.queue.backlog_bytes > atomic_load(high))
		atomic_store(high, c.queue.backlog_bytes);
	out->queue_high_bytes = atomic_load(high);
}

/* The kernel carries the packets. */
static int pid(const struct backend_run *run)
{
	return 0;
}

const struct backend backend_netem = {
	.name = "netem",
	.probe = probe,
	.suits = suits,
	.up = up,
	.start = start,
	.stats = stats,
	.pid = pid,
	.verify = verify,
	.down = down,
};
