/* gnuplot as a child process: no shell, no start-up file of the user's, a limit on its time. */
#pragma once

#include "base/error.h"

/*
 * Runs the script in the directory. Errors: STATUS_MACHINE, with the package when gnuplot is not
 * installed, else with what gnuplot said. limit_s: after so many seconds it is killed.
 */
int gnuplot_run(const char *dir, const char *script, int limit_s, struct error *err);
