/* From what a machine carries to how much a run is slowed. */
#include "emu/measure/machine.h"
#include "tests/test.h"

static void the_least_that_fits(void **state)
{
	const struct machine m = {.tcp_bps = 10e9};

	assert_near(machine_dilation(&m, 0), 1, 0);
	assert_near(machine_dilation(&m, 5e9), 1, 0); /* half of it */
	assert_near(machine_dilation(&m, 5.1e9), 2, 0);
	assert_near(machine_dilation(&m, 50e9), 10, 0);
	assert_near(machine_dilation(&m, 1e15), 1000, 0);
}

static void a_machine_that_carries_nothing(void **state)
{
	const struct machine m = {0};

	assert_near(machine_dilation(&m, 1e9), 1000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_that_fits),
		cmocka_unit_test(a_machine_that_carries_nothing),
	};

	return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
