/* Writing HTML: text is escaped, tables are made of cells, pictures stand in the page itself. */
#pragma once

#include <stdio.h>

/* Escapes what has a meaning in text and in attributes: & < > " ' */
void html_text(FILE *out, const char *text);

/* <tag>text</tag> */
void html_element(FILE *out, const char *tag, const char *text);

/* A table's caption and head; heads end with NULL; one that begins with '>' is of numbers. */
void html_table(FILE *out, const char *caption, const char *const *heads);
void html_table_end(FILE *out);
/* A row of cells, ending with NULL; one that begins with '>' is a number. */
void html_row(FILE *out, ...) __attribute__((sentinel));

/*
 * The SVG in the file, as part of the page: its ids get the prefix, since every picture has the
 * same, and it is named for those who do not see it. 0, or a negative errno and nothing written.
 */
int html_picture(FILE *out, const char *path, const char *prefix, const char *name);
