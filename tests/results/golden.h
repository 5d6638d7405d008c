/* The record of golden-run.json, built by hand: what its every line says in C. */
#pragma once

#include "results/record.h"

struct record *golden_record(void);
char *golden_text(size_t *length); /* the file; the caller's to free */
