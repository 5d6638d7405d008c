/*
 * Text and places in it: which bytes may stand in a scenario, and the lines of an error that
 * show a place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The offset of the first byte that is not part of printable UTF-8, or length if all are.
 * lines: tabs, line breaks and a leading byte order mark are allowed.
 */
size_t mark_bad_text(const char *text, size_t length, bool lines);

/* Line and column (in characters) of an offset, both from 1. */
void mark_position(const char *text, size_t length, size_t offset, int *line, int *column);

/*
 * The line that holds `begin` and a second one that marks [begin, end) in it, without a newline
 * at the end. A long line is shown around the place. Returns the characters written.
 */
size_t mark_show(char *buf, size_t size, const char *text, size_t length, size_t begin, size_t end);
