/* Address ranges: what is read, printed, and refused. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <string.h>

#include "emu/card/prefix.h"

static void test_what_is_read(void **state)
{
	static const struct {
		const char *text, *printed;
		int family, length;
	} cases[] = {
		{"10.0.0.0/8", "10.0.0.0/8", AF_INET, 8},
		{"192.0.2.7", "192.0.2.7/32", AF_INET, 32},
		{"0.0.0.0/0", "0.0.0.0/0", AF_INET, 0},
		{"198.18.128.0/17", "198.18.128.0/17", AF_INET, 17},
		{"2001:db8::/32", "2001:db8::/32", AF_INET6, 32},
		{"2001:db8:0:8000::/49", "2001:db8:0:8000::/49", AF_INET6, 49},
		{"::/0", "::/0", AF_INET6, 0},
		{"fe80::1", "fe80::1/128", AF_INET6, 128},
	};
	char text[PREFIX_TEXT];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error err = {0};
		struct prefix p;

		if (prefix_parse(&p, cases[i].text, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(p.family, cases[i].family);
		assert_int_equal(p.length, cases[i].length);
		assert_string_equal(prefix_format(text, &p), cases[i].printed);
	}
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"", "is no range of addresses"},
		{"eth0", "is no range of addresses"},
		{"10.0.0/8", "is no range of addresses"},
		{"10.0.0.256/8", "is no range of addresses"},
		{"2001:db8::g/32", "is no range of addresses"},
		{"10.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0/8",
			"is no range of addresses"},
		{"10.0.0.0/", "from 0 to 32"},
		{"10.0.0.0/33", "from 0 to 32"},
		{"10.0.0.0/-1", "from 0 to 32"},
		{"10.0.0.0/8x", "from 0 to 32"},
		{"10.0.0.0/99999999999999999999", "from 0 to 32"},
		{"2001:db8::/129", "from 0 to 128"},
		{"10.1.2.3/8", "write 10.0.0.0/8, or /32 for one host"},
		{"2001:db8::1/64", "write 2001:db8::/64, or /128 for one host"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error err = {0};
		struct prefix p;

		assert_true(prefix_parse(&p, cases[i].text, &err) < 0);
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, cases[i].why))
			fail_msg("%s: %s, not: %s", cases[i].text, err.text, cases[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_read),
		cmocka_unit_test(test_what_is_refused),
	};

	return cmocka_run_group_tests_name("card-prefix", tests, NULL, NULL);
}
