/*
 * Memory and cleanup: allocation that does not return NULL, and attributes that release what
 * a scope holds. Running out of memory for our small structures ends the program; large
 * buffers (the relay's pool, payload pages) are mapped and checked by their owners.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

void *memory_zero(size_t count, size_t size);		 /* calloc */
void *memory_resize(void *p, size_t count, size_t size); /* reallocarray */
char *memory_string(const char *s);			 /* strdup; NULL gives NULL */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

void cleanup_free(void *p);  /* p points at the pointer */
void cleanup_close(int *fd); /* -1 is nothing */
void cleanup_fclose(FILE **f);

#define _free_ __attribute__((cleanup(cleanup_free)))
#define _close_ __attribute__((cleanup(cleanup_close)))
#define _fclose_ __attribute__((cleanup(cleanup_fclose)))
