/* The user's errors and the log; see error.h for what they are and why. */
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"

static bool verbose;

/* Whether a character begins here, in UTF-8. */
static bool begins(char c)
{
	return (c & 0xc0) != 0x80;
}

/* The beginning and the end of a sentence that is too long: the reason stands at its end. */
static void shorten(char *out, size_t size, const char *text)
{
	static const char gap[] = " ... ";
	size_t length = strlen(text), part = (size - sizeof gap) / 2, end = part;
	const char *rest = text + length - part;

	while (end && !begins(text[end]))
		end--;
	while (*rest && !begins(*rest))
		rest++;
	snprintf(out, size, "%.*s%s%s", (int)end, text, gap, rest);
}

__attribute__((format(printf, 2, 0))) static void write_text(
	struct error *err, const char *format, va_list ap, const char *after)
{
	_free_ char *text = NULL, *whole = NULL;

	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	whole = memory_format("%s%s", text ? text : format, after);
	if (strlen(whole) < sizeof err->text)
		strcpy(err->text, whole);
	else
		shorten(err->text, sizeof err->text, whole);
}

int error_set(struct error *err, int code, enum exit_status status, const char *format, ...)
{
	va_list ap;

	if (err->status != STATUS_HOLDS)
		return code;
	err->status = status;
	va_start(ap, format);
	write_text(err, format, ap, "");
	va_end(ap);
	return code;
}

/* What strerror says, and the remedy where it is the same whoever asked for what. */
static char *reason_of(int code)
{
	struct rlimit files;

	if (code == -EMFILE && getrlimit(RLIMIT_NOFILE, &files) == 0)
		return memory_format(": %s; at most %llu here; as root: ulimit -n MORE",
			strerror(EMFILE), (unsigned long long)files.rlim_cur);
	return memory_format(": %s", strerror(-code));
}

int error_sys(struct error *err, int code, const char *format, ...)
{
	_free_ char *reason = NULL;
	va_list ap;

	if (err->status != STATUS_HOLDS)
		return code;
	reason = reason_of(code);
	err->status = STATUS_MACHINE;
	va_start(ap, format);
	write_text(err, format, ap, reason);
	va_end(ap);
	return code;
}

void log_verbose(int on)
{
	verbose = on;
}

__attribute__((format(printf, 1, 0))) static void log_line(const char *format, va_list ap)
{
	char line[2048];

	vsnprintf(line, sizeof line, format, ap);
	fprintf(stderr, "narrowlink: %s\n", line);
}

void log_warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(format, ap);
	va_end(ap);
}

void log_debug(const char *format, ...)
{
	va_list ap;

	if (!verbose)
		return;
	va_start(ap, format);
	log_line(format, ap);
	va_end(ap);
}
