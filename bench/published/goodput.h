/*
 * Goodput of a fleet: n chips, each interrupted once in mtbi_s, in M groups that do not wait for
 * each other. An interruption costs its group D seconds, so a group of n/M chips is up
 *
 *   1 / (1 + n/M / mtbi * D)
 *
 * of the time, and M learners over n chips are one learner with n/M chips: the M-fold rule.
 *
 * What D was is not published. It is one setting per family of rows: those that wait until what
 * broke is repaired, and those that go on with what is left.
 */
#pragma once

#include "results/published/published.h"

#define GOODPUT_REPAIR_S 75. /* not elastic */
#define GOODPUT_RESIZE_S 22. /* elastic: until the group goes on with what is left, and back */

double goodput(const struct published_fleet *fleet, double chips);
