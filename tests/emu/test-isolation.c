/*
 * Sites: that nothing of them remains, what an agent may still do, and machines that do not
 * permit them. Namespaces are counted through other processes' /proc entries (inode numbers of
 * the kernel's namespace files), not through the code under test.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include "tests/emu/namespaces.h"

/* --- a machine that does not permit -------------------------------------------------------- */

/* As in a container: /proc/sys cannot be written. */
static void read_only_settings(void)
{
	const char *names[] = {"a"};
	struct topology *t = NULL;
	struct error err = {0};

	isolate_or_skip();
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL) ||
		mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL))
		exit(SKIP);
	CHECK(topology_up(&t, 1, names, &plain, &err) == -EROFS);
	CHECK(!t && err.status == STATUS_MACHINE);
	CHECK(strstr(err.text, "/proc/sys/net/ipv4/tcp_rmem") && strstr(err.text, "container"));
}

static void settings_not_writable(void **state)
{
	run(read_only_settings);
}

/* The limit is per user namespace: three sites where two are permitted. */
static void few_namespaces(void)
{
	const char *names[] = {"a", "b", "c"};
	struct topology *t = NULL;
	struct error err = {0};
	_close_ int fd = -1;
	int files;

	become_nobody();
	isolate_or_skip();
	fd = open("/proc/sys/user/max_net_namespaces", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "3", 1) != 1)
		exit(SKIP);
	files = open_files();
	CHECK(topology_up(&t, 3, names, &plain, &err) == -ENOSPC);
	CHECK(!t && err.status == STATUS_MACHINE && open_files() == files);
	CHECK(strstr(err.text, "site c") && strstr(err.text, "user.max_net_namespaces"));
}

static void too_few_namespaces(void **state)
{
	run(few_namespaces);
}

/* --- nothing remains ---------------------------------------------------------------------- */

/* How many processes are in the network namespace. */
static int count_in_proc(ino_t inode)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	char path[320];
	int n = 0;

	assert_non_null(proc);
	while ((e = readdir(proc))) {
		snprintf(path, sizeof path, "/proc/%s/ns/net", e->d_name);
		n += namespace_inode(path) == inode;
	}
	closedir(proc);
	return n;
}

static int netns_entries(void)
{
	DIR *dir = opendir("/run/netns");
	int n = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int device_count(void)
{
	struct if_nameindex *all = if_nameindex(), *i;
	int n = 0;

	for (i = all; i && i->if_index; i++)
		n++;
	if_freenameindex(all);
	return n;
}

/* A child builds 8 sites, stays in the last, and is killed. */
static void killed(void **state)
{
	int entries = netns_entries(), devices = device_count(), pipefd[2];
	ino_t inodes[8] = {0};
	pid_t pid;

	assert_int_equal(pipe2(pipefd, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct error err = {0};
		struct topology *t;

		isolate_or_skip();
		t = up(8, &plain);
		for (int i = 0; i < 8; i++) {
			CHECK_OK(topology_enter(t, i, &err), err);
			inodes[i] = namespace_inode("/proc/self/ns/net");
		}
		CHECK(write(pipefd[1], inodes, sizeof inodes) == sizeof inodes);
		pause();
	}
	close(pipefd[1]);
	if (read(pipefd[0], inodes, sizeof inodes) != sizeof inodes) {
		close(pipefd[0]);
		waitpid(pid, NULL, 0);
		skip();
	}
	close(pipefd[0]);
	assert_int_equal(count_in_proc(inodes[7]), 1); /* the count can find one */
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 8; i++)
		assert_int_equal(count_in_proc(inodes[i]), 0);
	assert_int_equal(netns_entries(), entries);
	assert_int_equal(device_count(), devices);
}

/* --- rights ------------------------------------------------------------------------------- */

static bool status_field_is_zero(const char *field)
{
	_fclose_ FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	CHECK(f);
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, field, strlen(field)))
			return !strtoull(line + strlen(field), NULL, 16);
	return false;
}

static void capabilities_gone(void)
{
	struct error err = {0};
	struct topology *t;

	isolate_or_skip();
	t = up(1, &plain);
	CHECK_OK(topology_enter(t, 0, &err), err);
	CHECK(!status_field_is_zero("CapEff:"));
	CHECK_OK(topology_drop_capabilities(&err), err);
	CHECK(status_field_is_zero("CapInh:") && status_field_is_zero("CapPrm:") &&
		status_field_is_zero("CapEff:") && status_field_is_zero("CapBnd:") &&
		status_field_is_zero("CapAmb:"));
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	CHECK(sethostname("other", 5) < 0 && errno == EPERM);
	CHECK(unshare(CLONE_NEWNET) < 0 && errno == EPERM);
	CHECK(topology_leave(t, &err) < 0 && err.status == STATUS_MACHINE);
	/* a program it starts has none either */
	CHECK(!system("grep -q 'CapEff:.*0000000000000000' /proc/self/status"));
	topology_down(t);
}

static void drops_capabilities(void **state)
{
	run(capabilities_gone);
}

/* Without a capability to drop the bounding set with, the failure is told. */
static void drop_refused(void)
{
	struct error err = {0};

	become_nobody();
	CHECK(topology_drop_capabilities(&err) < 0 && err.status == STATUS_MACHINE);
}

static void drop_not_permitted(void **state)
{
	run(drop_refused);
}

static void as_nobody(void)
{
	struct error err = {0};
	struct topology *t;
	unsigned inside = 1, outside = 0;
	_fclose_ FILE *map = NULL;
	uid_t uid;

	become_nobody();
	uid = geteuid();
	isolate_or_skip();
	CHECK(!geteuid());
	map = fopen("/proc/self/uid_map", "re");
	CHECK(map && fscanf(map, "%u %u", &inside, &outside) == 2);
	CHECK(inside == 0 && outside == uid);
	t = up(3, &plain);
	CHECK_OK(topology_enter(t, 2, &err), err);
	CHECK(sysctl_is("ipv4/tcp_rmem", "4096\t12345678\t12345678"));
	CHECK_OK(topology_drop_capabilities(&err), err);
	CHECK(status_field_is_zero("CapBnd:"));
	topology_down(t);
}

static void unprivileged(void **state)
{
	run(as_nobody);
}

/* The limit of user namespaces is per user namespace: in one with none left, the error says so. */
static void no_user_namespaces(void)
{
	struct error err = {0};
	_close_ int fd = -1;

	isolate_or_skip();
	if (unshare(CLONE_NEWUSER) < 0)
		exit(SKIP);
	fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		exit(SKIP);
	CHECK_OK(topology_drop_capabilities(&err), err);
	CHECK(topology_isolate(&err) < 0);
	CHECK(err.status == STATUS_MACHINE);
	CHECK(strstr(err.text, "run as root") && strstr(err.text, "user.max_user_namespaces"));
}

static void isolate_not_permitted(void **state)
{
	run(no_user_namespaces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_not_writable),
		cmocka_unit_test(too_few_namespaces),
		cmocka_unit_test(killed),
		cmocka_unit_test(drops_capabilities),
		cmocka_unit_test(drop_not_permitted),
		cmocka_unit_test(unprivileged),
		cmocka_unit_test(isolate_not_permitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
