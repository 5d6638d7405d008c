/* What is a terminal that can be drawn on: by its kind, the user's wish, and what is none. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/terminal.h"
#include "tests/test.h"

static void by_kind_and_wish(void **state)
{
	static const struct {
		const char *kind, *no_color;
		bool redraws, colours;
	} cases[] = {{"xterm-256color", NULL, true, true}, {"xterm", "1", true, false},
		{"dumb", NULL, false, false}, {NULL, NULL, false, false}};
	int fd = posix_openpt(O_RDWR | O_NOCTTY);

	if (fd < 0)
		skip();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		unsetenv("TERM");
		unsetenv("NO_COLOR");
		if (cases[i].kind)
			setenv("TERM", cases[i].kind, 1);
		if (cases[i].no_color)
			setenv("NO_COLOR", cases[i].no_color, 1);
		assert_int_equal(terminal_redraws(fd), cases[i].redraws);
		assert_int_equal(terminal_colours(fd), cases[i].colours);
	}
	close(fd);
}

static void a_file_is_none(void **state)
{
	int fd = open("/dev/null", O_RDWR);

	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	assert_false(terminal_redraws(fd) || terminal_colours(fd));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_kind_and_wish),
		cmocka_unit_test(a_file_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
