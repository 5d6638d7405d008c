/* Closed formulas of renewal theory; see renewal_plan.h. */
#include "bench/model/renewal_plan.h"

#include <math.h>

#include "base/clock.h"

double plan_daly(double tau, double d, double r, double m)
{
	return tau / (m * exp(r / m) * expm1((tau + d) / m));
}

double plan_renewal(double tau, double d, double r, double m)
{
	return tau / ((m + r) * expm1((tau + d) / m));
}

double plan_young_interval(double d, double m)
{
	return sqrt(2 * d * m);
}

double plan_daly_interval(double d, double m)
{
	double x = d / (2 * m);

	if (d >= 2 * m)
		return m;
	return sqrt(2 * d * m) * (1 + sqrt(x) / 3 + x / 9) - d;
}

double plan_availability(double r, double m, bool repeat)
{
	return repeat ? exp(-r / m) : m / (m + r);
}

/* Probability that exactly j of n are up, 0 < a < 1. */
static double exactly(int n, int j, double a)
{
	return exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) + j * log(a) +
		   (n - j) * log1p(-a));
}

double plan_quorum(int n, int k, double a)
{
	double sum = 0;

	if (a <= 0 || a >= 1)
		return a >= 1;
	for (int j = k; j <= n; j++)
		sum += exactly(n, j, a);
	return fmin(sum, 1);
}

double plan_quorum_share(int n, int k, double a)
{
	double sum = 0;

	if (a <= 0 || a >= 1)
		return a >= 1;
	for (int j = k; j <= n; j++)
		sum += exactly(n, j, a) * j / n;
	return fmin(sum, 1);
}

double plan_straggler(int n, int k)
{
	double sum = 0;

	for (int i = n - k + 1; i <= n; i++)
		sum += 1. / i;
	return sum;
}

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* Share of the time in which a learner that is up all the time does useful work. */
static double while_up(const struct fleet *f, const struct fleet_plan *p)
{
	double tau = seconds(f->checkpoint_every_ns), d = seconds(f->checkpoint_cost_ns);
	double m = p->learner_mtbf_s;

	if (f->elastic) {
		double repaired = seconds(f->repair_ns) * (double)f->replica;

		return plan_availability(repaired, seconds(f->mtbf_ns), false) *
		       (tau > 0 ? tau / (tau + d) : 1);
	}
	return tau > 0 ? plan_renewal(tau, d, 0, m) : 1;
}

void fleet_plan_make(struct fleet_plan *p, const struct fleet *f)
{
	double d = seconds(f->checkpoint_cost_ns);

	*p = (struct fleet_plan){.young_s = NAN, .daly_s = NAN};
	p->fleet_mtbf_s = seconds(f->mtbf_ns) / (double)f->chips;
	p->learner_mtbf_s = p->fleet_mtbf_s * f->learners;
	p->stop_s = seconds(f->elastic ? f->scale_down_ns + f->scale_up_ns : f->repair_ns);
	p->availability = plan_availability(p->stop_s, p->learner_mtbf_s, f->repeat);
	p->uptime = plan_quorum(f->learners, f->quorum, p->availability);
	p->goodput = plan_quorum_share(f->learners, f->quorum, p->availability) * while_up(f, p);
	p->straggler = plan_straggler(f->learners, f->quorum);
	if (d > 0 && !f->elastic) {
		p->young_s = plan_young_interval(d, p->learner_mtbf_s);
		p->daly_s = plan_daly_interval(d, p->learner_mtbf_s);
	}
}
