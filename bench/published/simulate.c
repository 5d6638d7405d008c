/* Published jobs in simulated time; see simulate.h. */
#include "bench/published/simulate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/case.h"
#include "bench/published/scenarios.h"
#include "bench/scenario/scenario.h"
#include "bench/seek/search.h"

#define RATE_MOST_BPS 1e13 /* the language's */

/* Steps that say what all would: whole periods, after one that nothing came before. */
static void lengths(const struct published_job *job, double rtt_s, int *steps, int *warmup)
{
	*steps = *warmup = job->period;
	if (job->period == 1) { /* until windows have grown */
		*warmup = rtt_s > 0 ? 2 + (int)ceil(10 * rtt_s / job->step_s) : 1;
		*steps = rtt_s > 0 ? 4 + (int)ceil(5 * rtt_s / job->step_s) : 1;
	}
}

static char *write_scenario(const struct published_job *job, double rate_bps, double rtt_s)
{
	bool strided = job->layout == PUBLISHED_STRIDED;
	int steps, warmup;

	lengths(job, rtt_s, &steps, &warmup);
	return memory_format("narrowlink: 1\n"
			     "links: {wan: {rate: %.0f bit/s, delay: %.0f ns}}\n"
			     "sites: {count: %d, link: wan}\n"
			     "workload:\n"
			     "  strategy: %s\n"
			     "  parameters: %.0f\n"
			     "  step: %.0f ns\n"
			     "  bits: %d bit\n"
			     "  buckets: %d\n"
			     "  outer: {period: %d, fragments: %d, overlap: %d, bits: %d bit}\n"
			     "transport: {tcp: %s}\n"
			     "run: {steps: %d, warmup: %d}\n",
		rate_bps, rtt_s / 4 * 1e9, job->replicas, job->strategy, job->parameters,
		job->step_s * 1e9, job->bits,
		strided ? job->buckets / job->fragments : job->buckets, job->period, job->fragments,
		job->overlap, job->bits, rtt_s > 0 ? "real" : "ideal", steps, warmup);
}

/* Runs one case of a scenario; *c is the record's. */
static int run_case(struct record *record, struct record_case **c, const struct scenario_file *file,
	size_t index, struct error *err)
{
	const struct case_context context = {.signal_fd = -1, .index = index};

	if (index >= file->n_cases)
		return error_set(
			err, -EINVAL, STATUS_INPUT, "%s has no case %zu", file->path, index);
	*c = record_add_case(record, "");
	return case_model(*c, file->cases[index], &context, err);
}

int simulate_utilisation(double *out, const struct published_job *job, double rate_bps,
	double rtt_s, struct error *err)
{
	_free_ char *text = write_scenario(job, rate_bps, rtt_s);
	struct scenario_file *file = NULL;
	struct record *record = record_new();
	struct record_case *c = NULL;
	int r = scenario_load_text(&file, "a published job", text, strlen(text), NULL, 0, err);

	if (!r)
		r = run_case(record, &c, file, 0, err);
	if (!r)
		*out = isnan(c->compute_utilisation) ? 0 : c->compute_utilisation;
	record_free(record);
	scenario_file_free(file);
	return r;
}

struct attempt {
	const struct published_job *job;
	double utilisation, rtt_s;
};

static int attempt(void *user, double value, struct search_point *out, struct error *err)
{
	const struct attempt *a = user;
	int r = simulate_utilisation(&out->got, a->job, value, a->rtt_s, err);

	out->holds = !r && out->got >= a->utilisation;
	return r;
}

int simulate_rate(double *out, const struct published_job *job, double utilisation,
	double ideal_bps, double rtt_s, struct error *err)
{
	struct attempt a = {job, utilisation, rtt_s};
	const struct search search = {
		.low = ideal_bps / 2,
		.high = fmin(ideal_bps * SIMULATE_MOST, RATE_MOST_BPS),
		.tolerance = rtt_s > 0 ? .02 : .001,
	};
	struct search_result result;
	int r = search_run(&result, &search, attempt, &a, err);

	if (!r)
		*out = result.outcome == SEARCH_NONE ? NAN : result.found;
	return r;
}

static const char *text_of(const char *scenario)
{
	for (const struct embedded_scenario *e = embedded_scenarios; e->name; e++)
		if (!strcmp(e->name, scenario))
			return e->text;
	return NULL;
}

static double measured(
	const struct published_table *table, const struct scenario *s, const struct record_case *c)
{
	switch (table->quantity) {
	case PUBLISHED_EXCHANGE:
		return c->exchange_p50_s;
	case PUBLISHED_INTERVAL:
		return (double)(s->job.period * s->job.step_ns) / NS_PER_S / c->compute_utilisation;
	default:
		return c->compute_utilisation;
	}
}

int simulate_measured(double *out, const struct published_table *table, const char *scenario,
	int case_index, struct error *err)
{
	const char *text = text_of(scenario);
	struct scenario_file *file = NULL;
	struct record *record = record_new();
	struct record_case *c = NULL;
	int r = scenario_load_text(&file, scenario, text, strlen(text), NULL, 0, err);

	if (!r)
		r = run_case(record, &c, file, (size_t)case_index, err);
	if (!r)
		*out = measured(table, file->cases[case_index], c);
	record_free(record);
	scenario_file_free(file);
	return r;
}
