/* Allocation and cleanup; see memory.h. */
#include "base/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *checked(void *p)
{
	if (!p) {
		fputs("narrowlink: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *memory_zero(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *memory_resize(void *p, size_t count, size_t size)
{
	return checked(reallocarray(p, count ? count : 1, size ? size : 1));
}

char *memory_string(const char *s)
{
	return s ? checked(strdup(s)) : NULL;
}

char *memory_format(const char *format, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, format);
	n = vasprintf(&s, format, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s);
}

void cleanup_free(void *p)
{
	free(*(void **)p);
}

void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}
