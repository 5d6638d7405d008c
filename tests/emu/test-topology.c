/* Sites: what is inside them, their device, their congestion control, and wrong requests. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "tests/emu/namespaces.h"

static void settings_inside(void)
{
	struct error err = {0};
	struct topology *t;
	struct utsname u;

	isolate_or_skip();
	t = up(2, &plain);
	CHECK_OK(topology_enter(t, 1, &err), err);
	CHECK(!uname(&u) && !strcmp(u.nodename, "site1"));
	CHECK(sysctl_is("ipv4/tcp_rmem", "4096\t12345678\t12345678"));
	CHECK(sysctl_is("ipv4/tcp_wmem", "4096\t7654321\t7654321"));
	CHECK(sysctl_is("ipv4/tcp_slow_start_after_idle", "0"));
	CHECK(sysctl_is("ipv4/tcp_no_metrics_save", "1"));
	CHECK(sysctl_is("ipv4/tcp_congestion_control", "reno"));
	CHECK(sysctl_is("ipv4/ping_group_range", "0\t0"));
	CHECK(!t->ipv6 || sysctl_is("ipv6/conf/default/accept_ra", "0"));
	CHECK_OK(topology_leave(t, &err), err);
	CHECK(!uname(&u) && strcmp(u.nodename, "site1"));
	topology_down(t);
}

static void outside_unchanged(void **state)
{
	static const char *const names[] = {"ipv4/tcp_rmem", "ipv4/tcp_wmem",
		"ipv4/tcp_slow_start_after_idle", "ipv4/tcp_no_metrics_save",
		"ipv4/tcp_congestion_control", "ipv4/ping_group_range",
		"ipv4/tcp_allowed_congestion_control", "ipv6/conf/default/accept_ra"};
	char before[8][128], path[128];
	struct utsname u, v;

	assert_int_equal(uname(&u), 0);
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof path, "/proc/sys/net/%s", names[i]);
		read_text(path, before[i], sizeof before[i]);
	}
	run(settings_inside);
	for (int i = 0; i < 8; i++)
		assert_true(sysctl_is(names[i], before[i]));
	assert_int_equal(uname(&v), 0);
	assert_string_equal(u.nodename, v.nodename);
}

static void slow_start_and_64_sites(void)
{
	struct topology_tcp tcp = plain;
	struct error err = {0};
	struct topology *t;
	char text[INET6_ADDRSTRLEN];
	ino_t seen[SITES_MAX];
	struct utsname u;

	isolate_or_skip();
	tcp.slow_start_after_idle = true;
	t = up(SITES_MAX, &tcp);
	for (int i = 0; i < SITES_MAX; i++) {
		CHECK_OK(topology_enter(t, i, &err), err);
		seen[i] = namespace_inode("/proc/self/ns/net");
		for (int j = 0; j < i; j++)
			CHECK(seen[j] != seen[i]);
		CHECK(!uname(&u) && !strcmp(u.nodename, t->sites[i].name));
		CHECK(sysctl_is("ipv4/tcp_slow_start_after_idle", "1"));
	}
	inet_ntop(AF_INET, &t->sites[0].address, text, sizeof text);
	CHECK(!strcmp(text, "198.18.0.1"));
	inet_ntop(AF_INET, &t->sites[63].address, text, sizeof text);
	CHECK(!strcmp(text, "198.18.0.64"));
	inet_ntop(AF_INET6, &t->sites[63].address6, text, sizeof text);
	CHECK(!strcmp(text, "2001:2::40"));
	CHECK_OK(topology_leave(t, &err), err);
	topology_down(t);
}

static void sixty_four_sites(void **state)
{
	run(slow_start_and_64_sites);
}

/* --- the device --------------------------------------------------------------------------- */

static int make_tun(void)
{
	struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		exit(SKIP);
	snprintf(r.ifr_name, sizeof r.ifr_name, "%s", SITE_DEVICE);
	CHECK(!ioctl(fd, TUNSETIFF, &r));
	return fd;
}

/* The prefix length of an address of the device, -1 when it has none; counts all in *n. */
static int prefix_of(int family, const void *address, int *n)
{
	struct ifaddrs *all, *a;
	int prefix = -1;

	CHECK(!getifaddrs(&all));
	for (a = all; a; a = a->ifa_next) {
		const uint8_t *have, *mask;
		size_t size = family == AF_INET ? 4 : 16, ones = 0;

		if (!a->ifa_addr || a->ifa_addr->sa_family != family ||
			strcmp(a->ifa_name, SITE_DEVICE))
			continue;
		have = family == AF_INET ? (void *)&((struct sockaddr_in *)a->ifa_addr)->sin_addr
					 : (void *)&((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr;
		mask = family == AF_INET
			       ? (void *)&((struct sockaddr_in *)a->ifa_netmask)->sin_addr
			       : (void *)&((struct sockaddr_in6 *)a->ifa_netmask)->sin6_addr;
		for (size_t i = 0; i < size; i++)
			ones += (size_t)__builtin_popcount(mask[i]);
		if (!memcmp(have, address, size))
			prefix = (int)ones;
		++*n;
	}
	freeifaddrs(all);
	return prefix;
}

static int device_number(const char *name)
{
	char command[160], text[64] = "";
	FILE *f;

	snprintf(command, sizeof command,
		"ip -d link show dev " SITE_DEVICE
		" | grep -o '%s [0-9]*' | head -1 | cut -d' ' -f2",
		name);
	f = popen(command, "re");
	CHECK(f);
	if (!fgets(text, sizeof text, f))
		*text = '\0';
	pclose(f);
	return atoi(text);
}

/* Sends a SYN (it goes nowhere) and says which congestion control the connection got. */
static void congestion_of_connection(int family, char *name, socklen_t size)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
	_close_ int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool six = family == AF_INET6;

	CHECK(fd >= 0);
	inet_pton(AF_INET, "198.18.0.2", &to.sin_addr);
	inet_pton(AF_INET6, "2001:2::2", &to6.sin6_addr);
	CHECK(connect(fd, six ? (void *)&to6 : (void *)&to, six ? sizeof to6 : sizeof to) < 0 &&
		errno == EINPROGRESS);
	CHECK(!getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size));
}

static void device_attached(void)
{
	struct error err = {0};
	struct topology *t;
	_close_ int fd = -1;
	int n4 = 0, n6 = 0;
	char name[16];

	isolate_or_skip();
	t = up(2, &plain);
	CHECK_OK(topology_enter(t, 0, &err), err);
	fd = make_tun();
	CHECK_OK(topology_leave(t, &err), err);
	CHECK_OK(topology_attach(t, 0, 1400, 5000, 16000, &err), err);
	CHECK(!if_nametoindex(SITE_DEVICE)); /* back home, where it is not */
	CHECK_OK(topology_enter(t, 0, &err), err);
	CHECK(prefix_of(AF_INET, &t->sites[0].address, &n4) == 32 && n4 == 1);
	congestion_of_connection(AF_INET, name, sizeof name);
	CHECK(!strcmp(name, "reno"));
	if (t->ipv6) { /* usable at once, and no address that the kernel made up */
		CHECK(prefix_of(AF_INET6, &t->sites[0].address6, &n6) == 128 && n6 == 1);
		congestion_of_connection(AF_INET6, name, sizeof name);
		CHECK(!strcmp(name, "reno"));
	}
	if (!system("ip -V >/dev/null 2>&1")) {
		CHECK(device_number("mtu") == 1400);
		CHECK(device_number("qlen") == 5000);
		CHECK(device_number("gso_max_size") == 16000);
	}
	topology_down(t);
}

static void attaches(void **state)
{
	run(device_attached);
}

static void attach_fails(void)
{
	struct error err = {0};
	struct topology *t;
	ino_t home;

	isolate_or_skip();
	home = namespace_inode("/proc/self/ns/net");
	t = up(1, &plain);
	CHECK(topology_attach(t, 0, 1500, 1000, 0, &err) == -ENODEV); /* nobody made wan0 */
	CHECK(err.status == STATUS_MACHINE && strstr(err.text, SITE_DEVICE));
	CHECK(namespace_inode("/proc/self/ns/net") == home);
	topology_down(t);
}

static void attach_without_device(void **state)
{
	run(attach_fails);
}

/* The gso size that the kernel refuses is named, and the caller is back home. */
static void attach_refused(void)
{
	struct error err = {0};
	struct topology *t;
	_close_ int fd = -1;
	ino_t home;

	isolate_or_skip();
	home = namespace_inode("/proc/self/ns/net");
	t = up(1, &plain);
	CHECK_OK(topology_enter(t, 0, &err), err);
	fd = make_tun();
	CHECK_OK(topology_leave(t, &err), err);
	CHECK(topology_attach(t, 0, 1500, 1000, 100000000, &err) < 0);
	CHECK(err.status == STATUS_MACHINE && strstr(err.text, "gso_max_size 100000000"));
	CHECK(namespace_inode("/proc/self/ns/net") == home);
	topology_down(t);
}

static void attach_with_impossible_size(void **state)
{
	run(attach_refused);
}

/* --- congestion control ------------------------------------------------------------------- */

static void unknown_congestion(void)
{
	struct topology_tcp tcp = plain;
	const char *names[] = {"a", "b"};
	struct topology *t = NULL;
	struct error err = {0};
	int files;
	ino_t home;

	isolate_or_skip();
	home = namespace_inode("/proc/self/ns/net");
	files = open_files();
	strcpy(tcp.congestion, "nonesuch");
	CHECK(topology_up(&t, 2, names, &tcp, &err) == -ENOENT);
	CHECK(!t && err.status == STATUS_MACHINE);
	CHECK(strstr(err.text, "\"nonesuch\"") && strstr(err.text, "available: ") &&
		strstr(err.text, "reno"));
	CHECK(namespace_inode("/proc/self/ns/net") == home);
	CHECK(open_files() == files);
}

static void congestion_unavailable(void **state)
{
	run(unknown_congestion);
}

/* Every congestion control of this kernel reaches the connections, restricted ones too. */
static void each_congestion(void)
{
	char available[256], *name, *rest = available, got[16];
	struct topology_tcp tcp = plain;
	struct error err = {0};

	isolate_or_skip();
	read_text(
		"/proc/sys/net/ipv4/tcp_available_congestion_control", available, sizeof available);
	while ((name = strsep(&rest, " "))) {
		struct topology *t;
		int fd;

		snprintf(tcp.congestion, sizeof tcp.congestion, "%s", name);
		t = up(1, &tcp);
		CHECK_OK(topology_enter(t, 0, &err), err);
		fd = make_tun();
		CHECK_OK(topology_leave(t, &err), err);
		CHECK_OK(topology_attach(t, 0, 1500, 1000, 0, &err), err);
		CHECK_OK(topology_enter(t, 0, &err), err);
		congestion_of_connection(AF_INET, got, sizeof got);
		if (strcmp(got, name))
			fprintf(stderr, "asked for %s, got %s\n", name, got);
		CHECK(!strcmp(got, name));
		CHECK_OK(topology_leave(t, &err), err);
		close(fd);
		topology_down(t);
	}
}

static void congestion_of_every_kind(void **state)
{
	run(each_congestion);
}

/* --- wrong requests ----------------------------------------------------------------------- */

static void refuses(void **state)
{
	char longer[SITE_NAME_MAX + 1];
	const char *one[] = {"a"}, *empty[] = {""}, *too_long[] = {longer};
	struct topology_tcp tcp = plain;
	struct topology *t = NULL;
	struct error err = {0};

	memset(longer, 'x', SITE_NAME_MAX);
	longer[SITE_NAME_MAX] = '\0';
	assert_int_equal(topology_up(&t, 0, one, &tcp, &err), -EINVAL);
	assert_int_equal(err.status, STATUS_INPUT);
	err = (struct error){0};
	assert_int_equal(topology_up(&t, 65, one, &tcp, &err), -EINVAL);
	assert_non_null(strstr(err.text, "65 sites; 1 to 64"));
	err = (struct error){0};
	assert_int_equal(topology_up(&t, 1, empty, &tcp, &err), -EINVAL);
	assert_int_equal(topology_up(&t, 1, too_long, &tcp, &err), -EINVAL);
	assert_non_null(strstr(err.text, "1 to 63 characters"));
	err = (struct error){0};
	tcp.receive_buffer = INT64_C(1) << 31;
	assert_int_equal(topology_up(&t, 1, one, &tcp, &err), -EINVAL);
	assert_non_null(strstr(err.text, "2147483648 B (receive)"));
	err = (struct error){0};
	tcp = plain;
	tcp.send_buffer = 0;
	assert_int_equal(topology_up(&t, 1, one, &tcp, &err), -EINVAL);
	assert_null(t);
	assert_null(topology_down(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outside_unchanged),
		cmocka_unit_test(sixty_four_sites),
		cmocka_unit_test(attaches),
		cmocka_unit_test(attach_without_device),
		cmocka_unit_test(attach_with_impossible_size),
		cmocka_unit_test(congestion_unavailable),
		cmocka_unit_test(congestion_of_every_kind),
		cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
