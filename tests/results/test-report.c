/*
 * The report and the table of cases: nothing in them that a title, a name or an argument could
 * turn into markup, nothing fetched from anywhere, one id once, and the numbers that were recorded.
 */
#include "tests/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "golden.h"
#include "made_up.h"
#include "results/html.h"
#include "results/report.h"
#include "results/report_parts.h"
#include "results/show.h"
#include "results/text.h"
#include "scratch.h"

static char *report_of(const char *dir, const struct record *r)
{
	struct error err = {0};

	if (report_write(dir, r, &err))
		fail_msg("%s", err.text);
	return scratch_read(dir, "report.html");
}

/* Opening and closing tags of these match, as do the quotes of every attribute. */
static void check_balance(const char *html)
{
	static const char *const tags[] = {"main", "table", "tbody", "thead", "tr", "td", "th",
		"div", "p", "figure", "figcaption", "svg", "g", "pre", "details", "h1", "h2", "h3",
		"dl", "small"};

	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
		_free_ char *close = memory_format("</%s>", tags[i]);
		size_t n = strlen(tags[i]);
		int depth = 0;

		for (const char *p = html; (p = strchr(p, '<')); p++) {
			if (!strncmp(p, close, strlen(close)))
				depth--;
			else if (!strncmp(p + 1, tags[i], n) && strchr(" >\n", p[n + 1]))
				depth++;
			if (depth < 0)
				fail_msg("%s before its beginning", close);
		}
		if (depth)
			fail_msg("%d <%s> without an end", depth, tags[i]);
	}
}

static void check_ids(const char *html)
{
	char *ids[20000];
	size_t n = 0;

	for (const char *p = html; (p = strstr(p, " id=")); p += 5) {
		size_t length = strcspn(p + 5, "\"'");

		assert_true(n < sizeof ids / sizeof *ids);
		ids[n++] = strndup(p + 5, length);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (!strcmp(ids[i], ids[k]))
				fail_msg("id %s twice", ids[i]);
	while (n)
		free(ids[--n]);
}

/* The only addresses are the names of XML's languages. */
static void check_self_contained(const char *html)
{
	for (const char *p = html; (p = strstr(p, "http")); p++)
		if (strncmp(p, "http://www.w3.org/", 18) && strncmp(p, "http-equiv", 10))
			fail_msg("an address: %.60s", p);
	assert_null(strstr(html, "<script"));
	assert_null(strstr(html, "<link"));
	assert_null(strstr(html, "<img"));
	assert_null(strstr(html, "@import"));
	assert_null(strstr(html, "url(\""));
	assert_non_null(strstr(html, "Content-Security-Policy\" content=\"default-src 'none'"));
}

static void test_whole(void **state)
{
	const struct made_up runs[] = {
		{.learners = 3,
			.cases = 1,
			.seconds = 30,
			.exchanges = true,
			.faults = true,
			.trace = true,
			.syncers = true},
		{.learners = 12, .cases = 4, .seconds = 10, .faults = true},
	};

	for (size_t i = 0; i < 2; i++) {
		char *dir = scratch_new();
		struct record *r = made_up_run(dir, &runs[i]);
		_free_ char *html = NULL;
		struct error err = {0};

		if (chart_all(dir, r, &err) && !strstr(err.text, "not installed"))
			fail_msg("%s", err.text);
		html = report_of(dir, r);
		check_balance(html);
		check_ids(html);
		check_self_contained(html);
		assert_non_null(strstr(
			html, err.text[0] ? "gnuplot was missing" : "aria-label=\"Where the"));
		record_free(r);
		scratch_free(dir);
	}
}

/* As after drawing, when there was nothing to draw. */
static void make_charts(const char *dir)
{
	_free_ char *charts = memory_format("%s/charts", dir);

	assert_int_equal(mkdir(charts, 0777), 0);
}

static void test_before_the_charts(void **state)
{
	char *dir = scratch_new();
	struct record *r = golden_record();
	_free_ char *html = report_of(dir, r);

	assert_non_null(strstr(html, "not drawn yet; `narrowlink report` draws it."));
	assert_null(strstr(html, "The links were not sampled."));
	record_free(r);
	scratch_free(dir);
}

static void test_golden_numbers(void **state)
{
	static const char *const parts[] = {
		"<div class=\"verdict fails\"><strong>\xe2\x9c\x98 Fails</strong>",
		"<p>Useful work is 71.25 %, below the 90 % expected.</p>",
		"<p>one exchange did not finish</p>",
		"<td>useful_work</td><td class=\"n\">&gt;= 90.0 %</td><td class=\"n\">71.2 %</td>",
		"<td>N</td><td>parameters</td><td class=\"n\">12 B</td>",
		"<td class=\"n\">90 %</td><td class=\"n\">784 Mbit/s</td><td class=\"n\">3.75 "
		"s</td>",
		"<td>learner-1</td><td>learner</td><td class=\"n\">100.3 s</td><td "
		"class=\"n\">74.9 %</td>"
		"<td class=\"n\">25.1 %</td>",
		"<td class=\"n\">20.5</td><td class=\"n\">0</td><td class=\"n\">0.5</td>",
		"<td>site-1</td><td>up</td>",
		"<td class=\"n\">798 Mbit/s</td><td class=\"n\">840 Mbit/s</td>",
		"<td class=\"n\">95.0 %</td><td class=\"n\">5.25 MB</td><td class=\"n\">3</td>",
		"<td class=\"n\">600.1 ms</td><td class=\"n\">600 ms</td>",
		"<td class=\"n\">10 MB</td><td class=\"n\">10 MB</td><td>equal to the byte</td>",
		"<td>blackout</td><td>site-1</td><td class=\"n\">40 s</td><td class=\"n\">5 "
		"s</td><td>yes</td>",
		"<pre>narrowlink run &#39;two sites.yaml&#39;</pre>",
		"<td>Seed</td><td>18446744073709551615</td>",
		"<td>6.1.0-18-amd64, x86_64, 2 processors, 250 ticks/s</td>",
		"<pre>narrowlink: 1\nseed: 42\n</pre>",
	};
	char *dir = scratch_new();
	struct record *r = golden_record();
	_free_ char *html = NULL;

	make_charts(dir);
	html = report_of(dir, r);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strstr(html, parts[i]))
			fail_msg("no %s", parts[i]);
	assert_non_null(strstr(html, "The links were not sampled."));
	check_balance(html);
	record_free(r);
	scratch_free(dir);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* A reason that is the verdict's sentence is said once; what payload was over is explained. */
static void test_remarks(void **state)
{
	char *dir = scratch_new();
	struct record *r = golden_record();
	struct record_case *c = r->cases[0];
	_free_ char *faults = NULL, *more = NULL, *none = NULL;

	record_reason(c, "%s", c->because);
	record_reason(c, "another");
	c->payload_sent_bytes++;
	faults = report_of(dir, r);
	assert_int_equal(count(faults, c->because), 1);
	assert_int_equal(count(faults, "<p>another</p>"), 1);
	assert_non_null(strstr(faults, "faults: state was fetched, and sent again"));
	c->faults[0].happened = false;
	more = report_of(dir, r);
	assert_non_null(strstr(more, "what is more was under way when the run ended"));
	c->payload_sent_bytes -= 2;
	none = report_of(dir, r);
	assert_non_null(strstr(none, "not what the formula says"));
	record_free(r);
	scratch_free(dir);
}

#define EVIL "</pre></style><script>alert(1)</script><img src=x onerror=\"1\">'&\xff"

static void replace(char **text)
{
	free(*text);
	*text = memory_string(EVIL);
}

/* Every text of a record at once is markup; none of it arrives as such. */
static void test_markup_is_text(void **state)
{
	const struct made_up run = {.learners = 1,
		.cases = 1,
		.seconds = 3,
		.exchanges = true,
		.name = "<script>alert(2)</script>",
		.title = EVIL};
	char *dir = scratch_new();
	struct record *r = made_up_run(dir, &run);
	struct record_case *c = r->cases[0];
	_free_ char *html = NULL;

	replace(&r->started_utc);
	replace(&r->kernel);
	replace(&r->machine);
	replace(&r->tool_version);
	replace(&r->tool_git);
	replace(&r->engine);
	replace(&r->scenario_path);
	replace(&r->resolved);
	replace(&r->argv[2]);
	replace(&c->name);
	replace(&c->because);
	replace(&c->assumptions[0].symbol);
	replace(&c->assumptions[0].meaning);
	replace(&c->assumptions[0].value);
	replace(&c->participants[0].role);
	replace(&c->wire[0].site);
	replace(&c->expect[0].metric);
	record_note(c, "%s", EVIL);
	record_reason(c, "%s", EVIL);
	record_add_fault(c, EVIL, EVIL)->happened = true;
	chart_all(dir, r, &(struct error){0});
	for (int cases = 1; cases <= 2; cases++) {
		free(html);
		html = report_of(dir, r);
		assert_null(strstr(html, "<script"));
		assert_null(strstr(html, "<img"));
		assert_non_null(strstr(html, "&lt;script&gt;alert(1)&lt;/script&gt;"));
		assert_null(strstr(html, "\xff"));
		check_balance(html);
		record_add_case(r, EVIL); /* and as one of several */
	}
	record_free(r);
	scratch_free(dir);
}

static void test_unknown_everything(void **state)
{
	char *dir = scratch_new();
	struct record *r = record_new();
	_free_ char *empty = NULL, *one = NULL;

	r->engine = memory_string("relay");
	r->tool_version = memory_string("0");
	r->kernel = memory_string("k");
	r->machine = memory_string("m");
	r->resolved = memory_string("");
	make_charts(dir);
	empty = report_of(dir, r);
	assert_non_null(strstr(empty, "ended before its first case"));
	record_add_participant(record_add_case(r, ""), "a", "learner", NULL);
	record_add_wire(r->cases[0], "a", "up");
	one = report_of(dir, r);
	assert_null(strstr(one, "nan"));
	assert_null(strstr(one, "inf"));
	assert_non_null(strstr(one, "No exchange finished"));
	check_balance(one);
	record_free(r);
	scratch_free(dir);
}

static void test_cannot_write(void **state)
{
	char *dir = scratch_new();
	_free_ char *taken = memory_format("%s/report.html", dir);
	struct record *r = golden_record();
	struct error err = {0};
	struct stat st;

	assert_int_equal(report_write("/nowhere", r, &err), -ENOENT);
	assert_int_equal(err.status, STATUS_MACHINE);
	assert_int_equal(mkdir(taken, 0777), 0);
	assert_true(report_write(dir, r, &(struct error){0}) < 0);
	free(taken);
	taken = memory_format("%s/report.html.new", dir);
	assert_int_equal(stat(taken, &st), -1);
	record_free(r);
	scratch_free(dir);
}

static void test_picture_ids(void **state)
{
	char *dir = scratch_new(), *text = NULL;
	_free_ char *path = memory_format("%s/a.svg", dir);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	scratch_write(dir, "a.svg",
		"<?xml version=\"1.0\"?>\n<svg width=\"1\"><title>Gnuplot</title>"
		"<desc>By</desc><g id=\"p1\"><title>gnuplot_plot_1</title></g><path id='d'/>"
		"<use xlink:href='#d'/><rect fill = 'url(#d)'/><text>a id='x' > "
		"url(#y)</text></svg>");
	assert_int_equal(html_picture(out, path, "w-", "A \"picture\""), 0);
	fclose(out);
	assert_string_equal(text,
		"<svg role=\"img\" aria-label=\"A &quot;picture&quot;\" width=\"1\">"
		"<g id=\"w-p1\"></g><path id='w-d'/><use xlink:href='#w-d'/><rect fill = "
		"'url(#w-d)'/>"
		"<text>a id='x' > url(#y)</text></svg>");
	free(text);
	scratch_write(dir, "a.svg", "<svg>half");
	out = open_memstream(&text, &size);
	assert_int_equal(html_picture(out, path, "w-", ""), -EINVAL);
	scratch_write(dir, "a.svg", "");
	assert_true(html_picture(out, path, "w-", "") < 0);
	assert_int_equal(html_picture(out, "/nowhere.svg", "w-", ""), -ENOENT);
	fclose(out);
	assert_int_equal(size, 0);
	free(text);
	scratch_free(dir);
}

static void test_show(void **state)
{
	assert_string_equal(show(QUANTITY_RATE, 840e6).text, "840 Mbit/s");
	assert_string_equal(show(QUANTITY_TIME, .3).text, "300 ms");
	assert_string_equal(show(QUANTITY_COUNT, 999999).text, "999999");
	assert_string_equal(show(QUANTITY_BYTES, 6e9).text, "6 GB");
	assert_string_equal(show(QUANTITY_TIME, NAN).text, "\xe2\x80\x93");
	assert_string_equal(show(QUANTITY_TIME, INFINITY).text, "\xe2\x80\x93");
	assert_string_equal(show(QUANTITY_RATE, 1e300).text, "1e+300");
	assert_string_equal(show_percent(.951).text, "95.1 %");
	assert_string_equal(show_percent(1e300).text, "1e+302 %");
	assert_string_equal(show_percent(1e308).text, "\xe2\x80\x93"); /* not "inf %" */
	assert_string_equal(show_metric("wire_rate", 1e9).text, "1 Gbit/s");
	assert_string_equal(show_metric("exchange_p99", 1.5).text, "1.5 s");
	assert_string_equal(show_metric("useful_work", .9).text, "90.0 %");
}

static void test_columns(void **state)
{
	assert_int_equal(text_columns(""), 0);
	assert_int_equal(text_columns("abc"), 3);
	assert_int_equal(text_columns("\xc3\xa4\xe2\x80\x93\xf0\x9f\x9a\x80"), 3);
	assert_int_equal(text_columns("a\xcc\x88"), 1); /* a and a combining diaeresis */
}

static char *table_of(const struct record *r, bool colour)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	report_table(r, out, colour);
	fclose(out);
	return text;
}

static void test_table(void **state)
{
	struct record *r = golden_record();
	struct record_case *c = record_add_case(r, "z\xc3\xbcrich");
	_free_ char *plain = NULL, *colour = NULL;

	record_reason(c, "the relay\nwas late");
	record_reason(c, "and had no memory");
	record_note(c, "the run's limit ended it");
	free(c->verdict);
	c->verdict = memory_string("invalid");
	plain = table_of(r, false);
	assert_string_equal(plain,
		"case            verdict  useful      CU   avail.  exch. p50     p99  predicted"
		"                 wire rate\n"
		"diloco, 300 ms  fails    71.2 %  75.0 %  100.0 %      1.5 s  1.99 s     950 ms"
		"  798 Mbit/s of 840 Mbit/s\n"
		"z\xc3\xbcrich          invalid       \xe2\x80\x93       \xe2\x80\x93        "
		"\xe2\x80\x93"
		"          \xe2\x80\x93       \xe2\x80\x93          \xe2\x80\x93                   "
		"      "
		"\xe2\x80\x93\n"
		"why: diloco, 300 ms: Useful work is 71.25 %, below the 90 % expected.\n"
		"why: z\xc3\xbcrich: the relay was late\n"
		"note: diloco, 300 ms: one exchange did not finish\n"
		"note: z\xc3\xbcrich: and had no memory\n"
		"note: z\xc3\xbcrich: the run's limit ended it\n");
	colour = table_of(r, true);
	assert_non_null(strstr(colour, "\033[31mfails  \033[0m"));
	assert_non_null(strstr(colour, "\033[33minvalid\033[0m"));
	record_free(r);
}

/* A full narrow link is busier than a wide one that carries a little more. */
static void test_busiest_link(void **state)
{
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "");
	struct record_wire *w;
	double limit;

	assert_true(isnan(busiest_mean_bps(c, &limit)) && isnan(limit));
	w = record_add_wire(c, "valley", "up");
	w->mean_bps = 15.01e6;
	w->limit_bps = 1e9;
	w = record_add_wire(c, "mountain", "up");
	w->mean_bps = 14.99e6;
	w->limit_bps = 20e6;
	record_add_wire(c, "mountain", "down");
	assert_true(busiest_mean_bps(c, &limit) == 14.99e6);
	assert_true(limit == 20e6);
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_before_the_charts),
		cmocka_unit_test(test_golden_numbers),
		cmocka_unit_test(test_remarks),
		cmocka_unit_test(test_markup_is_text),
		cmocka_unit_test(test_unknown_everything),
		cmocka_unit_test(test_cannot_write),
		cmocka_unit_test(test_picture_ids),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_busiest_link),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
