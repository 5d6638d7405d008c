/*
 * Text that came from elsewhere (titles, names, arguments) on its way into a file of ours.
 */
#pragma once

/* A copy in valid UTF-8: what is not becomes U+FFFD. The caller's to free. */
char *text_utf8(const char *s);

/* The same in one line: control characters become spaces. */
char *text_line(const char *s);

/* The width of valid UTF-8 text in terminal columns: its code points, combining marks apart. */
int text_columns(const char *s);
