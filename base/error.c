/* The user's errors and the log; see error.h for what they are and why. */
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool verbose;

int error_set(struct error *err, int code, enum exit_status status, const char *format, ...)
{
	va_list ap;

	if (err->status != STATUS_HOLDS)
		return code;
	err->status = status;
	va_start(ap, format);
	vsnprintf(err->text, sizeof err->text, format, ap);
	va_end(ap);
	return code;
}

int error_sys(struct error *err, int code, const char *format, ...)
{
	va_list ap;
	size_t used;

	if (err->status != STATUS_HOLDS)
		return code;
	err->status = STATUS_MACHINE;
	va_start(ap, format);
	vsnprintf(err->text, sizeof err->text, format, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(-code));
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
