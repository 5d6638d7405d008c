/*
 * Who shapes a device: at most one process at a time.
 *
 * It is a listening socket with an abstract name, made of the device's index. Such names belong to
 * a network namespace, as devices do; they go with the last process that holds the socket, however
 * that dies; and whoever connects is told by the kernel which process began to listen. A lock on
 * a file would need a folder that every namespace shares, a name for the namespace, and a
 * number written into it.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/* Takes the device: *fd is to be held, and closed in the end. -EBUSY (STATUS_MACHINE) names who
 * has it. */
int owner_take(int *fd, int index, const char *device, struct error *err);

/* Waiting connections of those who asked; to be called when *fd is readable. */
void owner_answer(int fd);

/* 0: nobody. -1: somebody who cannot be named: a process of another PID namespace, or one that
 * hangs and has not answered many who asked (this one has waited a second). */
pid_t owner_pid(int index);
