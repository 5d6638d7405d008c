/*
 * The keeper: a process that holds the lease on a device and puts back what was there when the
 * lease ends, when the program that shapes it asks, and when that dies, however it dies.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "emu/card/saved.h"

struct keeper_job {
	const struct shaping *shaping;
	const struct saved *saved;
	int64_t until_ns; /* CLOCK_MONOTONIC, TIME_NEVER: as long as the program lives */
	int owner_fd;	  /* of owner_take: held until everything is as it was */
};

struct keeper {
	struct keeper_job job;
	pid_t pid;
	int fd; /* readable: the keeper has ended */
};

/* Starts it, before anything is set. STATUS_MACHINE. */
int keeper_start(struct keeper *k, const struct keeper_job *job, struct error *err);

/*
 * Everything is put back when this returns, by the keeper or, if somebody has killed that, here.
 * STATUS_MACHINE with what could not be.
 */
int keeper_end(struct keeper *k, struct error *err);
