/*
 * From the controller's process to an agent's; see spawn.h.
 *
 * The child shares the parent's memory image but must share none of its power or its open
 * files: a TUN descriptor held by an agent would keep a link alive, the other end of another
 * agent's socket would hide that agent's death.
 */
#include "bench/live/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"

#define SOCKET_BUFFER (4 << 20)

static int die_with(pid_t parent, struct error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return error_sys(err, -errno, "cannot bind the agent to the program's life");
	return getppid() == parent ? 0 : error_set(err, -ESRCH, STATUS_MACHINE, "orphaned");
}

/* The terminal's signals are for the controller; it tells us to stop. */
static void set_signals(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE};
	sigset_t none;

	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* "nl:site-3", and "nl-sync:site-3" for a syncer; the kernel keeps 15 characters. */
static void set_name(const struct agent_setup *setup)
{
	bool learner = job_role(&setup->scenario->job, setup->self) == ROLE_LEARNER;
	char name[2 * SITE_NAME_MAX];

	snprintf(name, sizeof name, "%s:%s", learner ? "nl" : "nl-sync",
		setup->mesh.nodes[setup->self].name);
	name[strcspn(name, " ")] = '\0';
	prctl(PR_SET_NAME, name);
}

/* Closes all descriptors but the standard ones and these two. */
static int close_others(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	if ((low > 3 && close_range(3, low - 1, 0) < 0) ||
		(high > low + 1 && close_range(low + 1, high - 1, 0) < 0) ||
		close_range(high + 1, ~0U, 0) < 0)
		return -errno;
	return 0;
}

static int become_agent(
	struct agent_setup *setup, const struct topology *t, pid_t parent, struct error *err)
{
	const struct mesh_node *own = &setup->mesh.nodes[setup->self];
	int r = die_with(parent, err);

	set_signals();
	set_name(setup);
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (!r)
		r = topology_enter(t, own->site, err);
	if (!r)
		r = topology_drop_capabilities(err);
	if (!r)
		r = die_with(parent, err); /* a change of credentials may have cleared it */
	if (!r) {
		r = close_others(setup->control_fd, setup->mesh.pool_fd);
		if (r < 0)
			error_sys(err, r, "cannot close the program's files in the agent");
	}
	return r;
}

static _Noreturn void child(struct agent_setup *setup, const struct topology *t, pid_t parent)
{
	struct news news = {.kind = NEWS_FAILED};
	struct error err = {0};

	if (become_agent(setup, t, parent, &err) == 0)
		_exit(agent_run(setup));
	snprintf(news.text, sizeof news.text, "%s: %.400s", setup->mesh.nodes[setup->self].name,
		err.text);
	send(setup->control_fd, &news, sizeof news, MSG_NOSIGNAL);
	_exit(1);
}

/* Room for what an agent tells while the controller is busy; beyond wmem_max if permitted. */
static void enlarge(int fd)
{
	int size = SOCKET_BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

int spawn_agent(
	struct agent_setup *setup, const struct topology *t, pid_t *pid, int *fd, struct error *err)
{
	const char *name = setup->mesh.nodes[setup->self].name;
	pid_t parent = getpid(), p;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, -errno, "cannot create the socket pair of %s", name);
	enlarge(pair[1]);
	p = fork();
	if (p == 0) {
		setup->control_fd = pair[1];
		child(setup, t, parent);
	}
	r = -errno;
	close(pair[1]);
	if (p < 0) {
		close(pair[0]);
		return error_sys(err, r, "cannot start the agent of %s", name);
	}
	*pid = p;
	*fd = pair[0];
	return 0;
}
