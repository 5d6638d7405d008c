/* How many files the process may have open. */
#pragma once

/*
 * As many as the hard limit permits: shells begin with fewer, for programs that use select(), and
 * 64 sites with k connections to each of 127 peers need more. What is forked later inherits it.
 */
void files_raise(void);
