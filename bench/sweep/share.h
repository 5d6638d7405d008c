/*
 * Which part of a sweep this process has, as a cluster's launcher tells its processes in their
 * environment: Open MPI's mpirun, MPICH's and other PMI launchers, srun, and Slurm job arrays,
 * within which srun may start several. Nothing is linked for it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct share {
	int rank, size;	      /* 0 of 1 where nothing is set */
	const char *launcher; /* "Open MPI", "PMI", "Slurm", "Slurm array"; NULL: none */
};

/* Looks variables up with get (getenv); STATUS_INPUT names the variable that makes no sense. */
int share_find(struct share *out, const char *(*get)(void *user, const char *name), void *user,
	struct error *err);
/* The same from this process' environment. */
int share_here(struct share *out, struct error *err);

/* Whether item i of a list is this process' part. */
static inline bool share_has(const struct share *s, size_t i)
{
	return i % (size_t)s->size == (size_t)s->rank;
}
