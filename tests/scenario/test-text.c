/* Places in a text, the marked line, and the nearest name. */
#include <string.h>

#include "bench/scenario/mark.h"
#include "bench/scenario/nearest.h"
#include "tests/test.h"

/* Distances from the literature: kitten/sitting 3, saturday/sunday 3, gumbo/gambol 2. */
static void levenshtein(void **state)
{
	char longer[200];

	assert_int_equal(nearest_distance("kitten", "sitting"), 3);
	assert_int_equal(nearest_distance("saturday", "sunday"), 3);
	assert_int_equal(nearest_distance("gumbo", "gambol"), 2);
	assert_int_equal(nearest_distance("", "abc"), 3);
	assert_int_equal(nearest_distance("abc", ""), 3);
	assert_int_equal(nearest_distance("abc", "abc"), 0);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(nearest_distance(longer, "abc"), 199);
}

static void nearest_is_near_or_nothing(void **state)
{
	struct nearest n = {.written = "perod"}, none = {.written = "zebra"};

	nearest_offer(&n, "overlap");
	nearest_offer(&n, "period");
	nearest_offer(&n, "perio");
	assert_string_equal(n.best, "period");
	nearest_offer(&none, "period");
	nearest_offer(&none, "at");
	assert_null(none.best);
}

static void bad_text(void **state)
{
	static const struct {
		const char *text;
		size_t length, bad;
		bool lines;
	} cases[] = {
		{"plain", 5, 5, false},
		{"two\nlines", 9, 3, false},
		{"two\nlines\t\r", 11, 11, true},
		{"\357\273\277bom", 6, 6, true},
		{"a\357\273\277", 4, 1, true},
		{"\303\251\342\202\254\360\237\230\200", 9, 9, false},
		{"a\303", 2, 1, false},		   /* cut off */
		{"\300\200", 2, 0, false},	   /* overlong NUL */
		{"\340\200\200", 3, 0, false},	   /* overlong */
		{"\355\240\200", 3, 0, false},	   /* surrogate */
		{"\364\220\200\200", 4, 0, false}, /* above U+10FFFF */
		{"\302\205", 2, 0, false},	   /* a C1 control, a line break to some */
		{"a\0b", 3, 1, true},
		{"a\177", 2, 1, true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(mark_bad_text(cases[i].text, cases[i].length, cases[i].lines),
			cases[i].bad);
}

static void positions(void **state)
{
	static const char text[] = "ab\nc\303\251f\n";
	int line, column;

	mark_position(text, 8, 0, &line, &column);
	assert_int_equal(line * 100 + column, 101);
	mark_position(text, 8, 6, &line, &column); /* the f, third character of line 2 */
	assert_int_equal(line * 100 + column, 203);
	mark_position(text, 8, 8, &line, &column);
	assert_int_equal(line * 100 + column, 301);
}

static void marks(void **state)
{
	static const char text[] = "a\n\tb\303\251: xyz \nc";
	char buf[600], longer[500];

	mark_show(buf, sizeof buf, text, strlen(text), 8, 11);
	assert_string_equal(buf, " b\303\251: xyz\n     ^~~");
	assert_int_equal(mark_show(buf, 4, text, strlen(text), 8, 11), 0);
	assert_int_equal(mark_show(buf, sizeof buf, "", 0, 0, 0), 0);
	memset(longer, 'x', sizeof longer);
	mark_show(buf, sizeof buf, longer, sizeof longer, 300, 490);
	assert_int_equal(strchr(buf, '\n') - buf, 160);
	assert_int_equal(strchr(buf, '^') - strchr(buf, '\n'), 101);
	assert_int_equal(strlen(buf), 160 + 1 + 160);
	for (size_t i = 0; i < sizeof longer; i++)
		longer[i] = i % 2 ? '\251' : '\303'; /* cut between characters, not in one */
	mark_show(buf, sizeof buf, longer, sizeof longer - 1, 201, 490);
	assert_null(strchr(buf, '?'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levenshtein),
		cmocka_unit_test(nearest_is_near_or_nothing),
		cmocka_unit_test(bad_text),
		cmocka_unit_test(positions),
		cmocka_unit_test(marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
