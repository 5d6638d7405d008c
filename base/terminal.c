/* Terminals; see terminal.h. */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool terminal_redraws(int fd)
{
	const char *kind = getenv("TERM");

	return isatty(fd) && kind && strcmp(kind, "dumb") != 0;
}

bool terminal_colours(int fd)
{
	return terminal_redraws(fd) && !getenv("NO_COLOR");
}
