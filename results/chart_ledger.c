/*
 * Where every accelerator-second went: one bar per participant, stacked from its states, in
 * percent of its own time.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "results/charts.h"

#define PARTS (STATE_COUNT + 2) /* compute is three: merged, not yet merged, and in vain */
#define BOTTOM 56

struct split {
	double useful, pending, lost; /* seconds of compute */
};

/* Compute in proportion to the steps that came of it; of a step that never ended, nothing did. */
static struct split split_compute(const struct record_participant *p)
{
	double compute = fmax(0, p->ledger_s[STATE_COMPUTE]);
	double useful = fmax(0, p->steps_useful), pending = fmax(0, p->steps_pending);
	double lost = fmax(0, p->steps_lost), all = useful + pending + lost;

	if (!(all > 0))
		return (struct split){.pending = compute};
	return (struct split){
		compute * useful / all, compute * pending / all, compute * lost / all};
}

bool chart_shows(const struct record_participant *p)
{
	double busy = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		if (i != STATE_IDLE)
			busy += fmax(0, p->ledger_s[i]);
	return busy > 0;
}

/* The bar's parts from its left, and their looks. */
static const struct paint *part(const struct record_participant *p, int i, double *seconds)
{
	static const enum state order[] = {STATE_CHECKPOINT, STATE_EXPOSED_COMM, STATE_BARRIER_WAIT,
		STATE_RECOVER, STATE_DOWN, STATE_IDLE};
	static const struct paint *const computes[] = {&paint_useful, &paint_pending, &paint_lost};
	static const struct record_participant none;
	struct split split;

	p = p ? p : &none;
	if (i > 2) {
		*seconds = fmax(0, p->ledger_s[order[i - 3]]);
		return paint_state(order[i - 3]);
	}
	split = split_compute(p);
	*seconds = i == 0 ? split.useful : i == 1 ? split.pending : split.lost;
	return computes[i];
}

static double total(const struct record_participant *p)
{
	double sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += fmax(0, p->ledger_s[i]);
	return sum;
}

static bool part_is_used(const struct record_participant *const *list, size_t n, int i)
{
	for (size_t k = 0; k < n; k++) {
		double seconds;

		part(list[k], i, &seconds);
		if (seconds > 0)
			return true;
	}
	return false;
}

static void write_data(struct chart *c, const struct record_participant *const *list, size_t n)
{
	chart_data(c, "# row, then the right edge of each part in %% of the participant's time:");
	for (int i = 0; i < PARTS; i++) {
		double unused;

		chart_data(c, " %s;", part(NULL, i, &unused)->label);
	}
	chart_data(c, " then its time in s\n");
	for (size_t k = 0; k < n; k++) {
		double sum = 0, seconds, all = total(list[k]);

		chart_data(c, "# %s\n%zu\t", list[k]->name, k);
		for (int i = 0; i < PARTS; i++) {
			part(list[k], i, &seconds);
			sum += seconds;
			chart_number(c, 100 * sum / all);
		}
		chart_number(c, all);
		chart_data(c, "\n");
	}
}

static void plot(struct chart *c, const struct record_participant *const *list, size_t n)
{
	const char *between = "plot";

	for (int i = 0; i < PARTS; i++) {
		const struct paint *paint;
		char left[16] = "(0)";
		double unused;

		paint = part(NULL, i, &unused);
		if (!part_is_used(list, n, i))
			continue;
		if (i)
			snprintf(left, sizeof left, "%d", i + 1);
		chart_add(c, "%s '%s.dat' using %d:1:%s:%d:($1-0.36):($1+0.36) with boxxyerror ",
			between, c->stem, i + 2, left, i + 2);
		chart_fill(c, paint);
		between = ", \\\n";
	}
	chart_add(c, "\n");
}

static size_t list_shown(
	const struct record_case *c, const struct record_participant **list, const char **names)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_participants; i++)
		if (chart_shows(&c->participants[i])) {
			names[n] = c->participants[i].name;
			list[n++] = &c->participants[i];
		}
	return n;
}

int chart_ledger(
	const struct chart_source *from, const char *stem, const char *title, struct error *err)
{
	_free_ const struct record_participant **list =
		memory_zero(from->c->n_participants, sizeof *list);
	_free_ const char **names = memory_zero(from->c->n_participants, sizeof *names);
	size_t n = list_shown(from->c, list, names);
	int row = n <= 16 ? 26 : n <= 32 ? 20 : 16, top, r;
	struct legend legend = {0};
	struct chart c;
	double unused;

	if (!n)
		return 0;
	for (int i = 0; i < PARTS; i++)
		if (part_is_used(list, n, i))
			legend_paint(&legend, part(NULL, i, &unused), NULL);
	top = chart_top(&legend);
	r = chart_begin(&c, from->dir, stem, top + (int)n * row + BOTTOM, title, &legend, err);
	if (r)
		return r;
	write_data(&c, list, n);
	chart_frame(&c, chart_names_margin(names, n), CHART_RIGHT, top, BOTTOM);
	chart_rows(&c, names, n);
	chart_add(&c, "set xrange [0:100]\nset xlabel 'share of the time (%%)' offset 0,0.3\n"
		      "set grid front\n");
	plot(&c, list, n);
	return chart_end(&c, err);
}
