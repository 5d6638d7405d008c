/* What is applied to a device, as `show` and `shape` print it. */
#pragma once

#include <jansson.h>

#include "emu/card/view.h"

/* A block of lines: the device, and each of its ways with what passed it. */
void card_print(const struct view *v, const struct device *d, const struct ways *ways);
/* bit/s, ns, bytes, shares; null for what is not there. The caller's to release. */
json_t *card_json(const struct view *v, const struct device *d, const struct ways *ways);
