/*
 * A run can be invalid: a link that was not the link it was told to be, a relay that was late, an
 * agent that stood still or was held up by something else than the link. docs/fidelity.md has
 * the limits and their reasons.
 */
#pragma once

#include "bench/verdict.h"

/*
 * Fills in what was measured (idle round trip, processors, TCP's memory), and judges: c->valid, and
 * a reason for each thing that was not as asked. The rest of the record's measurements must be in
 * it.
 */
void fidelity_judge(
	struct record_case *c, const struct observation *o, const struct verdict_input *in);
