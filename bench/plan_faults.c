/* Which of the scheduled faults may be in no figure, as far as the plan can tell; see plan.h. */
#include <stdio.h>

#include "base/clock.h"
#include "base/units.h"
#include "bench/plan.h"

struct text {
	char text[48];
};

static struct text time_text(int64_t ns)
{
	struct text t;

	quantity_format(t.text, sizeof t.text, QUANTITY_TIME, ns, false);
	return t;
}

/* The warm-up's share of the expected time. */
static int64_t warmup_ns(const struct plan *plan, const struct scenario *s)
{
	double share = (double)s->job.warmup / (double)(s->job.warmup + s->job.steps);

	return (int64_t)(share * (double)plan->expected_wall_ns);
}

static void check_rule(const struct fault_rule *rule, const struct plan *plan,
	const struct scenario *s, plan_say *say, void *user)
{
	int64_t warm_ns = warmup_ns(plan, s), end_ns = plan->expected_wall_ns;
	const char *target = rule->target < 0 ? "each learner" : s->sites[rule->target].name;
	char what[160], text[512];

	snprintf(what, sizeof what, "the %s of %s at %s", fault_kind_name(rule->kind), target,
		time_text(rule->at_ns).text);
	if (rule->at_ns >= s->limit_ns)
		snprintf(text, sizeof text, "%s will not happen: run.limit ends the run at %s",
			what, time_text(s->limit_ns).text);
	else if (rule->at_ns >= end_ns)
		snprintf(text, sizeof text,
			"%s may not happen: the run is expected to end at about %s", what,
			time_text(end_ns).text);
	else if (rule->at_ns < warm_ns)
		snprintf(text, sizeof text,
			"%s begins in the warm-up, which ends at about %s: what it costs from then "
			"on is counted, what it costs before is not",
			what, time_text(warm_ns).text);
	else
		return;
	say(user, text);
}

void plan_check_faults(const struct plan *plan, const struct scenario *s, plan_say *say, void *user)
{
	for (size_t i = 0; i < s->n_faults; i++)
		if (s->faults[i].at_ns >= 0)
			check_rule(&s->faults[i], plan, s, say, user);
}
