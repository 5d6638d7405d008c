/* Places in a text; see mark.h. */
#include "bench/scenario/mark.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BEFORE 100 /* bytes of a long line shown before the place, and after its begin */
#define AFTER 60

/* Length of the UTF-8 sequence at s (at most `left` bytes), 0 if it is none; its code point. */
static size_t decode(const char *s, size_t left, uint32_t *code)
{
	unsigned char c = (unsigned char)*s;
	size_t n = c < 0x80		   ? 1
		   : c >= 0xc2 && c < 0xe0 ? 2
		   : c >= 0xe0 && c < 0xf0 ? 3
		   : c >= 0xf0 && c < 0xf5 ? 4
					   : 0;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	if (!n || n > left)
		return 0;
	*code = n == 1 ? c : c & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | ((unsigned char)s[i] & 0x3f);
	}
	return *code < least[n] || *code > 0x10ffff ? 0 : n;
}

static bool printable(uint32_t code)
{
	return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != 0x2028 && code != 0x2029 &&
	       !(code >= 0xd800 && code < 0xe000) && code != 0xfeff && code != 0xfffe &&
	       code != 0xffff;
}

size_t mark_bad_text(const char *text, size_t length, bool lines)
{
	size_t at = lines && length >= 3 && !memcmp(text, "\357\273\277", 3) ? 3 : 0;

	while (at < length) {
		uint32_t code = 0;
		size_t n = decode(text + at, length - at, &code);
		bool blank = code == '\t' || code == '\n' || code == '\r';

		if (!n || !(printable(code) || (lines && blank)))
			return at;
		at += n;
	}
	return length;
}

static size_t line_begin(const char *text, size_t offset)
{
	while (offset && text[offset - 1] != '\n')
		offset--;
	return offset;
}

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void mark_position(const char *text, size_t length, size_t offset, int *line, int *column)
{
	size_t begin = line_begin(text, offset);

	*line = 1;
	*column = 1;
	for (size_t i = 0; i < begin; i++)
		*line += text[i] == '\n';
	for (size_t i = begin; i < offset && i < length; i++)
		*column += !continues(text[i]);
}

/* Copies what can be shown, "?" for each byte that cannot, and no blanks at the end. */
static size_t copy_printable(char *buf, const char *text, size_t length)
{
	size_t n = 0;

	while (n < length) {
		uint32_t code = 0;
		size_t bytes = decode(text + n, length - n, &code);

		if (bytes && printable(code)) {
			memcpy(buf + n, text + n, bytes);
		} else {
			bytes = 1;
			buf[n] = text[n] == '\t' || text[n] == '\r' ? ' ' : '?';
		}
		n += bytes;
	}
	while (n && buf[n - 1] == ' ')
		n--;
	return n;
}

size_t mark_show(char *buf, size_t size, const char *text, size_t length, size_t begin, size_t end)
{
	size_t first = line_begin(text, begin), last = begin, n = 0;

	while (last < length && text[last] != '\n')
		last++;
	if (begin - first > BEFORE)
		first = begin - BEFORE;
	while (first < begin && continues(text[first]))
		first++;
	if (last - begin > AFTER)
		last = begin + AFTER;
	while (last > begin && last < length && continues(text[last]))
		last--;
	if (2 * (last - first) + 8 > size)
		return 0;
	n = copy_printable(buf, text + first, last - first);
	if (!n)
		return 0;
	buf[n++] = '\n';
	for (size_t i = first; i < begin; i++)
		if (!continues(text[i]))
			buf[n++] = ' ';
	buf[n++] = '^';
	for (size_t i = begin + 1; i < end && i < last; i++)
		if (!continues(text[i]))
			buf[n++] = '~';
	buf[n] = '\0';
	return n;
}
