/* Charts of sweeps and seeks: NAME.gp, .dat and .svg in a folder that exists. */
#pragma once

#include "results/sweep_record.h"

/*
 * One for each key of the matrix that makes a curve; names the stems in *stems (the caller frees
 * each and the list). A chart that fails does not keep the others from being drawn.
 */
int chart_sweep(
	const struct sweep_record *s, const char *dir, char ***stems, size_t *n, struct error *err);

/* What a seek looked at: seek.svg. */
int chart_seek(const struct seek_record *seek, const char *dir, struct error *err);
