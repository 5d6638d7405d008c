/* narrowlink clear: ends whoever shapes a device, or removes what was left there. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "bench/cli/command.h"
#include "emu/card/leftover.h"
#include "emu/card/owner.h"
#include "emu/rtnl.h"

static const char clear_help[] =
	"Ends the `narrowlink shape` that shapes DEV, which puts back what was there before. "
	"Where\n"
	"there is none, removes what was left: the qdisc that somebody set, and the redirection "
	"of\n"
	"incoming packets to an ifb; the kernel's own qdisc takes its place.\n\n"
	"Examples:\n"
	"  narrowlink clear eth1\n";

#define PATIENCE_NS (5 * NS_PER_S) /* putting back takes milliseconds */
#define LOOK_MS 10

static int end_owner(const char *device, int index, pid_t pid, struct error *err)
{
	int64_t until_ns = clock_now_ns() + PATIENCE_NS;

	if (pid < 0)
		return error_set(err, -ESRCH, STATUS_MACHINE,
			"%s is shaped by a process of another PID namespace; end it there", device);
	if (kill(pid, SIGTERM) < 0 && errno != ESRCH)
		return error_sys(
			err, -errno, "cannot end process %d, which shapes %s", (int)pid, device);
	while (owner_pid(index)) {
		if (clock_now_ns() > until_ns)
			return error_set(err, -ETIMEDOUT, STATUS_MACHINE,
				"process %d, which shapes %s, does not end; kill -9 %d is safe: "
				"what was there before comes back all the same",
				(int)pid, device, (int)pid);
		poll(NULL, 0, LOOK_MS);
	}
	printf("%s is as it was before; process %d has ended\n", device, (int)pid);
	return 0;
}

static int remove_leftovers(
	const struct view *v, const struct device *d, struct nl_sock *sock, struct error *err)
{
	char removed[LEFTOVER_TEXT];
	int r = leftover_remove(removed, v, d, sock, err);

	if (r == 0 && *removed)
		printf("%s is as the kernel has it; removed: %s\n", d->name, removed);
	else if (r == 0)
		printf("%s is as the kernel has it; nothing was set on it\n", d->name);
	return r;
}

static int clear(const char *name, struct error *err)
{
	struct nl_sock *sock = NULL;
	const struct device *d;
	struct view v = {0};
	pid_t pid;
	int r = rtnl_open(&sock, err);

	if (r == 0)
		r = view_read(&v, sock, err);
	if (r == 0)
		r = devices_named(&d, &v.devices, name, err);
	if (r == 0) {
		pid = owner_pid(d->index);
		r = pid ? end_owner(name, d->index, pid, err) : remove_leftovers(&v, d, sock, err);
	}
	view_release(&v);
	rtnl_close(sock);
	return r;
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	static const struct option options[] = {{0}};
	int c = getopt_long(argc, argv, ":", options, NULL);

	if (c != -1)
		return command_option(&command_clear, c, argv, err);
	if (optind != argc - 1)
		return command_usage(&command_clear, err, "it takes one device");
	return clear(argv[optind], err) < 0 ? err->status : STATUS_HOLDS;
}

const struct command command_clear = {
	.name = "clear",
	.arguments = "DEV",
	.summary = "End whoever shapes a network device, or remove what was left",
	.help = clear_help,
	.run = run,
};
