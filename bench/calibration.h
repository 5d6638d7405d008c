/*
 * Calibrations that the bench asks for: of a link by itself, and of the links between a scenario's
 * sites before its run.
 */
#pragma once

#include "bench/scenario/scenario.h"
#include "emu/measure/calibrate.h"
#include "results/record.h"

/*
 * Measures a link between a site of its own and a peer whose link has 100 Gbit/s and no
 * delay: way 0 from site 0 to site 1 is its up direction, back its down direction. The process
 * must be isolated (topology_isolate). *out is set as by calibrate(); stop_fd is for it.
 */
int calibration_of_link(struct calibration *out, const struct link_profile *link, double dilation,
	const struct backend *backend, const struct calibrate_effort *effort, const int *stop_fd,
	struct error *err);

/*
 * The links between a scenario's sites: probes around a ring of them all, flows over one way of
 * every two links that meet there. plan is the run's own.
 */
int calibration_of_scenario(struct calibration *out, const struct scenario *s,
	const struct link_plan *plan, const struct backend *backend, const int *stop_fd,
	struct error *err);

/*
 * The first way's probes as a table, t_s,there_s,back_s, scenario's time; nothing where there are
 * none or the file cannot be written: the checks stand without it.
 */
void calibration_write(const struct calibration *calibration, const char *path);

/* Into the record, with the sites' names. */
void calibration_record(
	struct record_case *c, const struct calibration *calibration, const struct scenario *s);
