/* A run folder that somebody names on the command line. */
#pragma once

#include "results/record.h"

/* Its run.json. STATUS_INPUT: there is none, or it is damaged; the message says which folder. */
int run_folder_read(struct record **out, const char *folder, struct error *err);
