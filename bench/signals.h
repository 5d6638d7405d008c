/*
 * The user's wish that what runs should end, as a descriptor that can be polled: Ctrl-C, SIGTERM
 * and SIGHUP, which are blocked meanwhile in the program and in all its children. One that the
 * program was started to ignore is no such wish: nohup does so with SIGHUP, a shell without job
 * control with the SIGINT of what it starts in the background.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* Whether the program ignores this signal: as it was started, unless it set so itself. */
bool signals_ignored(int signal);
/* Readable when a signal has come and for as long as it is not given back; the
 * caller's to do so. */
int signals_take(struct error *err);
/* What came is taken out first; another signal ends the program again. -1: nothing. */
void signals_give_back(int fd);
