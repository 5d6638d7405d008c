/* Random but sound options, by a fixed seed. */
#pragma once

#include <stdint.h>

#include "emu/netem/netem.h"
#include "emu/netem/tbf.h"

/* Tables point into memory of random.c and hold until the next call. */
void random_netem(struct netem *n, uint64_t *counter);
void random_tbf(struct tbf *t, uint64_t *counter);
