/* How long a run takes that somebody may not want to wait for; see plan.h. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/units.h"
#include "bench/plan.h"

#define LONG_NS (86400 * (double)NS_PER_S)

void plan_check_time(const struct plan *plan, const struct scenario *s, plan_say *say, void *user)
{
	double wall_ns = (double)plan->expected_wall_ns * s->dilation;
	char takes[32], text[160];

	if (wall_ns <= LONG_NS)
		return;
	quantity_format(takes, sizeof takes, QUANTITY_TIME, (int64_t)fmin(wall_ns, 9e18), false);
	snprintf(text, sizeof text,
		"on real packets the run takes about %s: fewer run.steps or a run.limit make it "
		"shorter, --engine model does not wait",
		takes);
	say(user, text);
}
