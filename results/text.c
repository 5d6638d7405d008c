/*
 * UTF-8: checking, repairing, measuring; see text.h. The table of well-formed byte sequences is
 * the Unicode standard's (table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF.
 */
#include "results/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the well-formed sequence that s begins with, or 0. s ends with a NUL. */
static size_t sequence(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	for (size_t i = 1; i < n; i++, low = 0x80, high = 0xbf)
		if (s[i] < low || s[i] > high)
			return 0;
	return n;
}

char *text_utf8(const char *s)
{
	const size_t mark = sizeof REPLACEMENT - 1;
	char *clean = memory_zero(strlen(s) * mark + 1, 1), *to = clean;

	while (*s) {
		size_t n = sequence((const unsigned char *)s);

		memcpy(to, n ? s : REPLACEMENT, n ? n : mark);
		to += n ? n : mark;
		s += n ? n : 1;
	}
	return clean;
}

char *text_line(const char *s)
{
	char *line = text_utf8(s);

	for (char *p = line; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = ' ';
	return line;
}

int text_columns(const char *s)
{
	int columns = 0;

	for (; *s; s++) {
		unsigned char a = (unsigned char)s[0], b = (unsigned char)s[1];
		/* U+0300 to U+036F: combining diacritical marks */
		bool combining = a == 0xcc || (a == 0xcd && b < 0xb0);

		if ((a & 0xc0) != 0x80 && !combining)
			columns++;
	}
	return columns;
}
