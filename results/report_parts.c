/*
 * The verdict and what it rests on: boxes and tables of one case. Every text from a record goes
 * through html_text.
 */
#include "results/report_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "results/html.h"
#include "results/show.h"

const char *report_verdict(const char *verdict)
{
	static const char *const words[][2] = {
		{"holds", "\xe2\x9c\x94 Holds"},
		{"fails", "\xe2\x9c\x98 Fails"},
		{"invalid", "\xe2\x9a\xa0 Invalid: no verdict"},
		{"partial", "\xe2\x9a\xa0 Cut short: no verdict"},
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(words[i][0], verdict))
			return words[i][1];
	return "Nothing was expected";
}

void report_box(FILE *out, const struct record_case *c)
{
	fprintf(out, "<div class=\"verdict %s\">", c->verdict);
	html_element(out, "strong", report_verdict(c->verdict));
	if (c->because && *c->because)
		html_element(out, "p", c->because);
	for (size_t i = 0; i < c->n_reasons; i++)
		if (!c->because || strcmp(c->reasons[i], c->because))
			html_element(out, "p", c->reasons[i]);
	for (size_t i = 0; i < c->n_notes; i++)
		html_element(out, "p", c->notes[i]);
	fputs("</div>\n", out);
}

double busiest_mean_bps(const struct record_case *c, double *limit_bps)
{
	double mean = NAN, most = NAN;

	*limit_bps = NAN;
	for (size_t i = 0; i < c->n_wire; i++) {
		double share = c->wire[i].mean_bps / c->wire[i].limit_bps;

		if (isnan(share) || share <= most)
			continue;
		most = share;
		mean = c->wire[i].mean_bps;
		*limit_bps = c->wire[i].limit_bps;
	}
	return mean;
}

static void figure(FILE *out, const char *name, struct shown value, const char *below)
{
	fputs("<div>", out);
	html_element(out, "dt", name);
	fputs("<dd>", out);
	html_text(out, value.text);
	if (below)
		html_element(out, "small", below);
	fputs("</dd></div>\n", out);
}

void report_figures(FILE *out, const struct record_case *c)
{
	double limit, most = busiest_mean_bps(c, &limit);
	_free_ char *work =
		memory_format("predicted %s", show_percent(c->predicted_utilisation).text);
	_free_ char *time =
		memory_format("predicted %s", show(QUANTITY_TIME, c->exchange_predicted_s).text);
	_free_ char *count = memory_format("of %.0f exchanges", c->exchange_n);
	_free_ char *link = memory_format("of %s", show(QUANTITY_RATE, limit).text);

	fputs("<dl class=\"figures\">\n", out);
	figure(out, "Useful work", show_percent(c->useful_work), NULL);
	figure(out, "Compute utilisation", show_percent(c->compute_utilisation), work);
	figure(out, "Availability", show_percent(c->availability), NULL);
	figure(out, "Exchange, half within", show(QUANTITY_TIME, c->exchange_p50_s), time);
	figure(out, "99 % within", show(QUANTITY_TIME, c->exchange_p99_s),
		c->exchange_n > 0 ? count : NULL);
	figure(out, "Busiest link, mean", show(QUANTITY_RATE, most), isnan(limit) ? NULL : link);
	fputs("</dl>\n", out);
}

void report_expectations(FILE *out, const struct record_case *c, bool simulated)
{
	const char *const heads[] = {
		"Metric", ">Expected", simulated ? ">Simulated" : ">Measured", "Holds", NULL};

	if (!c->n_expect)
		return;
	html_table(out, "Expectations", heads);
	for (size_t i = 0; i < c->n_expect; i++) {
		const struct record_expect *e = &c->expect[i];
		struct shown want = show_metric(e->metric, e->want),
			     got = show_metric(e->metric, e->got);
		_free_ char *expected = memory_format(">%s %s", e->op, want.text);
		_free_ char *measured = memory_format(">%s", got.text);

		html_row(out, e->metric, expected, measured,
			e->holds ? "\xe2\x9c\x94 yes" : "\xe2\x9c\x98 no", NULL);
	}
	html_table_end(out);
}

void report_assumptions(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {"Symbol", "Meaning", ">Value", NULL};

	if (!c->n_assumptions)
		return;
	html_table(out, "What the verdict assumes", heads);
	for (size_t i = 0; i < c->n_assumptions; i++) {
		const struct record_assumption *a = &c->assumptions[i];
		_free_ char *value = memory_format(">%s", a->value);

		html_row(out, a->symbol, a->meaning, value, NULL);
	}
	html_table_end(out);
}

void report_needed(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {">Compute utilisation",
		">Rate the tightest link needs on the wire", ">Step at which its own is enough",
		NULL};

	if (!c->n_needed)
		return;
	html_table(out, "The boundary", heads);
	for (size_t i = 0; i < c->n_needed; i++) {
		const struct record_needed *n = &c->needed[i];
		_free_ char *share = memory_format(">%.0f %%", 100 * n->utilisation);
		_free_ char *rate = memory_format(">%s", show(QUANTITY_RATE, n->bps).text);
		_free_ char *step = memory_format(">%s", show(QUANTITY_TIME, n->step_s).text);

		html_row(out, share, rate, step, NULL);
	}
	html_table_end(out);
	fputs("<p class=\"soft\">By throughput alone, R \xe2\x89\xa5 f N b CU / (H T), headers "
	      "included; latency, TCP and loss come on top, and are what the run measures.</p>\n",
		out);
}

void report_faults(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {"Kind", "Target", ">At", ">For", "Happened", NULL};

	if (!c->n_faults)
		return;
	fputs("<h3>Faults</h3>\n", out);
	html_table(out, "What was broken, and when", heads);
	for (size_t i = 0; i < c->n_faults; i++) {
		const struct record_fault *f = &c->faults[i];
		_free_ char *at = memory_format(">%s", show(QUANTITY_TIME, f->at_s).text);
		_free_ char *length = memory_format(">%s", show(QUANTITY_TIME, f->for_s).text);

		html_row(out, f->kind, f->target, at, length,
			f->happened ? "yes" : "no, the run had ended", NULL);
	}
	html_table_end(out);
}
