/*
 * The ledger; see ledger.h. Time and steps are accounted from the start, and the counters begin
 * again at zero with the window: a run that ends within its warm-up still has figures.
 */
#include "bench/ledger.h"

#include <math.h>

static void pass_time(struct ledger *l, int64_t at_ns)
{
	if (at_ns <= l->since_ns)
		return;
	l->in_ns[l->state] += at_ns - l->since_ns;
	l->since_ns = at_ns;
}

static double unsettled(const struct ledger *l)
{
	double left = l->steps_completed - l->steps_useful - l->steps_lost;

	return left > 0 ? left : 0;
}

void ledger_start(struct ledger *l, int64_t at_ns, enum state state, double settles)
{
	*l = (struct ledger){.state = state,
		.since_ns = at_ns,
		.from_ns = at_ns,
		.until_ns = at_ns,
		.settles = settles};
}

void ledger_state(struct ledger *l, int64_t at_ns, enum state state)
{
	if (l->done)
		return;
	pass_time(l, at_ns);
	l->state = state;
	/* What the process computed and had neither merged nor checkpointed died with it. */
	if (state == STATE_DOWN)
		l->steps_lost += unsettled(l);
}

/* What was counted so far is forgotten. */
static void begin_window(struct ledger *l, int64_t first_step)
{
	*l = (struct ledger){
		.state = l->state,
		.since_ns = l->since_ns,
		.from_ns = l->since_ns,
		.from_state = l->state,
		.until_ns = l->since_ns,
		.struck = l->struck,
		.first_step = first_step,
		.settles = l->settles,
	};
}

static void measure(struct ledger *l, int64_t first_step)
{
	if (l->measuring)
		return; /* a restarted learner says so again */
	if (!l->struck || !l->joined)
		begin_window(l, first_step);
	l->measuring = true;
}

void ledger_strike(struct ledger *l)
{
	l->struck |= !l->measuring;
}

void ledger_join(struct ledger *l, int64_t at_ns, int64_t first_step, bool struck)
{
	if (l->done || l->measuring || (l->joined && struck))
		return;
	pass_time(l, at_ns);
	begin_window(l, first_step);
	l->joined = true;
}

/* What counted as useful beyond the step returned to is computed again: it was in vain. */
static void roll_back(struct ledger *l, int64_t step)
{
	double kept = step > l->first_step ? (double)(step - l->first_step) : 0;

	if (l->steps_useful <= kept)
		return;
	l->steps_lost += l->steps_useful - kept;
	l->steps_useful = kept;
}

void ledger_report(struct ledger *l, int64_t at_ns, const struct rt_report *report)
{
	if (l->done)
		return;
	pass_time(l, at_ns);
	switch (report->kind) {
	case REPORT_MEASURE:
		measure(l, report->a);
		break;
	case REPORT_STEP:
		l->steps_completed += report->a >= l->first_step;
		break;
	case REPORT_USEFUL:
		l->steps_useful += report->amount;
		break;
	case REPORT_LOST:
		l->steps_lost += fmin(report->amount, unsettled(l));
		break;
	case REPORT_ROLLBACK:
		roll_back(l, report->a);
		break;
	case REPORT_EXCHANGE:
		l->exchanges++;
		break;
	default:
		break;
	}
}

void ledger_finish(struct ledger *l, int64_t at_ns)
{
	if (l->done)
		return;
	pass_time(l, at_ns);
	l->until_ns = l->since_ns;
	l->done = true;
}

int64_t ledger_wall_ns(const struct ledger *l)
{
	int64_t sum = 0;

	for (int s = 0; s < STATE_COUNT; s++)
		sum += l->in_ns[s];
	return sum;
}

double ledger_steps_pending(const struct ledger *l)
{
	return unsettled(l);
}

double ledger_steps_overdue(const struct ledger *l)
{
	return fmax(0, unsettled(l) - l->settles);
}

double ledger_steps_counted(const struct ledger *l)
{
	return l->steps_useful + (l->exchanges ? fmin(unsettled(l), l->settles) : 0);
}

void ledger_totals(const struct ledger *const *ledgers, const int64_t *mean_step_ns,
	const double *accelerators, int n, struct ledger_totals *out)
{
	double wall = 0, useful = 0, compute = 0, exposed = 0, away = 0;
	struct ledger_totals t = {0};

	for (int i = 0; i < n; i++) {
		const struct ledger *l = ledgers[i];
		double a = accelerators[i];

		wall += a * (double)ledger_wall_ns(l);
		useful += a * ledger_steps_counted(l) * (double)mean_step_ns[i];
		compute += a * (double)l->in_ns[STATE_COMPUTE];
		exposed += a * (double)l->in_ns[STATE_EXPOSED_COMM];
		away += a * (double)(l->in_ns[STATE_DOWN] + l->in_ns[STATE_RECOVER]);
		t.useful_steps += l->steps_useful;
		t.lost_steps += l->steps_lost;
		t.pending_steps += unsettled(l);
		t.overdue_steps += ledger_steps_overdue(l);
	}
	t.useful_work = wall > 0 ? useful / wall : NAN;
	t.compute_utilisation = compute + exposed > 0 ? compute / (compute + exposed) : NAN;
	t.availability = wall > 0 ? 1 - away / wall : NAN;
	*out = t;
}
