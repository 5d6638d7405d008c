/* Whether a relay that does nothing is there: idle is fine, stopped is not. */
#include "tests/test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "tests/emu/relay/rig.h"

/* Whether verify comes to say so within 20 s. */
static bool verify_becomes(const struct rig *rig, int want, struct error *err)
{
	for (int i = 0; i < 2000; i++) {
		*err = (struct error){0};
		if (backend_relay.verify(rig->run, err) == want)
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

/* One that has nothing to do says that it is there; one that is stopped does not. */
static void test_stopped_relay_is_noticed(void **state)
{
	struct error err = {0};
	struct rig rig;

	if (backend_relay.probe(&err) < 0)
		skip();
	rig_new(&rig, 2, &(struct rig_link){.rate_bps = 100000000, .delay_ns = NS_PER_MS});
	rig_up(&rig, "", 0);
	poll(NULL, 0, 3500);
	assert_true(verify_becomes(&rig, 0, &err));
	kill(backend_relay.pid(rig.run), SIGSTOP);
	assert_true(verify_becomes(&rig, -ETIMEDOUT, &err));
	assert_int_equal(err.status, STATUS_INVALID);
	assert_non_null(strstr(err.text, "the relay has not moved for 3."));
	kill(backend_relay.pid(rig.run), SIGCONT);
	assert_true(verify_becomes(&rig, 0, &err));
	rig_down(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stopped_relay_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
