/*
 * Sites as anonymous namespaces.
 *
 * Every namespace is made by unshare() in the calling thread, set up from the inside, kept by
 * an open file of /proc/thread-self/ns, and left by setns() to home. The files are O_CLOEXEC
 * and nothing is mounted, so a namespace lives exactly as long as the program and the agents it
 * put there. /proc/sys/net shows the settings of the namespace that the reader is in: writing
 * there from the inside never touches the machine's.
 */
#include "emu/topology.h"

#include <arpa/inet.h>
#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "emu/rtnl.h"

#define BUFFER_MIN 4096

static int write_file(const char *path, const char *text)
{
	_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		return -errno;
	return (size_t)n == strlen(text) ? 0 : -EIO;
}

/* The file's first line without its newline; "" when it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
	_fclose_ FILE *f = fopen(path, "re");

	if (!f || !fgets(line, (int)size, f))
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static bool file_says(const char *path, const char *value)
{
	char line[64];

	read_line(path, line, sizeof line);
	return !strcmp(line, value);
}

/* What to change so that this user may create a user namespace. */
static const char *user_namespace_remedy(void)
{
	if (file_says("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		return "sysctl -w kernel.unprivileged_userns_clone=1";
	if (file_says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
		return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
	if (file_says("/proc/sys/user/max_user_namespaces", "0"))
		return "sysctl -w user.max_user_namespaces=10000";
	return "let the container or the security module permit user namespaces";
}

static int enter_user_namespace(struct error *err)
{
	char uid_map[64], gid_map[64];
	int r = 0;

	snprintf(uid_map, sizeof uid_map, "0 %u 1", geteuid());
	snprintf(gid_map, sizeof gid_map, "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER) < 0)
		r = -errno;
	if (!r)
		r = write_file("/proc/self/setgroups", "deny");
	if (!r)
		r = write_file("/proc/self/uid_map", uid_map);
	if (!r)
		r = write_file("/proc/self/gid_map", gid_map);
	if (r < 0)
		return error_set(err, r, STATUS_MACHINE,
			"cannot enter a user namespace: %s\nrun as root, or (as root, once): %s",
			strerror(-r), user_namespace_remedy());
	return 0;
}

int topology_isolate(struct error *err)
{
	int r;

	if (capng_get_caps_process() < 0)
		return error_sys(err, -EIO, "cannot read this process's capabilities");
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN) ||
		!capng_have_capability(CAPNG_EFFECTIVE, CAP_NET_ADMIN)) {
		r = enter_user_namespace(err);
		if (r < 0)
			return r;
	}
	if (unshare(CLONE_NEWNET | CLONE_NEWUTS) < 0) {
		r = -errno;
		return error_set(err, r, STATUS_MACHINE,
			"cannot create a network namespace: %s\nrun as root, or (as root, once): "
			"%s",
			strerror(-r),
			r == -ENOSPC ? "sysctl -w user.max_net_namespaces=10000"
				     : user_namespace_remedy());
	}
	return 0;
}

static int open_namespace(const char *kind, int *out, struct error *err)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/thread-self/ns/%s", kind);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, -errno, "cannot open %s", path);
	*out = fd;
	return 0;
}

static int move_to(int net_fd, int uts_fd, const char *where, struct error *err)
{
	if (setns(net_fd, CLONE_NEWNET) < 0 || setns(uts_fd, CLONE_NEWUTS) < 0)
		return error_sys(err, -errno, "cannot enter the namespaces of %s", where);
	return 0;
}

/* Writes a setting of the network namespace the caller is in; name is below /proc/sys/net. */
static int set_sysctl(const char *name, const char *value, struct error *err)
{
	char path[128];
	int r;

	snprintf(path, sizeof path, "/proc/sys/net/%s", name);
	r = write_file(path, value);
	if (r == -EROFS || r == -EACCES)
		return error_set(err, r, STATUS_MACHINE,
			"cannot write %s: %s\nin a container, start it with a writable /proc/sys "
			"(docker: --privileged)",
			path, strerror(-r));
	if (r < 0)
		return error_sys(err, r, "cannot write \"%s\" to %s", value, path);
	return 0;
}

/*
 * The namespace's default if the kernel permits. A namespace other than the machine's first may
 * not have a restricted congestion control as its default, but a route in it may.
 */
static int set_congestion(struct topology *t, const char *name, struct error *err)
{
	char available[256];
	int r;

	if (!*name)
		return 0;
	r = write_file("/proc/sys/net/ipv4/tcp_congestion_control", name);
	if (r == -EPERM) {
		snprintf(t->route_congestion, sizeof t->route_congestion, "%s", name);
		return 0;
	}
	if (r == -ENOENT) {
		read_line("/proc/sys/net/ipv4/tcp_available_congestion_control", available,
			sizeof available);
		return error_set(err, r, STATUS_MACHINE,
			"congestion control \"%s\" is not available in this kernel; available: %s "
			"(modprobe tcp_%s may bring it)",
			name, available, name);
	}
	if (r < 0)
		return error_sys(err, r, "cannot set congestion control \"%s\"", name);
	return 0;
}

/*
 * TCP cuts what it hands over at once to a millisecond of a connection's own pace: two segments
 * when dozens of connections share a link, each paid for with a system call of whoever carries
 * the packets. Here the size follows the device's gso_max_size, a fraction of a millisecond of
 * the link's rate, whatever the number of connections. Kernels before 5.18 have no such setting
 * and keep the small ones.
 */
static int set_burst_size(struct error *err)
{
	if (access("/proc/sys/net/ipv4/tcp_tso_rtt_log", F_OK) < 0)
		return 0;
	return set_sysctl("ipv4/tcp_tso_rtt_log", "31", err);
}

static int set_tcp(struct topology *t, const struct topology_tcp *tcp, struct error *err)
{
	char rmem[96], wmem[96];
	int r;

	snprintf(rmem, sizeof rmem, "%d %jd %jd", BUFFER_MIN, (intmax_t)tcp->receive_buffer,
		(intmax_t)tcp->receive_buffer);
	snprintf(wmem, sizeof wmem, "%d %jd %jd", BUFFER_MIN, (intmax_t)tcp->send_buffer,
		(intmax_t)tcp->send_buffer);
	r = set_sysctl("ipv4/tcp_rmem", rmem, err);
	if (!r)
		r = set_sysctl("ipv4/tcp_wmem", wmem, err);
	if (!r)
		r = set_sysctl("ipv4/tcp_slow_start_after_idle",
			tcp->slow_start_after_idle ? "1" : "0", err);
	if (!r)
		r = set_sysctl("ipv4/tcp_no_metrics_save", "1", err);
	/* what a program that is gone has not sent yet: one attempt more, not minutes of them */
	if (!r)
		r = set_sysctl("ipv4/tcp_orphan_retries", "1", err);
	if (!r)
		r = set_burst_size(err);
	if (!r)
		r = set_congestion(t, tcp->congestion, err);
	return r;
}

struct setting {
	const char *name, *value;
};

static int set_sysctls(const struct setting *settings, size_t n, struct error *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = set_sysctl(settings[i].name, settings[i].value, err);
	return r;
}

/* Devices made later have no address of their own making and send nothing of their own. */
static int set_quiet(const struct topology *t, struct error *err)
{
	static const struct setting settings[] = {
		{"ipv6/conf/all/disable_ipv6", "0"},
		{"ipv6/conf/default/disable_ipv6", "0"},
		{"ipv6/conf/default/accept_dad", "0"},
		{"ipv6/conf/default/accept_ra", "0"},
		{"ipv6/conf/default/autoconf", "0"},
		{"ipv6/conf/default/addr_gen_mode", "1"}, /* none: no link-local address */
		{"ipv6/conf/default/router_solicitations", "0"},
	};
	int r = set_sysctl("ipv4/ping_group_range", "0 0", err);

	if (!r && t->ipv6)
		r = set_sysctls(settings, sizeof settings / sizeof *settings, err);
	return r;
}

/*
 * Whatever comes in by one device and has a route goes out by another. Devices are no routers of
 * their own (default/forwarding), or they would join the routers' groups and report that.
 */
static int set_forwarding(const struct topology *t, struct error *err)
{
	static const struct setting settings[] = {
		{"ipv4/ip_forward", "1"},
		{"ipv4/conf/all/rp_filter", "0"},
		{"ipv4/conf/default/rp_filter", "0"},
		{"ipv6/conf/all/forwarding", "1"}, /* these two where there is IPv6 */
		{"ipv6/conf/default/forwarding", "0"},
	};
	size_t n = sizeof settings / sizeof *settings;

	return set_sysctls(settings, t->ipv6 ? n : n - 2, err);
}

static int loopback_up(struct error *err)
{
	static const struct rtnl_link_settings keep = {0};
	struct nl_sock *sock = NULL;
	int index, r;

	r = rtnl_open(&sock, err);
	if (!r)
		r = rtnl_device_index("lo", &index, err);
	if (!r)
		r = rtnl_device_up(sock, index, &keep, err);
	rtnl_close(sock);
	return r;
}

static void set_addresses(struct topology_site *site, int number)
{
	site->address.s_addr = htonl(0xc6120000u + (uint32_t)number); /* 198.18.0.number */
	site->address6 = (struct in6_addr){.s6_addr = {0x20, 0x01, 0x00, 0x02}};
	site->address6.s6_addr[15] = (uint8_t)number;
}

static int make_site(struct topology *t, int i, const char *name, const struct topology_tcp *tcp,
	struct error *err)
{
	struct topology_site *site = &t->sites[i];
	int r;

	snprintf(site->name, sizeof site->name, "%s", name);
	set_addresses(site, i + 1);
	if (unshare(CLONE_NEWNET | CLONE_NEWUTS) < 0) {
		r = -errno;
		return error_set(err, r, STATUS_MACHINE,
			"cannot create the namespaces of site %s: %s%s", name, strerror(-r),
			r == -ENOSPC ? "\nraise the limit: sysctl -w user.max_net_namespaces=10000"
				     : "");
	}
	r = open_namespace("net", &site->netns_fd, err);
	if (!r)
		r = open_namespace("uts", &site->utsns_fd, err);
	if (!r && sethostname(name, strlen(name)) < 0)
		r = error_sys(err, -errno, "cannot set the host name %s", name);
	if (!r)
		r = set_tcp(t, tcp, err);
	if (!r)
		r = set_quiet(t, err);
	if (!r)
		r = loopback_up(err);
	return r;
}

static int check_request(
	int n_sites, const char *const *names, const struct topology_tcp *tcp, struct error *err)
{
	if (n_sites < 1 || n_sites > SITES_MAX)
		return error_set(err, -EINVAL, STATUS_INPUT, "%d sites; 1 to %d are possible",
			n_sites, SITES_MAX);
	for (int i = 0; i < n_sites; i++)
		if (!*names[i] || strlen(names[i]) >= SITE_NAME_MAX)
			return error_set(err, -EINVAL, STATUS_INPUT,
				"site name \"%s\": a host name has 1 to %d characters", names[i],
				SITE_NAME_MAX - 1);
	if (tcp->receive_buffer < BUFFER_MIN || tcp->receive_buffer > INT_MAX ||
		tcp->send_buffer < BUFFER_MIN || tcp->send_buffer > INT_MAX)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"TCP buffers of %jd B (receive) and %jd B (send); %d B to %d B are "
			"possible",
			(intmax_t)tcp->receive_buffer, (intmax_t)tcp->send_buffer, BUFFER_MIN,
			INT_MAX);
	return 0;
}

static struct topology *topology_new(int n_sites)
{
	struct topology *t = memory_zero(1, sizeof *t);

	t->home_fd = t->home_uts_fd = -1;
	t->n_sites = n_sites;
	t->ipv6 = !access("/proc/sys/net/ipv6", F_OK);
	for (int i = 0; i < n_sites; i++)
		t->sites[i].netns_fd = t->sites[i].utsns_fd = -1;
	return t;
}

int topology_up(struct topology **out, int n_sites, const char *const *names,
	const struct topology_tcp *tcp, struct error *err)
{
	struct topology *t;
	int left, r = check_request(n_sites, names, tcp, err);

	if (r < 0)
		return r;
	t = topology_new(n_sites);
	r = open_namespace("net", &t->home_fd, err);
	if (!r)
		r = open_namespace("uts", &t->home_uts_fd, err);
	if (r < 0) {
		topology_down(t);
		return r;
	}
	for (int i = 0; !r && i < n_sites; i++)
		r = make_site(t, i, names[i], tcp, err);
	left = topology_leave(t, err);
	if (r < 0 || left < 0) {
		topology_down(t);
		return r < 0 ? r : left;
	}
	*out = t;
	return 0;
}

static int attach_family(struct nl_sock *sock, const struct topology *t, int index, int family,
	const void *address, struct error *err)
{
	int r = rtnl_add_address(sock, index, family, address, err);

	return r ? r : rtnl_add_default_route(sock, index, family, t->route_congestion, err);
}

static int attach_inside(const struct topology *t, const struct topology_site *site,
	const struct rtnl_link_settings *settings, struct error *err)
{
	struct nl_sock *sock = NULL;
	int index, r;

	r = rtnl_open(&sock, err);
	if (!r)
		r = rtnl_device_index(SITE_DEVICE, &index, err);
	if (!r)
		r = rtnl_device_up(sock, index, settings, err);
	if (!r)
		r = attach_family(sock, t, index, AF_INET, &site->address, err);
	if (!r && t->ipv6)
		r = attach_family(sock, t, index, AF_INET6, &site->address6, err);
	rtnl_close(sock);
	return r;
}

int topology_attach(const struct topology *t, int site, int mtu, int txqueuelen, int gso_max_size,
	struct error *err)
{
	const struct rtnl_link_settings settings = {mtu, txqueuelen, gso_max_size};
	int left, r;

	r = topology_enter(t, site, err);
	if (!r)
		r = attach_inside(t, &t->sites[site], &settings, err);
	left = topology_leave(t, err);
	return r < 0 ? r : left;
}

int topology_enter(const struct topology *t, int site, struct error *err)
{
	const struct topology_site *s = &t->sites[site];

	return move_to(s->netns_fd, s->utsns_fd, s->name, err);
}

int topology_leave(const struct topology *t, struct error *err)
{
	return move_to(t->home_fd, t->home_uts_fd, "the program", err);
}

int topology_here(int *netns_fd, struct error *err)
{
	return open_namespace("net", netns_fd, err);
}

int topology_enter_router(int netns_fd, struct error *err)
{
	return setns(netns_fd, CLONE_NEWNET) < 0
		       ? error_sys(err, -errno, "cannot enter a gateway's namespace")
		       : 0;
}

int topology_router(const struct topology *t, int *netns_fd, struct error *err)
{
	int fd = -1, left, r = 0;

	if (unshare(CLONE_NEWNET) < 0)
		r = error_sys(err, -errno, "cannot create a gateway's namespace");
	if (!r)
		r = open_namespace("net", &fd, err);
	if (!r)
		r = set_quiet(t, err);
	if (!r)
		r = set_forwarding(t, err);
	left = topology_leave(t, err);
	if (r < 0 || left < 0) {
		cleanup_close(&fd);
		return r < 0 ? r : left;
	}
	*netns_fd = fd;
	return 0;
}

struct topology *topology_down(struct topology *t)
{
	if (!t)
		return NULL;
	for (int i = 0; i < t->n_sites; i++) {
		cleanup_close(&t->sites[i].netns_fd);
		cleanup_close(&t->sites[i].utsns_fd);
	}
	cleanup_close(&t->home_fd);
	cleanup_close(&t->home_uts_fd);
	free(t);
	return NULL;
}

int topology_drop_capabilities(struct error *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_sys(err, -errno, "cannot give up new privileges");
	if (capng_get_caps_process() < 0)
		return error_sys(err, -EIO, "cannot read this process's capabilities");
	capng_clear(CAPNG_SELECT_ALL);
	if (capng_apply(CAPNG_SELECT_ALL) < 0)
		return error_sys(err, -EPERM, "cannot drop the capabilities");
	if (capng_get_caps_process() < 0 || capng_have_capabilities(CAPNG_SELECT_ALL) != CAPNG_NONE)
		return error_sys(err, -EPERM, "capabilities remain after dropping them");
	return 0;
}
