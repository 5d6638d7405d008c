/* Signals through a descriptor; see signals.h. */
#include "bench/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool signals_ignored(int signal)
{
	struct sigaction now;

	return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void set_of_them(sigset_t *set)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (!signals_ignored(ends[i]))
			sigaddset(set, ends[i]);
}

int signals_take(struct error *err)
{
	sigset_t set;
	int fd;

	set_of_them(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd >= 0 ? fd : error_sys(err, -errno, "signalfd");
}

void signals_give_back(int fd)
{
	struct signalfd_siginfo taken;
	sigset_t set;

	if (fd < 0)
		return;
	while (read(fd, &taken, sizeof taken) > 0)
		;
	close(fd);
	set_of_them(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
