/*
 * Backend `relay`: a user-space link on TUN devices, for any kernel. The program makes a device
 * in each site's namespace and forks the relay, which alone keeps the devices open: they vanish
 * with it, and it with the program. Statistics and the scenario's time zero lie in shared memory.
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
#include "emu/relay/direction.h"
#include "emu/relay/loop.h"
#include "emu/relay/tun.h"

/*
 * Packets that a device holds until the relay reads them, as many as a sender may produce while
 * the relay does something else; the queue that the profile speaks of is behind it.
 */
#define TXQUEUELEN 50000

#define STILL_NS (3 * NS_PER_S)

struct backend_run {
	pid_t pid; /* 0 when it has been reaped */
	int control_fd, status;
	struct relay_shared *shared;
};

/* In a process of its own, since it moves into namespaces. */
static void probe_child(int fd)
{
	struct error err = {0};
	int tun_fd;

	if (topology_isolate(&err) == 0)
		tun_open(&tun_fd, SITE_DEVICE, &err);
	if (write(fd, &err, sizeof err) < 0)
		_exit(1);
	_exit(0);
}

static int probe(struct error *err)
{
	struct error answer = {0};
	_close_ int in = -1, out = -1;
	int fds[2];
	ssize_t n;
	pid_t pid;

	if (pipe(fds) < 0)
		return error_sys(err, -errno, "cannot probe for the relay");
	in = fds[0];
	out = fds[1];
	pid = fork();
	if (pid < 0)
		return error_sys(err, -errno, "cannot probe for the relay");
	if (pid == 0)
		probe_child(out);
	close(out);
	out = -1;
	n = read(in, &answer, sizeof answer);
	waitpid(pid, NULL, 0);
	if (n != sizeof answer)
		return error_set(err, -EIO, STATUS_MACHINE, "the probe for the relay ended early");
	if (answer.status != STATUS_HOLDS)
		return error_set(err, -ENOTSUP, answer.status, "%s", answer.text);
	return 0;
}

/* Whatever a profile can say. */
static int suits(const struct link_plan *plan, int n_sites, struct error *err)
{
	return 0;
}

static int make_device(const struct topology *t, const struct link_plan *plan, int site, int *fd,
	struct error *err)
{
	int left, r = topology_enter(t, site, err);
	double rate_bps; /* as told: bytes in flight are the same however slow the run is */

	if (r == 0)
		r = tun_open(fd, SITE_DEVICE, err);
	left = topology_leave(t, err);
	if (r < 0 || left < 0)
		return r < 0 ? r : left;
	rate_bps = (double)plan->links[site][UP].base.rate_bps * plan->dilation;
	return topology_attach(
		t, site, LINK_MTU, TXQUEUELEN, tun_gso_max_size((int64_t)rate_bps), err);
}

static int make_devices(struct relay_job *job, const struct topology *t, struct error *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < t->n_sites; i++)
		r = make_device(t, job->plan, i, &job->tun_fds[i], err);
	return r;
}

static int share_memory(struct relay_shared **out, struct error *err)
{
	struct relay_shared *s =
		mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return error_sys(err, -errno, "no memory for the relay's statistics");
	atomic_init(&s->epoch_ns, DIRECTION_NO_EPOCH);
	*out = s;
	return 0;
}

static int fork_relay(struct backend_run *run, struct relay_job *job, struct error *err)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return error_sys(err, -errno, "cannot start the relay");
	job->program = getpid();
	job->control_fd = fds[1];
	run->control_fd = fds[0];
	run->pid = fork();
	if (run->pid == 0) {
		relay_main(job);
		_exit(0);
	}
	cleanup_close(&fds[1]);
	if (run->pid < 0) {
		run->pid = 0;
		return error_sys(err, -errno, "cannot start the relay");
	}
	return 0;
}

static void describe_end(int status, struct error *err)
{
	if (WIFSIGNALED(status))
		error_set(err, 0, STATUS_MACHINE, "the relay was killed by signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		error_set(err, 0, STATUS_MACHINE, "the relay ended by itself with status %d",
			WEXITSTATUS(status));
}

/* A relay that is stopped or gets no processor carries nothing, and says so to nobody. */
static int verify_alive(const struct backend_run *run, struct error *err)
{
	int64_t alive_ns = atomic_load(&run->shared->alive_ns);
	int64_t still_ns = alive_ns ? clock_now_ns() - alive_ns : 0;

	if (still_ns < STILL_NS)
		return 0;
	return error_set(err, -ETIMEDOUT, STATUS_INVALID,
		"the relay has not moved for %.1f s: it was stopped, or this machine is too busy",
		(double)still_ns / NS_PER_S);
}

static int verify(struct backend_run *run, struct error *err)
{
	if (run->pid > 0 && waitpid(run->pid, &run->status, WNOHANG) == run->pid)
		run->pid = 0;
	if (run->pid > 0)
		return verify_alive(run, err);
	describe_end(run->status, err);
	return -ESRCH;
}

static int await_relay(struct backend_run *run, struct error *err)
{
	struct error answer;
	ssize_t n = recv(run->control_fd, &answer, sizeof answer, 0);

	if (n == (ssize_t)sizeof answer && answer.status == STATUS_HOLDS)
		return 0;
	if (n == (ssize_t)sizeof answer)
		return error_set(err, -ENOTSUP, answer.status, "%s", answer.text);
	waitpid(run->pid, &run->status, 0);
	run->pid = 0;
	describe_end(run->status, err);
	return -ESRCH;
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
	if (run->shared)
		munmap(run->shared, sizeof *run->shared);
	cleanup_free(&run);
	return NULL;
}

static int up(struct backend_run **out, const struct topology *t, const struct link_plan *plan,
	struct error *err)
{
	struct backend_run *run = memory_zero(1, sizeof *run);
	struct relay_job job = {.plan = plan, .n_sites = t->n_sites};
	int r;

	run->control_fd = -1;
	memset(job.tun_fds, -1, sizeof job.tun_fds);
	r = share_memory(&run->shared, err);
	job.shared = run->shared;
	if (r == 0)
		r = make_devices(&job, t, err);
	if (r == 0)
		r = fork_relay(run, &job, err);
	for (int i = 0; i < t->n_sites; i++)
		cleanup_close(&job.tun_fds[i]);
	if (r == 0)
		r = await_relay(run, err);
	if (r < 0) {
		down(run);
		return r;
	}
	*out = run;
	return 0;
}

static void start(struct backend_run *run, int64_t t0_ns)
{
	atomic_store(&run->shared->epoch_ns, t0_ns);
}

static void stats(const struct backend_run *run, int site, enum direction d, struct link_stats *out)
{
	struct tally_count count;
	int64_t at_ns = tally_read(&run->shared->tally, site, d, clock_now_ns, &count);

	memcpy(out, &run->shared->stats[site][d], sizeof *out);
	out->sent_bytes = count.sent_bytes;
	out->delivered_bytes = count.delivered_bytes;
	out->at_ns = at_ns;
}

static int pid(const struct backend_run *run)
{
	return run->pid;
}

const struct backend backend_relay = {
	.name = "relay",
	.probe = probe,
	.suits = suits,
	.up = up,
	.start = start,
	.stats = stats,
	.pid = pid,
	.verify = verify,
	.down = down,
};
