/* Quantities: exact values, the message for every mistake, round trips, and a seeded fuzz. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "tests/test.h"

#define KINDS (QUANTITY_RATIO + 1)

static void values_are_exact(void **state)
{
	static const struct {
		const char *text;
		enum quantity kind;
		int64_t want;
	} cases[] = {
		{"0.84 Gbit/s", QUANTITY_RATE, 840000000},
		{"840 Mbit/s", QUANTITY_RATE, 840000000},
		{"1 bit/s", QUANTITY_RATE, 1},
		{"9.6kbit/s", QUANTITY_RATE, 9600},
		{"1 Tbit/s", QUANTITY_RATE, 1000000000000},
		{"300.123456 ms", QUANTITY_TIME, 300123456},
		{"0.3 s", QUANTITY_TIME, 300000000},
		{"  15 ms ", QUANTITY_TIME, 15000000},
		{"+1 us", QUANTITY_TIME, 1000},
		{"7 ns", QUANTITY_TIME, 7},
		{"10 \302\265s", QUANTITY_TIME, 10000},
		{"10 min", QUANTITY_TIME, 600000000000},
		{"1.5 h", QUANTITY_TIME, 5400000000000},
		{"365 d", QUANTITY_TIME, 31536000000000000},
		{"0 s", QUANTITY_TIME, 0},
		{".5 s", QUANTITY_TIME, 500000000},
		{"0.0000000004 s", QUANTITY_TIME, -1}, /* 0.4 ns would be 0: refused below */
		{"1.0000000004 s", QUANTITY_TIME, 1000000000},
		{"1.0000000005 s", QUANTITY_TIME, 1000000001},
		{"9223372036.854775807 s", QUANTITY_TIME, INT64_MAX},
		{"6 GB", QUANTITY_BYTES, 6000000000},
		{"1 KiB", QUANTITY_BYTES, 1024},
		{"1.5 MiB", QUANTITY_BYTES, 1572864},
		{"64 GiB", QUANTITY_BYTES, 68719476736},
		{"0 B", QUANTITY_BYTES, 0},
		{"12 B", QUANTITY_COUNT, 12000000000},
		{"405M", QUANTITY_COUNT, 405000000},
		{"0.5 B", QUANTITY_COUNT, 500000000},
		{"24", QUANTITY_COUNT, 24},
		{"4 bit", QUANTITY_BITS, 4},
		{"64 bit", QUANTITY_BITS, 64},
		{"0.1 %", QUANTITY_RATIO, 1000000},
		{"100 %", QUANTITY_RATIO, RATIO_ONE},
		{"0.0000001 %", QUANTITY_RATIO, 1},
		{"9223372036854775807", QUANTITY_COUNT, INT64_MAX},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error err = {0};
		int64_t got = -1;

		if (quantity_parse(cases[i].text, cases[i].kind, &got, &err) && cases[i].want >= 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		if (got != cases[i].want)
			fail_msg("%s: %lld", cases[i].text, (long long)got);
	}
}

static void shares_are_neither_all_nor_nothing(void **state)
{
	static const struct {
		double share;
		int digits;
		const char *want;
	} cases[] = {
		{0, 3, "0 %"},
		{1e-9, 3, "1e-07 %"},
		{.001, 3, "0.1 %"},
		{.12345, 3, "12.3 %"},
		{.999, 3, "99.9 %"},
		{.9999, 3, "99.99 %"},
		{.99996, 3, "99.996 %"},
		{.99999999, 6, "99.999999 %"},
		{1, 3, "100 %"},
	};
	char buf[32];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(
			percent_format(buf, sizeof buf, cases[i].share, cases[i].digits),
			cases[i].want);
	/* the largest number below 1 */
	assert_true(strtod(percent_format(buf, sizeof buf, 1 - 0x1p-53, 3), NULL) < 100);
}

static const struct {
	const char *text;
	enum quantity kind;
	int code;
	const char *message;
} mistakes[] = {
	{"0.84 Gbps", QUANTITY_RATE, -EINVAL, "\"0.84 Gbps\": write \"0.84 Gbit/s\""},
	{"10Mbps", QUANTITY_RATE, -EINVAL, "\"10Mbps\": write \"10 Mbit/s\""},
	{"1 gbit/s", QUANTITY_RATE, -EINVAL, "\"1 gbit/s\": write \"1 Gbit/s\""},
	{"1 Gbit", QUANTITY_RATE, -EINVAL, "\"1 Gbit\": write \"1 Gbit/s\""},
	{"1 MB/s", QUANTITY_RATE, -EINVAL,
		"\"1 MB/s\": a rate is written in bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s; write "
		"\"8 Mbit/s\""},
	{"0.105 GB/s", QUANTITY_RATE, -EINVAL,
		"\"0.105 GB/s\": a rate is written in bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s; "
		"write "
		"\"840 Mbit/s\""},
	{"9000000000000000000 MB/s", QUANTITY_RATE, -EINVAL,
		"\"9000000000000000000 MB/s\": a rate is written in bit/s, kbit/s, Mbit/s, Gbit/s "
		"or "
		"Tbit/s, e.g. \"0.84 Gbit/s\""},
	{"1000", QUANTITY_RATE, -EINVAL,
		"\"1000\": a rate needs a unit (bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s), e.g. "
		"\"0.84 "
		"Gbit/s\""},
	{"0 Mbit/s", QUANTITY_RATE, -EINVAL,
		"\"0 Mbit/s\" is too small: a rate must be at least \"1 bit/s\""},
	{"-1 Mbit/s", QUANTITY_RATE, -EINVAL,
		"\"-1 Mbit/s\": a rate cannot be negative; write e.g. \"0.84 Gbit/s\""},
	{"0,84 Gbit/s", QUANTITY_RATE, -EINVAL,
		"\"0,84 Gbit/s\": write a decimal point and no commas, e.g. \"0.84 Gbit/s\""},
	{"1 furlong", QUANTITY_RATE, -EINVAL,
		"\"1 furlong\": \"furlong\" is no unit of a rate; use bit/s, kbit/s, Mbit/s, "
		"Gbit/s or "
		"Tbit/s, e.g. \"0.84 Gbit/s\""},
	{"10000000000 Tbit/s", QUANTITY_RATE, -ERANGE,
		"\"10000000000 Tbit/s\" is too large or has too many digits; at most \"9000000 "
		"Tbit/s\" and 18 digits after the point"},
	{"300", QUANTITY_TIME, -EINVAL,
		"\"300\": a time needs a unit (ns, us, ms, s, min, h or d), e.g. \"300 ms\""},
	{"300 msec", QUANTITY_TIME, -EINVAL, "\"300 msec\": write \"300 ms\""},
	{"5 m", QUANTITY_TIME, -EINVAL, "\"5 m\": write \"5 min\""},
	{"1 year", QUANTITY_TIME, -EINVAL,
		"\"1 year\": a time is written in ns, us, ms, s, min, h or d; write \"365 d\""},
	{"0.1 ns", QUANTITY_TIME, -EINVAL,
		"\"0.1 ns\" is too small: a time must be at least \"1 ns\""},
	{"400000 d", QUANTITY_TIME, -ERANGE,
		"\"400000 d\" is too large or has too many digits; at most \"106000 d\" and 18 "
		"digits "
		"after the point"},
	{"nan", QUANTITY_TIME, -EINVAL, "\"nan\" is not a time; write e.g. \"300 ms\""},
	{"inf s", QUANTITY_TIME, -EINVAL, "\"inf s\" is not a time; write e.g. \"300 ms\""},
	{"", QUANTITY_TIME, -EINVAL, "\"\" is not a time; write e.g. \"300 ms\""},
	{".", QUANTITY_TIME, -EINVAL, "\".\" is not a time; write e.g. \"300 ms\""},
	{"- 3 s", QUANTITY_TIME, -EINVAL, "\"- 3 s\" is not a time; write e.g. \"300 ms\""},
	{"\001\n s", QUANTITY_TIME, -EINVAL, "\"?? s\" is not a time; write e.g. \"300 ms\""},
	{"6 Gb", QUANTITY_BYTES, -EINVAL, "\"6 Gb\": write \"6 GB\""},
	{"6 KB", QUANTITY_BYTES, -EINVAL, "\"6 KB\": write \"6 kB\""},
	{"0.5 B", QUANTITY_BYTES, -EINVAL,
		"\"0.5 B\": a number of bytes must be whole; write e.g. \"6 GB\""},
	{"12 G", QUANTITY_COUNT, -EINVAL, "\"12 G\": write \"12 B\""},
	{"12 billion", QUANTITY_COUNT, -EINVAL, "\"12 billion\": write \"12 B\""},
	{"1.5", QUANTITY_COUNT, -EINVAL, "\"1.5\": a number must be whole; write e.g. \"12 B\""},
	{"4", QUANTITY_BITS, -EINVAL, "\"4\": a number of bits needs a unit (bit), e.g. \"4 bit\""},
	{"2 byte", QUANTITY_BITS, -EINVAL,
		"\"2 byte\": a number of bits is written in bit; write \"16 bit\""},
	{"1025 bit", QUANTITY_BITS, -ERANGE, "\"1025 bit\" is too large; at most \"1024 bit\""},
	{"0 bit", QUANTITY_BITS, -EINVAL,
		"\"0 bit\" is too small: a number of bits must be at least \"1 bit\""},
	{"0.001", QUANTITY_RATIO, -EINVAL, "\"0.001\": a share needs a unit (%), e.g. \"0.1 %\""},
	{"100 ppm", QUANTITY_RATIO, -EINVAL,
		"\"100 ppm\": a share is written in %; write \"0.01 %\""},
	{"0.00000000001 %", QUANTITY_RATIO, -EINVAL,
		"\"0.00000000001 %\" is too small: a share must be at least \"0.0000001 %\""},
	{"123456789012345678901234567890123456789012345678901234567890 s", QUANTITY_TIME, -ERANGE,
		"\"123456789012345678901234567890123456789012345678...\" is too large or has too "
		"many "
		"digits; at most \"106000 d\" and 18 digits after the point"},
};

static void mistakes_say_what_is_right(void **state)
{
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		struct error err = {0};
		int64_t got = 77;

		assert_int_equal(quantity_parse(mistakes[i].text, mistakes[i].kind, &got, &err),
			mistakes[i].code);
		assert_string_equal(err.text, mistakes[i].message);
		assert_int_equal(err.status, STATUS_INPUT);
		assert_int_equal(got, 77);
	}
}

/* What a message tells the user to write must be accepted. */
static void advice_is_accepted(void **state)
{
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		struct error err = {0};
		char advice[64];
		const char *end, *at = NULL;
		int64_t got;

		end = strrchr(mistakes[i].message, '"');
		for (const char *p = mistakes[i].message; p < end; p++)
			if (*p == '"')
				at = p + 1;
		snprintf(advice, sizeof advice, "%.*s", (int)(end - at), at);
		if (quantity_parse(advice, mistakes[i].kind, &got, &err))
			fail_msg("%s -> %s", mistakes[i].text, err.text);
	}
}

static void spreads(void **state)
{
	struct error err = {0};
	int64_t value = 0, spread = -1;

	assert_int_equal(
		quantity_parse_spread("3.75 s \302\261 5 %", QUANTITY_TIME, &value, &spread, &err),
		0);
	assert_int_equal(value, 3750000000);
	assert_int_equal(spread, 50000000);
	assert_int_equal(
		quantity_parse_spread("4 s +- 0.5 %", QUANTITY_TIME, &value, &spread, &err), 0);
	assert_int_equal(spread, 5000000);
	assert_int_equal(
		quantity_parse_spread("4 s +/- 1 %", QUANTITY_TIME, &value, &spread, &err), 0);
	assert_int_equal(spread, 10000000);
	assert_int_equal(quantity_parse_spread("4 s", QUANTITY_TIME, &value, &spread, &err), 0);
	assert_int_equal(spread, 0);
	assert_int_equal(value, 4000000000);
}

static void spread_mistakes(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"4 s +- 100 %", "\"4 s +- 100 %\": a spread must be below 100 %; write e.g. \"300 "
				 "ms +- 5 %\""},
		{"4 s +- 1 s", "\"1 s\": \"s\" is no unit of a share; use %, e.g. \"0.1 %\""},
		{"4 +- 5 %",
			"\"4\": a time needs a unit (ns, us, ms, s, min, h or d), e.g. \"300 ms\""},
		{"+- 5 %", "\"\" is not a time; write e.g. \"300 ms\""},
	};
	char longer[400];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error err = {0};
		int64_t value, spread;

		assert_int_equal(
			quantity_parse_spread(cases[i].text, QUANTITY_TIME, &value, &spread, &err),
			-EINVAL);
		assert_string_equal(err.text, cases[i].message);
	}
	memset(longer, '1', sizeof longer);
	strcpy(longer + 300, " s +- 5 %");
	assert_int_equal(quantity_parse_spread(longer, QUANTITY_TIME, &(int64_t){0}, &(int64_t){0},
				 &(struct error){0}),
		-EINVAL);
}

static void formats_for_people(void **state)
{
	static const struct {
		enum quantity kind;
		int64_t value;
		const char *shown, *exact;
	} cases[] = {
		{QUANTITY_RATE, 840000000, "840 Mbit/s", "840 Mbit/s"},
		{QUANTITY_RATE, 999960000, "1 Gbit/s", "999.96 Mbit/s"},
		{QUANTITY_RATE, 803424000, "803.4 Mbit/s", "803.424 Mbit/s"},
		{QUANTITY_TIME, 0, "0 s", "0 s"},
		{QUANTITY_TIME, 1, "1 ns", "1 ns"},
		{QUANTITY_TIME, 300123456, "300.1 ms", "300.123456 ms"},
		{QUANTITY_TIME, 60000000000, "1 min", "1 min"},
		{QUANTITY_TIME, 105000000000, "105 s", "105 s"},
		{QUANTITY_TIME, 125000000000, "2 min", "125 s"},
		{QUANTITY_TIME, 150000000000, "2.5 min", "150 s"},
		{QUANTITY_TIME, 86400000000000, "1 d", "1 d"},
		{QUANTITY_BYTES, 6000000000, "6 GB", "6 GB"},
		{QUANTITY_BYTES, 1024, "1.024 kB", "1.024 kB"},
		{QUANTITY_BYTES, INT64_MAX, "9223 PB", "9223.372036854775807 PB"},
		{QUANTITY_COUNT, 12000000000, "12 B", "12 B"},
		{QUANTITY_COUNT, 24, "24", "24"},
		{QUANTITY_BITS, 4, "4 bit", "4 bit"},
		{QUANTITY_RATIO, 1000000, "0.1 %", "0.1 %"},
		{QUANTITY_RATIO, RATIO_ONE, "100 %", "100 %"},
		{QUANTITY_RATE, -1500, "-1.5 kbit/s", "-1.5 kbit/s"},
	};
	char buf[64];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_string_equal(
			quantity_format(buf, sizeof buf, cases[i].kind, cases[i].value, false),
			cases[i].shown);
		assert_string_equal(
			quantity_format(buf, sizeof buf, cases[i].kind, cases[i].value, true),
			cases[i].exact);
	}
	assert_string_equal(quantity_format(buf, 5, QUANTITY_RATE, 840000000, true), "840 ");
}

static void exact_format_reads_back(void **state)
{
	char buf[64];

	for (uint64_t i = 0; i < 60000; i++) {
		enum quantity kind = (enum quantity)(i % KINDS);
		int64_t value = (int64_t)(random_u64(1, 0, RANDOM_LOSS, i) >> (1 + i / KINDS % 63));
		int64_t got = -1, spread = -1;
		struct error err = {0};

		if (kind == QUANTITY_BITS)
			value = 1 + value % 1024;
		if (kind == QUANTITY_RATE && !value)
			value = 1;
		quantity_format(buf, sizeof buf, kind, value, true);
		if (quantity_parse_spread(buf, kind, &got, &spread, &err))
			fail_msg("%s: %s", buf, err.text);
		if (got != value || spread != 0)
			fail_msg("%s: %lld, want %lld", buf, (long long)got, (long long)value);
	}
}

/* Seeded mutations of good and bad text: never a crash; a value or a message, never both. */
static void mutations_are_survived(void **state)
{
	static const char alphabet[] =
		"0123456789.,+-% eE/kKMGTPBbsmhdui\302\261\265\316\274\n\t\1\377";
	char text[80];

	for (uint64_t i = 0; i < 200000; i++) {
		const char *seed = mistakes[i % (sizeof mistakes / sizeof *mistakes)].text;
		uint64_t r = random_u64(2, 0, RANDOM_LOSS, i);
		size_t n = (size_t)snprintf(text, sizeof text - 4, "%s", seed);
		int64_t value = -1, spread = -1;
		struct error err = {0};
		int code;

		n = n < sizeof text - 4 ? n : sizeof text - 5;
		for (int k = 0; n && k < 1 + (int)(r & 3); k++) {
			r = random_u64(3, 0, RANDOM_LOSS, r);
			text[r % n] = alphabet[(r >> 8) % (sizeof alphabet - 1)];
			if (r >> 63)
				text[n] = alphabet[(r >> 20) % (sizeof alphabet - 1)],
				text[++n] = 0;
			if (n > sizeof text - 5)
				n = sizeof text - 5, text[n] = 0;
		}
		code = quantity_parse_spread(
			text, (enum quantity)(r % KINDS), &value, &spread, &err);
		if (code ? value != -1 || err.status != STATUS_INPUT || strlen(err.text) < 10
			 : value < 0 || spread < 0 || err.status)
			fail_msg("\"%s\": %d, %lld, %s", text, code, (long long)value, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_exact),
		cmocka_unit_test(shares_are_neither_all_nor_nothing),
		cmocka_unit_test(mistakes_say_what_is_right),
		cmocka_unit_test(advice_is_accepted),
		cmocka_unit_test(spreads),
		cmocka_unit_test(spread_mistakes),
		cmocka_unit_test(formats_for_people),
		cmocka_unit_test(exact_format_reads_back),
		cmocka_unit_test(mutations_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
