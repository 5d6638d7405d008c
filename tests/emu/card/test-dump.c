/*
 * Dumps that the kernel had to interrupt. libnl takes what it receives from recvmsg, which is ours
 * here: it marks as many dumps as interrupted as a test wants.
 */
#include "tests/test.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/card/device.h"
#include "emu/rtnl.h"

static int interruptions; /* to come */
static bool marked;	  /* this dump has been */

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, message, flags);
	struct nlmsghdr *h = n > 0 ? message->msg_iov[0].iov_base : NULL;

	if (!h || flags & MSG_PEEK)
		return n;
	if (h->nlmsg_type == RTM_NEWLINK && !marked && interruptions > 0) {
		h->nlmsg_flags |= NLM_F_DUMP_INTR;
		interruptions--;
		marked = true;
	}
	if (h->nlmsg_type == NLMSG_DONE)
		marked = false;
	return n;
}

static int read_with(int n, struct devices *out, struct error *err)
{
	struct nl_sock *sock = NULL;
	int r = rtnl_open(&sock, err);

	assert_int_equal(r, 0);
	interruptions = n;
	r = devices_read(out, sock, err);
	assert_int_equal(interruptions, 0);
	rtnl_close(sock);
	return r;
}

/* What an interrupted one has told is told once only. */
static void test_begun_again(void **state)
{
	struct devices undisturbed = {0}, all = {0};
	struct error err = {0};

	assert_int_equal(read_with(0, &undisturbed, &err), 0);
	assert_true(undisturbed.n > 0);
	for (int n = 1; n <= 4; n++) {
		if (read_with(n, &all, &err) < 0)
			fail_msg("%d: %s", n, err.text);
		assert_int_equal(all.n, undisturbed.n);
		devices_release(&all);
	}
	devices_release(&undisturbed);
}

static void test_five_in_a_row(void **state)
{
	struct devices all = {0};
	struct error err = {0};

	assert_int_equal(read_with(5, &all, &err), -EINTR);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_non_null(strstr(err.text, "the kernel does not tell its devices"));
	assert_non_null(strstr(err.text, "changed while it was told, 5 times in a row"));
	assert_null(all.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begun_again),
		cmocka_unit_test(test_five_in_a_row),
	};

	return cmocka_run_group_tests_name("card-dump", tests, NULL, NULL);
}
