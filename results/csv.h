/*
 * Reading the tables of a run folder, row by row, whatever became of the run: a last line that
 * was torn off, lines of the wrong shape and pages of zeros after a power cut are passed over.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct csv;

/* NULL if there is no such file, if it is none (a FIFO, a folder), or without a header. */
struct csv *csv_open(const char *folder, const char *file);
struct csv *csv_close(struct csv *csv); /* accepts NULL, returns NULL */

/* The place of a column by its name in the header; -1 if there is none. */
int csv_column(const struct csv *csv, const char *name);

/* The next whole row; false at the end. */
bool csv_next(struct csv *csv);

/* Fields of this row, valid until the next; column -1: "" and NaN. What is no number, or 1e18 and
 * more, is NaN. */
const char *csv_text(const struct csv *csv, int column);
double csv_number(const struct csv *csv, int column);

/* Where this row begins in the file, and going there: the next row is that one. */
off_t csv_row_offset(const struct csv *csv);
void csv_seek(struct csv *csv, off_t offset);
