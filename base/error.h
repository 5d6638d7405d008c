/*
 * An error as the user reads it, and the exit status it leads to.
 *
 * Functions return 0 or a negative errno for the caller to forward; a `struct error` carries
 * the sentence: what went wrong, where, and what would be right. Only the first error is kept,
 * since it is the cause and later ones are consequences.
 */
#pragma once

#include <stdarg.h>

enum exit_status {
	STATUS_HOLDS = 0,   /* done; every expectation holds */
	STATUS_FAILED = 1,  /* an expectation failed */
	STATUS_INPUT = 2,   /* the user's input is wrong */
	STATUS_MACHINE = 3, /* this machine or user cannot do it */
	STATUS_INVALID = 4, /* the run was invalid or was cut short: no verdict */
};

struct error {
	enum exit_status status; /* STATUS_HOLDS while no error is set */
	char text[2048];	 /* one or more lines, no newline at the end */
};

/*
 * Sets the error unless one is set already. Returns code, so that `return error_set(...)` works.
 * A text too long for the room (a path of thousands of characters) loses its middle.
 */
int error_set(struct error *err, int code, enum exit_status status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * As error_set with STATUS_MACHINE, ": strerror(-code)" appended, and for -EMFILE the limit and how
 * it is raised. code is a negative errno.
 */
int error_sys(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The log: the program's only global state. One line on stderr, "narrowlink: " before it;
 * log_debug prints only after log_verbose(1).
 */
void log_verbose(int on);
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
