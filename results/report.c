/*
 * report.html: one file that needs nothing else, neither network nor script. What a reader asks
 * first comes first: the verdict and why, what it assumes, where the boundary lies; then the
 * measurements, the pictures, and how to get them again.
 */
#include "results/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "results/charts.h"
#include "results/html.h"
#include "results/report_parts.h"
#include "results/show.h"

static const char *name_of(const struct record_case *c)
{
	return *c->name ? c->name : "This run";
}

static const char *title_of(const struct record *r)
{
	return r->title && *r->title ? r->title : "A run of narrowlink";
}

static void write_head(FILE *out, const struct record *r)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n<title>",
		out);
	html_text(out, title_of(r));
	fprintf(out, "</title>\n<style>%s</style></head>\n<body><main>\n", report_style);
	fputs("<p class=\"soft\">narrowlink", out);
	if (r->started_utc) {
		fputs(", ", out);
		html_text(out, r->started_utc);
	}
	fputs("</p>\n", out);
	html_element(out, "h1", title_of(r));
}

/* What the picture shows, for those who do not see it. */
static char *describe(
	const struct chart_kind *kind, const struct record *r, const struct record_case *c)
{
	char *text = memory_format("%s%s%s. %s", kind->title, c && *c->name ? ", " : "",
		c ? c->name : "", kind->reads);

	for (size_t i = 0; !c && i < r->n_cases; i++) {
		char *more = memory_format("%s %s: %s.", text, name_of(r->cases[i]),
			show_percent(r->cases[i]->useful_work).text);

		free(text);
		text = more;
	}
	return text;
}

static bool exists(const char *folder, const char *stem, const char *end)
{
	_free_ char *path = memory_format("%s/charts/%s.%s", folder, stem, end);

	return !access(path, R_OK);
}

/* Why there is no picture; NULL: a chart that nobody misses. */
static const char *why_undrawn(const char *folder, const char *stem, const char *empty)
{
	_free_ char *charts = memory_format("%s/charts", folder);

	if (access(charts, F_OK))
		return "not drawn yet; `narrowlink report` draws it.";
	if (exists(folder, stem, "gp"))
		return "not drawn, gnuplot was missing or failed; its data are in the run's charts "
		       "folder.";
	return empty;
}

/* The chart, or a sentence that says why there is none. */
static void write_chart(FILE *out, const char *folder, const struct chart_kind *kind,
	const struct record *r, size_t case_index)
{
	const struct record_case *c = kind->every_case ? r->cases[case_index] : NULL;
	_free_ char *stem = chart_stem(kind, r, case_index);
	_free_ char *path = memory_format("%s/charts/%s.svg", folder, stem);
	_free_ char *prefix = memory_format("%s-", stem), *name = describe(kind, r, c);

	if (!exists(folder, stem, "svg")) {
		const char *why = why_undrawn(folder, stem, kind->empty);

		if (!why)
			return;
		fprintf(out, "<p class=\"soft\">%s: ", kind->title);
		html_text(out, why);
		fputs("</p>\n", out);
		return;
	}
	fputs("<figure>", out);
	html_picture(out, path, prefix, name);
	fputs("<figcaption>", out);
	html_text(out, kind->reads);
	fprintf(out, " From charts/%s.dat.</figcaption></figure>\n", stem);
}

static void write_run_charts(FILE *out, const char *folder, const struct record *r)
{
	for (size_t i = 0; chart_kind_at(i); i++)
		if (!chart_kind_at(i)->every_case && chart_concerns(chart_kind_at(i), r))
			write_chart(out, folder, chart_kind_at(i), r, 0);
}

static void write_charts(FILE *out, const char *folder, const struct record *r, size_t case_index)
{
	fputs("<h3>Charts</h3>\n", out);
	if (r->n_cases == 1)
		write_run_charts(out, folder, r);
	for (size_t i = 0; chart_kind_at(i); i++)
		if (chart_kind_at(i)->every_case && chart_concerns(chart_kind_at(i), r))
			write_chart(out, folder, chart_kind_at(i), r, case_index);
}

static size_t count_verdict(const struct record *r, const char *verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_cases; i++)
		n += !strcmp(r->cases[i]->verdict, verdict);
	return n;
}

/* All cases in a sentence, in the colour of the worst. */
static void write_sum(FILE *out, const struct record *r)
{
	size_t holds = count_verdict(r, "holds"), fails = count_verdict(r, "fails");
	size_t open = r->n_cases - holds - fails;

	fprintf(out, "<div class=\"verdict %s\"><strong>", fails ? "fails" : open ? "" : "holds");
	if (holds + fails)
		fprintf(out, "Holds in %zu of %zu cases", holds, r->n_cases);
	else
		fprintf(out, "%zu cases, no verdict", r->n_cases);
	fputs("</strong>", out);
	if (fails || (open && holds))
		fprintf(out, "<p>%zu failed an expectation, %zu came to no verdict.</p>", fails,
			open);
	fputs("</div>\n", out);
}

static void write_overview(FILE *out, const struct record *r)
{
	static const char *const heads[] = {"Case", "Verdict", ">Useful work",
		">Compute utilisation", ">Predicted utilisation", ">Availability",
		">Exchange, half within", ">Exchange, 99 % within", ">Predicted exchange",
		">Busiest link", NULL};

	write_sum(out, r);
	if (record_is_fleet(r)) {
		report_fleet_overview(out, r);
		return;
	}
	html_table(out, "Cases", heads);
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct record_case *c = r->cases[i];
		double limit, most = busiest_mean_bps(c, &limit);

		fprintf(out, "<tr><td><a href=\"#case-%zu\">", i + 1);
		html_text(out, name_of(c));
		fprintf(out, "</a></td><td>%s", report_verdict(c->verdict));
		if (c->because)
			html_element(out, "small", c->because);
		fprintf(out,
			"</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
			"<td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
			"<td class=\"n\">%s</td><td class=\"n\">%s</td><td "
			"class=\"n\">%s</td></tr>\n",
			show_percent(c->useful_work).text,
			show_percent(c->compute_utilisation).text,
			show_percent(c->predicted_utilisation).text,
			show_percent(c->availability).text,
			show(QUANTITY_TIME, c->exchange_p50_s).text,
			show(QUANTITY_TIME, c->exchange_p99_s).text,
			show(QUANTITY_TIME, c->exchange_predicted_s).text,
			show(QUANTITY_RATE, most).text);
	}
	html_table_end(out);
}

static void write_case(FILE *out, const char *folder, const struct record *r, size_t i)
{
	const struct record_case *c = r->cases[i];

	if (r->n_cases > 1) {
		fprintf(out, "<h2 id=\"case-%zu\">", i + 1);
		html_text(out, name_of(c));
		fputs("</h2>\n", out);
	}
	report_box(out, c);
	if (c->fleet) {
		report_fleet(out, c);
		report_expectations(out, c, true);
		report_assumptions(out, c);
		write_charts(out, folder, r, i);
		return;
	}
	report_figures(out, c);
	if (!record_simulated(r)) {
		fputs("<h3>Was the link the link?</h3>\n", out);
		report_checks(out, c);
		report_captures(out, c);
		report_fidelity(out, c);
	}
	report_expectations(out, c, record_simulated(r));
	report_assumptions(out, c);
	report_needed(out, c);
	html_element(out, "h3", record_simulated(r) ? "Simulated" : "Measured");
	report_participants(out, c);
	report_wire(out, c);
	if (record_simulated(r))
		report_payload(out, c);
	write_charts(out, folder, r, i);
	report_faults(out, c);
}

/* An argument as a shell takes it. */
static void shell_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./=:,@%+";

	if (*word && !word[strspn(word, plain)]) {
		html_text(out, word);
		return;
	}
	html_text(out, "'");
	for (; *word; word++) {
		char letter[2] = {*word, '\0'};

		if ((*word & 0x80)) { /* pass a whole sequence at once */
			size_t n = 1;
			char whole[8] = {0};

			while (n < 4 && (word[n] & 0xc0) == 0x80)
				n++;
			memcpy(whole, word, n);
			html_text(out, whole);
			word += n - 1;
			continue;
		}
		html_text(out, *word == '\'' ? "'\\''" : letter);
	}
	html_text(out, "'");
}

static void write_repeat(FILE *out, const struct record *r)
{
	static const char *const heads[] = {"", "", NULL};
	_free_ char *seed = memory_format("%llu", (unsigned long long)r->seed);
	_free_ char *dilation = memory_format("%g", r->dilation);
	_free_ char *machine = memory_format("%s, %s, %d processors, %d ticks/s",
		r->kernel ? r->kernel : "", r->machine ? r->machine : "", r->cpus, r->hz);
	_free_ char *version = memory_format("%s%s%s", r->tool_version, r->tool_git ? ", git " : "",
		r->tool_git ? r->tool_git : "");

	fputs("<h2 id=\"repeat\">How to repeat it</h2>\n<pre>", out);
	for (size_t i = 0; i < r->argc; i++) {
		if (!strcmp(r->argv[i], "--out")) {
			i++; /* that folder exists now */
			continue;
		}
		fputs(i ? " " : "", out);
		shell_word(out, r->argv[i]);
	}
	fputs("</pre>\n", out);
	html_table(out, "Where and with what it ran", heads);
	html_row(out, "narrowlink", version, NULL);
	html_row(out, "Seed", seed, NULL);
	html_row(out, "Engine", r->engine, NULL);
	html_row(out, "Dilation", isnan(r->dilation) ? "\xe2\x80\x93" : dilation, NULL);
	html_row(out, "Machine", r->kernel ? machine : "any: simulated time", NULL);
	html_row(out, "Scenario", r->scenario_path ? r->scenario_path : "\xe2\x80\x93", NULL);
	html_table_end(out);
	if (*r->resolved) {
		fputs("<h3>The scenario, every default spelled out</h3>\n", out);
		html_element(out, "pre", r->resolved);
	}
}

static void write_report(FILE *out, const char *folder, const struct record *r)
{
	write_head(out, r);
	if (r->n_cases > 1) {
		write_overview(out, r);
		write_run_charts(out, folder, r);
	}
	if (!r->n_cases)
		fputs("<p>The run ended before its first case did.</p>\n", out);
	for (size_t i = 0; i < r->n_cases; i++)
		write_case(out, folder, r, i);
	write_repeat(out, r);
	fputs("</main></body></html>\n", out);
}

int report_write(const char *folder, const struct record *record, struct error *err)
{
	_free_ char *path = memory_format("%s/report.html", folder);
	_free_ char *beside = memory_format("%s.new", path);
	FILE *out = fopen(beside, "we");
	bool bad;

	if (!out)
		return error_sys(err, -errno, "cannot write %s", path);
	write_report(out, folder, record);
	bad = ferror(out);
	errno = EIO;
	if (fclose(out) || bad || rename(beside, path)) {
		int r = -errno;

		unlink(beside);
		return error_sys(err, r, "cannot write %s", path);
	}
	return 0;
}
