/* A file replaced as a whole, or not at all: a reader meets the old one or the new one. */
#pragma once

/*
 * Writes text to `beside`, on the same file system, and moves it over `path` once it is on the
 * disk. A negative errno otherwise, with `beside` gone and `path` as it was.
 */
int file_put(const char *path, const char *beside, const char *text);

/* The same where others may write the same path at the same time, from other machines too. */
int file_put_shared(const char *path, const char *text);
