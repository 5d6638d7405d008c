/* A directory of a test's own, and files in it. */
#pragma once

#include <stdbool.h>

char *scratch_new(void);			       /* the caller's, for scratch_free */
void scratch_free(char *dir);			       /* removes it and all in it */
char *scratch_read(const char *dir, const char *file); /* NULL if it is not there; to free */
bool scratch_has(const char *dir, const char *file);
void scratch_write(const char *dir, const char *file, const char *text);
