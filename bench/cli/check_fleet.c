/* The plan of a fleet, as `narrowlink check` prints it. */
#include <math.h>
#include <stdio.h>

#include "bench/cli/check.h"
#include "bench/model/renewal_plan.h"

static void row_seconds(const char *label, double seconds)
{
	check_quantity(label, QUANTITY_TIME, llround(seconds * 1e9));
}

static void row_percent(const char *label, double ratio)
{
	char text[32];

	snprintf(text, sizeof text, "%.2f %%", 100 * ratio);
	check_row(label, text);
}

static void print_intervals(const struct fleet_plan *p)
{
	if (isnan(p->young_s))
		return;
	row_seconds("best checkpoint interval by Young, sqrt(2 d m)", p->young_s);
	row_seconds("  by Daly", p->daly_s);
}

static void print_stragglers(const struct fleet *f, const struct fleet_plan *p)
{
	char label[96], text[32];

	if (f->learners == 1)
		return;
	snprintf(label, sizeof label, "fastest %d of %d exponential steps, H_M - H_(M-K)",
		f->quorum, f->learners);
	snprintf(text, sizeof text, "%.4g mean steps", p->straggler);
	check_row(label, text);
}

void check_fleet_print(const struct scenario *s)
{
	const struct fleet *f = &s->fleet;
	struct fleet_plan p;

	fleet_plan_make(&p, f);
	printf("plan%s%s: a fleet of %lld chips, %d learner%s%s\n", s->case_name[0] ? " for " : "",
		s->case_name, (long long)f->chips, f->learners, f->learners > 1 ? "s" : "",
		f->elastic ? ", elastic" : "");
	row_seconds("mean time between interruptions of the fleet", p.fleet_mtbf_s);
	row_seconds("  of a learner, m", p.learner_mtbf_s);
	row_seconds("stop of a learner per interruption, r", p.stop_s);
	row_percent(f->repeat ? "a learner is up, exp(-r/m)" : "a learner is up, 1/(1 + r/m)",
		p.availability);
	row_percent("at least K of M learners are up: uptime", p.uptime);
	row_percent("goodput", p.goodput);
	print_intervals(&p);
	print_stragglers(f, &p);
	puts("\n  closed formulas (docs/fleet.md); the run simulates what they leave out.\n");
}

json_t *check_fleet_json(const struct scenario *s)
{
	struct fleet_plan p;

	fleet_plan_make(&p, &s->fleet);
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:f}", "fleet_mtbf_s",
		p.fleet_mtbf_s, "learner_mtbf_s", p.learner_mtbf_s, "stop_s", p.stop_s,
		"learner_availability", p.availability, "uptime", p.uptime, "goodput", p.goodput,
		"young_interval_s", isnan(p.young_s) ? json_null() : json_real(p.young_s),
		"daly_interval_s", isnan(p.daly_s) ? json_null() : json_real(p.daly_s),
		"straggler_steps", p.straggler);
}
