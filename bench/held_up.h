/*
 * Did agents or links set the pace of TCP? The kernel counts how long a connection that had
 * something to send waited for its peer's window, which is the reader's doing, or for room in
 * its own send buffer.
 */
#pragma once

#include "bench/observe.h"
#include "results/record.h"

/*
 * Of the pair of participants that was held up for the largest share of the time in which it had
 * something to send: the shares, into the record. More than a fifth by one of the two makes the
 * case invalid where the program chose the buffers, as twice what the way holds; buffers that the
 * scenario chose are part of what it asks, and are a note.
 */
void held_up_judge(struct record_case *c, const struct observation *o);
