/*
 * A file that grows by whole lines, and holds whole lines whatever happens to the disk.
 *
 * Lines are gathered and written together, at the latest a second after the first of them came.
 * When a write fails or falls short, the file is cut back to its last whole line and stays as it
 * is: later lines are dropped, so that a full disk leaves a readable beginning and not a file
 * with holes.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

struct lines;

/* Creates the file (it must not exist) in the directory. */
int lines_create(struct lines **out, int dir_fd, const char *name, struct error *err);

/* Adds a line of n bytes, its '\n' included. */
void lines_add(struct lines *l, const char *line, size_t n);

/* Writes what is gathered and syncs it. Returns the first error since the last call. */
int lines_flush(struct lines *l);

struct lines *lines_free(struct lines *l); /* flushes; accepts NULL, returns NULL */
