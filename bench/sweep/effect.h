/* Keys of a matrix that change nothing. */
#pragma once

#include "results/sweep_record.h"

/*
 * Notes in the sweep which keys of its matrix alter no result: "nothing in these cases uses
 * `links.wan.queue`", or only for a strategy: "nothing in the cases of data-parallel uses ...".
 */
void effect_notes(struct sweep_record *sweep);
