/* An error about a node: its place, what is wrong, and the marked line. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/scenario/mark.h"
#include "bench/scenario/tree.h"

int node_error(
	const struct node *at, const char *context, struct error *err, const char *format, ...)
{
	const struct source *s = at->source;
	char message[1024], shown[512] = "", place[32] = "";
	int line, column;
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	if (s->file) {
		mark_position(s->text, s->length, at->begin, &line, &column);
		snprintf(place, sizeof place, ":%d:%d", line, column);
		mark_show(shown, sizeof shown, s->text, s->length, at->begin, at->end);
	}
	return error_set(err, -EINVAL, STATUS_INPUT, "%.256s%s: %s%s%s%s%s", s->name, place,
		context ? context : "", context ? ": " : "", message, *shown ? "\n" : "", shown);
}
