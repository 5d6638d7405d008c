/*
 * Drives fuzz-netem.c without libFuzzer: sound options of both kinds, whole and cut, and 2,000
 * mutations of them by a fixed seed.
 */
#include "tests/test.h"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "base/random.h"
#include "tests/emu/netem/random.h"

#define ROUNDS 2000
#define OPTIONS_MAX 70000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t draw(uint64_t *c, uint64_t below)
{
	return random_u64(20265, 0, RANDOM_LOSS, (*c)++) % below;
}

static size_t sound(uint8_t *data, uint64_t *c)
{
	struct nl_msg *msg = nlmsg_alloc_size(1 << 17);
	struct nlattr *a;
	struct netem n;
	struct tbf t;
	size_t size;

	nlmsg_put(msg, 0, 0, 0, 0, 0);
	*data = (uint8_t)draw(c, 2);
	if (*data) {
		random_tbf(&t, c);
		assert_int_equal(tbf_encode(msg, &t), 0);
	} else {
		random_netem(&n, c);
		assert_int_equal(netem_encode(msg, &n, NETEM_ALL), 0);
	}
	a = nlmsg_attrdata(nlmsg_hdr(msg), 0);
	size = (size_t)nla_len(a);
	memcpy(data + 1, nla_data(a), size);
	nlmsg_free(msg);
	return size + 1;
}

static void test_mutated_options(void **state)
{
	static uint8_t data[OPTIONS_MAX];
	uint64_t c = 0;

	LLVMFuzzerTestOneInput(data, 0);
	LLVMFuzzerTestOneInput(data, 1);
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = sound(data, &c), changes = draw(&c, 6);

		for (size_t k = 0; k < changes; k++)
			data[1 + draw(&c, n < 300 ? n - 1 : 300)] = (uint8_t)draw(&c, 256);
		if (draw(&c, 4) == 0)
			n = 1 + draw(&c, n);
		LLVMFuzzerTestOneInput(data, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutated_options)};

	return cmocka_run_group_tests_name("fuzz-netem", tests, NULL, NULL);
}
