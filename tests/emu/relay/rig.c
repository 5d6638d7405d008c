/* The rig; see rig.h. */
#include "tests/emu/relay/rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

static void must(int r, const struct error *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "rig: %s\n", err->text);
	exit(1);
}

void rig_plan(struct link_plan *plan, int n_sites, const struct rig_link *link)
{
	plan->seed = 42;
	plan->dilation = 1;
	for (int i = 0; i < n_sites; i++) {
		for (enum direction d = UP; d < DIRECTIONS; d++)
			plan->links[i][d] = (struct link_direction){
				.base =
					{
						.rate_bps = link->rate_bps,
						.queue_bytes = link->queue_bytes,
						.delay_ns = link->delay_ns,
						.jitter_ns = link->jitter_ns,
						.loss = link->loss,
						.burst_loss = link->burst_loss,
						.burst_length = link->burst_length,
					},
				.queue_ns = link->queue_bytes ? 0
					    : link->queue_ns  ? link->queue_ns
							      : NS_PER_S,
				.overhead_bytes = LINK_OVERHEAD_ETHERNET,
			};
		for (int j = 0; j < n_sites; j++)
			plan->core_delay_ns[i][j] = link->core_ns;
	}
}

void rig_new(struct rig *rig, int n_sites, const struct rig_link *link)
{
	*rig = (struct rig){
		.backend = &backend_relay,
		.n_sites = n_sites,
		.plan = memory_zero(1, sizeof *rig->plan),
	};
	rig_plan(rig->plan, n_sites, link);
}

void rig_topology(struct rig *rig, const char *congestion, int64_t window_bytes)
{
	static bool isolated;
	struct topology_tcp tcp = {
		.receive_buffer = window_bytes ? 2 * window_bytes : 8 << 20,
		.send_buffer = window_bytes ? 2 * window_bytes : 8 << 20,
		.slow_start_after_idle = true,
	};
	char names[SITES_MAX][SITE_NAME_MAX];
	const char *list[SITES_MAX];
	struct error err = {0};

	snprintf(tcp.congestion, sizeof tcp.congestion, "%s", congestion);
	for (int i = 0; i < rig->n_sites; i++) {
		snprintf(names[i], sizeof names[i], "site-%d", i);
		list[i] = names[i];
	}
	if (!isolated)
		must(topology_isolate(&err), &err);
	isolated = true;
	must(topology_up(&rig->topology, rig->n_sites, list, &tcp, &err), &err);
}

void rig_up(struct rig *rig, const char *congestion, int64_t window_bytes)
{
	struct error err = {0};

	rig_topology(rig, congestion, window_bytes);
	must(rig->backend->up(&rig->run, rig->topology, rig->plan, &err), &err);
}

void rig_down(struct rig *rig)
{
	rig->run = rig->backend->down(rig->run);
	rig->topology = topology_down(rig->topology);
	cleanup_free(&rig->plan);
}

struct link_stats rig_stats(const struct rig *rig, int site, enum direction d)
{
	struct link_stats s;

	rig->backend->stats(rig->run, site, d, &s);
	return s;
}

int rig_socket(const struct rig *rig, int site, int family, int type, int protocol, int port)
{
	unsigned length;
	struct sockaddr_storage own = rig_address(site, family, port, &length);
	struct error err = {0};
	int fd;

	must(topology_enter(rig->topology, site, &err), &err);
	fd = socket(family, type | SOCK_CLOEXEC, protocol);
	if (fd < 0 || (port > 0 && bind(fd, (struct sockaddr *)&own, length) < 0))
		must(error_sys(&err, -errno, "socket in site %d", site), &err);
	must(topology_leave(rig->topology, &err), &err);
	return fd;
}

pid_t rig_spawn(const struct rig *rig, int site, void (*f)(void *), void *argument)
{
	struct error err = {0};
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(topology_enter(rig->topology, site, &err), &err);
	f(argument);
	_exit(0);
}

bool rig_wait(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void rig_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void *rig_share(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

struct sockaddr_storage rig_address(int site, int family, int port, unsigned *length)
{
	struct sockaddr_storage storage = {0};
	char text[64];

	if (family == AF_INET) {
		struct sockaddr_in *in = (struct sockaddr_in *)&storage;

		in->sin_family = AF_INET;
		in->sin_port = htons((uint16_t)port);
		in->sin_addr.s_addr = htonl(0xc6120000u + (unsigned)site + 1);
		*length = sizeof *in;
	} else {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;

		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)port);
		snprintf(text, sizeof text, "2001:2::%x", site + 1);
		inet_pton(AF_INET6, text, &in6->sin6_addr);
		*length = sizeof *in6;
	}
	return storage;
}
