/* The parts of report.html that a fleet has instead of links and participants. */
#include <math.h>

#include "base/memory.h"
#include "results/html.h"
#include "results/report_parts.h"
#include "results/show.h"

static char *precise(double ratio)
{
	return isfinite(ratio) ? memory_format(">%.2f %%", 100 * ratio)
			       : memory_string(">\xe2\x80\x93");
}

static void spread_row(FILE *out, const char *name, const struct record_spread *s, double predicted)
{
	_free_ char *mean = isfinite(s->ci95) ? memory_format(">%.2f %% \xc2\xb1 %.2f",
							100 * s->mean, 100 * s->ci95)
					      : precise(s->mean);
	_free_ char *p5 = precise(s->p5), *p50 = precise(s->p50), *p95 = precise(s->p95);
	_free_ char *formula = precise(predicted);

	html_row(out, name, mean, p5, p50, p95, formula, NULL);
}

static void share_row(FILE *out, const char *name, double share)
{
	_free_ char *text = precise(share);

	html_row(out, name, text, NULL);
}

void report_fleet(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {"Figure", ">Mean, 95 % interval", ">5 % of seeds below",
		">Half below", ">95 % below", ">Closed formula", NULL};
	static const char *const share_heads[] = {"Where the chips' time went", ">Share", NULL};
	const struct record_fleet *f = c->fleet;

	html_table(out, "Over the seeds", heads);
	spread_row(out, "goodput", &f->goodput, f->goodput_predicted);
	spread_row(out, "uptime", &f->uptime, f->uptime_predicted);
	html_table_end(out);
	html_table(out, "Mean over the seeds", share_heads);
	share_row(out, "useful", f->shares.useful);
	share_row(out, "computed and lost", f->shares.lost);
	share_row(out, "waiting for the quorum", f->shares.waiting);
	share_row(out, "checkpoint", f->shares.checkpoint);
	share_row(out, "stopped to scale down or up", f->shares.reconfigure);
	share_row(out, "in repair, or waiting to join", f->shares.repair);
	html_table_end(out);
	fprintf(out, "<p class=\"soft\">%zu runs with %.0f interruptions each on average.</p>\n",
		f->goodput.n, f->interruptions);
}

void report_fleet_overview(FILE *out, const struct record *r)
{
	static const char *const heads[] = {"Case", "Verdict", ">Chips", ">Learners", ">Goodput",
		">\xc2\xb1 95 %", ">Closed formula", ">Uptime", NULL};

	html_table(out, "Cases", heads);
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct record_case *c = r->cases[i];
		const struct record_fleet *f = c->fleet;

		fprintf(out, "<tr><td><a href=\"#case-%zu\">", i + 1);
		html_text(out, *c->name ? c->name : "This run");
		fprintf(out, "</a></td><td>%s", report_verdict(c->verdict));
		if (c->because)
			html_element(out, "small", c->because);
		fprintf(out,
			"</td><td class=\"n\">%s</td><td class=\"n\">%.0f</td><td "
			"class=\"n\">%s</td>"
			"<td class=\"n\">%.2f</td><td class=\"n\">%s</td><td "
			"class=\"n\">%s</td></tr>\n",
			show(QUANTITY_COUNT, f ? f->chips : NAN).text, f ? f->learners : 0,
			show_percent(f ? f->goodput.mean : NAN).text, f ? 100 * f->goodput.ci95 : 0,
			show_percent(f ? f->goodput_predicted : NAN).text,
			show_percent(f ? f->uptime.mean : NAN).text);
	}
	html_table_end(out);
}
