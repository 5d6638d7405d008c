/* What may be written to a terminal beside plain lines. */
#pragma once

#include <stdbool.h>

/* A terminal that returns to the line's beginning and clears it: TERM is neither unset nor dumb. */
bool terminal_redraws(int fd);
/* One that also shows colours, and whose user has not set NO_COLOR. */
bool terminal_colours(int fd);
