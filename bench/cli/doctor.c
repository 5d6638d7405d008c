/*
 * narrowlink doctor: what this kernel and user can do, and what to do about the rest.
 *
 * Each check is tried for real in a child process, since a version number or a capability bit
 * does not tell what a container's policy will say.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/units.h"
#include "bench/cli/command.h"
#include "bench/host.h"
#include "emu/backend.h"
#include "emu/measure/machine.h"

static const char doctor_help[] =
	"Options:\n"
	"  --json             as JSON\n\n"
	"Tells which engines work on this machine and for this user, and what to do about the\n"
	"rest; measures for a few seconds what the links here can carry. Exit status 0 if\n"
	"`narrowlink run` can work, 3 if not.\n";

enum finding_kind { FINDING_OK, FINDING_LIMITED, FINDING_MISSING };

struct finding {
	enum finding_kind kind;
	const char *name;
	char text[2048];     /* what was found and, when not ok, the remedy */
	json_t *limit_bytes; /* in JSON only; NULL where there is none to tell */
};

/* Runs `try` in a child; its error text, if it sets one, comes back through the pipe. */
static int in_child(int (*try)(struct error *err), struct error *err)
{
	struct error child = {0};
	int pipe_fd[2], status;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return error_sys(err, -errno, "pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int r = try(&child);

		if (write(pipe_fd[1], &child, sizeof child) < 0)
			_exit(1);
		_exit(r < 0);
	}
	close(pipe_fd[1]);
	if (pid > 0 && read(pipe_fd[0], &child, sizeof child) == sizeof child &&
		child.status != STATUS_HOLDS)
		error_set(err, -1, child.status, "%s", child.text);
	close(pipe_fd[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return error_sys(err, -errno, "fork");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

static int try_namespaces(struct error *err)
{
	return topology_isolate(err);
}

static int try_relay(struct error *err)
{
	int r = topology_isolate(err);

	return r < 0 ? r : backend_relay.probe(err);
}

static int try_netem(struct error *err)
{
	int r = topology_isolate(err);

	return r < 0 ? r : backend_netem.probe(err);
}

static int try_realtime(struct error *err)
{
	const struct sched_param one = {.sched_priority = 1};

	return sched_setscheduler(0, SCHED_FIFO, &one) < 0 ? error_sys(err, -errno, "SCHED_FIFO")
							   : 0;
}

static void find_kernel(struct finding *f)
{
	struct utsname u;

	uname(&u);
	f->name = "kernel";
	snprintf(f->text, sizeof f->text, "%s %s, %ld processors, running as %s", u.sysname,
		u.release, sysconf(_SC_NPROCESSORS_ONLN),
		geteuid() == 0 ? "root" : "an ordinary user");
}

static void find_tried(struct finding *f, const char *name, int (*try)(struct error *err),
	const char *ok, enum finding_kind otherwise, const char *consequence)
{
	struct error err = {0};

	f->name = name;
	if (in_child(try, &err) == 0) {
		snprintf(f->text, sizeof f->text, "%s", ok);
		return;
	}
	f->kind = otherwise;
	snprintf(f->text, sizeof f->text, "%.1024s%s", err.text[0] ? err.text : "not permitted",
		consequence);
}

static void find_congestion(struct finding *f)
{
	_fclose_ FILE *in = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");
	char line[512] = "";

	f->name = "congestion control";
	if (!in || !fgets(line, sizeof line, in)) {
		f->kind = FINDING_LIMITED;
		snprintf(
			f->text, sizeof f->text, "cannot be read; scenarios keep the kernel's own");
		return;
	}
	line[strcspn(line, "\n")] = '\0';
	snprintf(f->text, sizeof f->text, "%s", line);
}

/* Two sites' buffers for one link of 10 Gbit/s and 600 ms: 1.5 GB at least. */
#define TCP_MEMORY_WANTED INT64_C(3000000000)

static void find_tcp_memory(struct finding *f)
{
	int64_t limit = host_tcp_memory_limit();
	char text[32];

	f->name = "tcp memory";
	f->limit_bytes = limit < 0 ? json_null() : json_integer(limit);
	if (limit < 0) {
		f->kind = FINDING_LIMITED;
		snprintf(f->text, sizeof f->text,
			"cannot be seen from inside this network namespace; on the host: sysctl "
			"net.ipv4.tcp_mem");
		return;
	}
	quantity_format(text, sizeof text, QUANTITY_BYTES, limit, false);
	if (limit >= TCP_MEMORY_WANTED) {
		snprintf(f->text, sizeof f->text, "%s for all sites together", text);
		return;
	}
	f->kind = FINDING_LIMITED;
	snprintf(f->text, sizeof f->text,
		"%s for all sites together: with windows of hundreds of MB TCP drops what had "
		"arrived; raise net.ipv4.tcp_mem for links above 1 Gbit/s and 600 ms",
		text);
}

static bool in_path(const char *program)
{
	_free_ char *path = memory_string(getenv("PATH"));
	char *rest = NULL;

	for (char *dir = path ? strtok_r(path, ":", &rest) : NULL; dir;
		dir = strtok_r(NULL, ":", &rest)) {
		_free_ char *file = memory_format("%s/%s", dir, program);

		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static void find_gnuplot(struct finding *f)
{
	f->name = "gnuplot";
	if (in_path("gnuplot")) {
		snprintf(f->text, sizeof f->text, "there");
		return;
	}
	f->kind = FINDING_LIMITED;
	snprintf(f->text, sizeof f->text,
		"not found: runs work, but have no charts; apt-get install gnuplot-nox");
}

/* What one process can send through the links here, and how punctual they are. */
static int try_headroom(struct error *err)
{
	struct machine m;
	char rate[32];
	int r = topology_isolate(err);

	if (!r)
		r = machine_measure(&m, &backend_relay, NULL, err);
	if (r < 0)
		return r;
	quantity_format(rate, sizeof rate, QUANTITY_RATE, (int64_t)m.tcp_bps, false);
	error_set(err, 0, STATUS_MACHINE,
		"%s of TCP, %.0f packets/s, late by %.2f ms (99 %% within); `dilation: auto` goes "
		"by "
		"it",
		rate, m.packets_s, 1e3 * m.late_p99_s);
	return 0;
}

static void find_headroom(struct finding *f)
{
	struct error err = {0};

	f->name = "headroom";
	if (in_child(try_headroom, &err) < 0)
		f->kind = FINDING_LIMITED;
	snprintf(f->text, sizeof f->text, "%.1800s%s", err.text,
		f->kind == FINDING_OK ? "" : ": `dilation: auto` and calibration will not work");
}

#define N_FINDINGS 9

static void find_all(struct finding f[static N_FINDINGS])
{
	find_kernel(&f[0]);
	find_tried(&f[1], "namespaces", try_namespaces, "network and UTS namespaces can be made",
		FINDING_MISSING, "");
	find_tried(&f[2], "engine relay", try_relay, "works: user-space links on TUN devices",
		FINDING_MISSING, "");
	find_tried(&f[3], "engine netem", try_netem,
		"works: the kernel takes every attribute and gives it back", FINDING_LIMITED,
		"; runs use the relay");
	find_tried(&f[4], "real-time class", try_realtime, "the relay runs as SCHED_FIFO",
		FINDING_LIMITED,
		": the relay runs in the ordinary class and may be late when the machine is busy");
	find_congestion(&f[5]);
	find_tcp_memory(&f[6]);
	find_gnuplot(&f[7]);
	find_headroom(&f[8]);
}

static const char *kind_name(enum finding_kind kind)
{
	return kind == FINDING_OK ? "ok" : kind == FINDING_LIMITED ? "limited" : "missing";
}

static void print_json(const struct finding *f)
{
	json_t *all = json_array();

	for (int i = 0; i < N_FINDINGS; i++)
		json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:O*}", "name", f[i].name,
						   "status", kind_name(f[i].kind), "text",
						   f[i].text, "limit_bytes", f[i].limit_bytes));
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

/* Further lines of its text, the remedies, stand under the first. */
static void print_finding(const struct finding *f)
{
	printf("%-8s %-19s ", kind_name(f->kind), f->name);
	for (const char *c = f->text; *c; c++) {
		putchar(*c);
		if (*c == '\n')
			printf("%29s", "");
	}
	putchar('\n');
}

static enum exit_status run(int argc, char **argv, struct error *err)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	struct finding findings[N_FINDINGS] = {0};
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (c != 'j')
			return command_option(&command_doctor, c, argv, err);
		json = true;
	}
	if (optind != argc)
		return command_usage(&command_doctor, err, "it takes no arguments");
	find_all(findings);
	if (json)
		print_json(findings);
	for (int i = 0; i < N_FINDINGS && !json; i++)
		print_finding(&findings[i]);
	for (int i = 0; i < N_FINDINGS; i++)
		json_decref(findings[i].limit_bytes);
	for (int i = 0; i < N_FINDINGS; i++) {
		if (findings[i].kind == FINDING_MISSING)
			return STATUS_MACHINE;
	}
	return STATUS_HOLDS;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "",
	.summary = "Tell what this machine and user can do, and what to do about the rest",
	.help = doctor_help,
	.run = run,
};
