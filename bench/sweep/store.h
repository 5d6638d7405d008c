/*
 * The finished cases of a sweep: a folder with one file per case, named by a hash of what was
 * computed - the resolved scenario, its traces, what was sought in it, and the program's version.
 * A file is there as a whole or not at all, so whatever ends a sweep, what is there is finished.
 */
#pragma once

#include "base/error.h"
#include "bench/scenario/scenario.h"
#include "results/sweep_record.h"

#define STORE_ID 33 /* 32 hexadecimal digits and a NUL */

/* what: more text that the result depends on; "" for none. */
void store_id(char id[STORE_ID], const struct scenario *s, const char *what);

/* Makes dir and its cases/. STATUS_INPUT or STATUS_MACHINE. */
int store_open(const char *dir, struct error *err);
/* -ENOENT without an error: not finished. */
int store_get(struct sweep_case **out, const char *dir, const char *id, struct error *err);
int store_put(const char *dir, const struct sweep_case *c, struct error *err);
