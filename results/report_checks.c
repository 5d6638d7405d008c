/*
 * The fidelity panel: what was asked of each way between two sites, what instruments other than
 * the emulator's own counters measured, and whether the two instruments agree.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "results/html.h"
#include "results/report_parts.h"
#include "results/show.h"

#define SHOWN_MOST 40 /* checks; more are behind a line that opens, unless one is off */

static const struct {
	const char *name, *title;
} titles[] = {
	{"one_way_delay", "One-way delay, idle (median)"},
	{"rtt", "Round trip, idle (median)"},
	{"loss", "Loss, idle"},
	{"loss_burst", "Mean burst of losses"},
	{"reordering", "Reordering"},
	{"rate_udp", "Rate, saturated by UDP"},
	{"rate_tcp", "Rate, saturated by TCP"},
	{"mathis", "One TCP connection under this loss (Mathis)"},
	{"queue", "Delay of a full queue"},
};

static const char *title_of(const char *check)
{
	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
		if (!strcmp(titles[i].name, check))
			return titles[i].title;
	return check;
}

static struct shown value(const char *check, double v)
{
	struct shown s = {"\xe2\x80\x93"};

	if (!strcmp(check, "rate_udp") || !strcmp(check, "rate_tcp") || !strcmp(check, "mathis"))
		return show(QUANTITY_RATE, v);
	if (!strcmp(check, "loss_burst")) {
		if (!isnan(v))
			snprintf(s.text, sizeof s.text, "%.3g", v);
		return s;
	}
	if (!strcmp(check, "loss") || !strcmp(check, "reordering")) {
		if (!isnan(v))
			snprintf(s.text, sizeof s.text, "%.3f %%", 100 * v);
		return s;
	}
	return show(QUANTITY_TIME, v);
}

static const char *result_text(const char *result)
{
	if (!strcmp(result, "holds"))
		return "\xe2\x9c\x94 holds";
	return !strcmp(result, "off") ? "\xe2\x9c\x98 off" : "not measured";
}

static void check_row(FILE *out, const struct record_check *k)
{
	_free_ char *way = memory_format("%s \xe2\x86\x92 %s", k->from, k->to);
	_free_ char *want = memory_format(">%s", value(k->check, k->want).text);
	_free_ char *got = memory_format(">%s", value(k->check, k->got).text);
	_free_ char *limits = memory_format(
		">%s to %s", value(k->check, k->low).text, value(k->check, k->high).text);
	_free_ char *said =
		memory_format("%s%s%s", result_text(k->result), *k->why ? ": " : "", k->why);

	html_row(out, way, title_of(k->check), want, got, isnan(k->low) ? "" : limits, said, NULL);
}

static size_t count(const struct record_case *c, const char *result)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_checks; i++)
		n += !strcmp(c->checks[i].result, result);
	return n;
}

static void write_sum(FILE *out, const struct record_case *c)
{
	size_t holds = count(c, "holds"), off = count(c, "off");

	fprintf(out,
		"<p>Before the run its links were measured by time-stamped probes and by libiperf, "
		"neither of which shares anything with the emulator: %zu checks hold, %zu %s off, "
		"%zu could not be measured.</p>\n",
		holds, off, off == 1 ? "is" : "are", c->n_checks - holds - off);
}

void report_checks(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {
		"Way", "What", ">Asked", ">Measured", ">Limits", "", NULL};

	if (c->calibration && !strcmp(c->calibration, "off"))
		fputs("<p class=\"soft\">The scenario wanted no calibration.</p>\n", out);
	if (c->calibration && !strcmp(c->calibration, "unavailable"))
		fputs("<p class=\"soft\">The links could not be calibrated; why is said "
		      "above.</p>\n",
			out);
	if (!c->n_checks)
		return;
	write_sum(out, c);
	fprintf(out, "<details%s><summary>What was asked, and what was measured</summary>",
		count(c, "off") || c->n_checks <= SHOWN_MOST ? " open" : "");
	html_table(out, "Calibration; of loss the 99 % interval of the measurement", heads);
	for (size_t i = 0; i < c->n_checks; i++)
		check_row(out, &c->checks[i]);
	html_table_end(out);
	fputs("</details>\n", out);
}

static void capture_row(FILE *out, const struct record_capture *k)
{
	_free_ char *bytes = memory_format(">%.0f", k->bytes);
	_free_ char *relay = memory_format(">%.0f", k->relay_bytes);
	_free_ char *difference = memory_format(">%+.4f %%", 100 * (k->bytes / k->relay_bytes - 1));
	_free_ char *kept = memory_format(">%.0f of %.0f", k->kept_packets, k->packets);

	html_row(out, k->site, k->direction, bytes, relay, k->relay_bytes > 0 ? difference : "",
		kept, k->complete ? "complete" : "incomplete", NULL);
}

void report_captures(FILE *out, const struct record_case *c)
{
	static const char *const heads[] = {"Site", "Direction", ">Bytes by capture",
		">Bytes by the emulator", ">Difference", ">Packets kept", "", NULL};

	if (!c->n_captures)
		return;
	html_table(out, "The wire, counted twice (libpcap and the emulator)", heads);
	for (size_t i = 0; i < c->n_captures; i++)
		capture_row(out, &c->captures[i]);
	html_table_end(out);
}
