/* A seek over engines that are formulas: values solved by hand, sentences, notes and errors. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bench/seek/confirm.h"
#include "bench/seek/seek.h"
#include "tests/test.h"

static const char text[] =
	"narrowlink: 1\n"
	"links: {wan: {rate: 1 Gbit/s, delay: 5 ms}}\n"
	"sites: {count: 4, link: wan}\n"
	"workload: {strategy: decoupled-diloco, parameters: 1 B, step: 1 s, outer: {period: 24, "
	"fragments: 24, overlap: 2}}\n";

/* useful_work: 0.9 at 9 Gbit/s; exchange_p99: 10 s at 1 Gbit/s, as 1 / rate */
static int by_rate(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err)
{
	double rate = (double)s->links[0].direction[UP].base.rate_bps;

	c->useful_work = rate / (rate + 1e9);
	c->compute_utilisation = .5;
	c->exchange_p99_s = 10e9 / rate;
	return 0;
}

static int by_fragments(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err)
{
	c->useful_work = s->job.fragments >= 5 && s->job.fragments <= 20 ? .95 : .4;
	return 0;
}

static int invalid(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err)
{
	c->useful_work = 1;
	c->valid = false;
	return 0;
}

static int breaks(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err)
{
	return error_set(err, -5, STATUS_MACHINE, "the engine broke");
}

static int seek(struct seek_record **out, const char *find, const char *condition,
	struct seek_options o, struct error *err)
{
	const struct seek_source source = {
		.path = "t.yaml", .text = text, .length = sizeof text - 1};

	*out = NULL;
	o.find = find;
	o.tolerance = o.tolerance ? o.tolerance : .01;
	o.engine = o.engine ? o.engine : by_rate;
	assert_int_equal(expectation_parse(&o.want, condition, err), 0);
	return seek_run(out, &source, &o, err);
}

static struct seek_record *found(const char *find, const char *condition, struct seek_options o)
{
	struct seek_record *r;
	struct error err = {0};

	if (seek(&r, find, condition, o, &err))
		fail_msg("%s", err.text);
	return r;
}

static void refused(const char *find, struct seek_options o, const char *says)
{
	struct seek_record *r;
	struct error err = {0};

	assert_true(seek(&r, find, "useful_work >= 90 %", o, &err) < 0);
	assert_null(r);
	if (!strstr(err.text, says))
		fail_msg("%s", err.text);
}

static void test_smallest(void **state)
{
	struct seek_record *r =
		found("links.wan.rate", "useful_work >= 90 %", (struct seek_options){0});

	assert_string_equal(r->outcome, "found");
	assert_true(r->found >= 9e9 && r->found <= 9.1e9);
	assert_true(r->next < 9e9);
	assert_near(r->low, 1e6, 0);
	assert_near(r->high, 100e9, 0);
	assert_int_equal(r->n_notes, 0);
	assert_non_null(strstr(r->because, "Gbit/s is enough, with useful_work 90."));
	assert_true(r->n_points >= 10);
	seek_record_free(r);
}

static void test_largest(void **state)
{
	struct seek_record *r = found(
		"links.wan.rate", "exchange_p99 >= 4 s", (struct seek_options){.largest = true});

	/* 10 / rate >= 4 s up to 2.5 Gbit/s */
	assert_string_equal(r->outcome, "found");
	assert_true(r->found <= 2.5e9 && r->found > 2.47e9);
	seek_record_free(r);
}

static void test_bounds_given(void **state)
{
	struct seek_record *r = found("links.wan.rate", "useful_work >= 90 %",
		(struct seek_options){.min = "10 Gbit/s", .max = "20 Gbit/s"});

	assert_string_equal(r->outcome, "bound");
	assert_near(r->found, 10e9, 0);
	assert_non_null(strstr(r->because, "the bound itself is enough: at 10 Gbit/s"));
	seek_record_free(r);
}

static void test_none(void **state)
{
	struct seek_record *r = found(
		"links.wan.rate", "useful_work >= 90 %", (struct seek_options){.max = "4 Gbit/s"});

	assert_string_equal(r->outcome, "none");
	assert_null(r->text);
	/* 4 / 5 */
	assert_string_equal(r->because,
		"even at 4 Gbit/s useful_work is 80.0 %, 10.0 points short; "
		"no value from 1 Mbit/s to 4 Gbit/s is enough");
	seek_record_free(r);
	r = found("links.wan.rate", "exchange_p99 <= 10 ms", (struct seek_options){0});
	/* 10 s / 100 = 100 ms */
	assert_non_null(strstr(r->because, "even at 100 Gbit/s exchange_p99 is 100 ms, 90 ms too "
					   "much"));
	seek_record_free(r);
}

static void test_turns(void **state)
{
	struct seek_record *r = found("workload.outer.fragments", "useful_work >= 90 %",
		(struct seek_options){.engine = by_fragments});

	/* the scenario takes 2 (overlap) to 24 (period) */
	assert_near(r->low, 2, 0);
	assert_near(r->high, 24, 0);
	assert_near(r->found, 5, 0);
	assert_int_equal(r->n_notes, 1);
	assert_non_null(strstr(r->notes[0], "the curve turns"));
	seek_record_free(r);
}

static void test_no_effect(void **state)
{
	struct seek_record *r =
		found("links.wan.queue", "useful_work >= 40 %", (struct seek_options){0});

	assert_string_equal(r->outcome, "bound");
	assert_int_equal(r->n_notes, 1);
	assert_non_null(strstr(r->notes[0], "nothing in this case uses `links.wan.queue`"));
	seek_record_free(r);
	r = found("links.wan.rate", "compute_utilisation >= 40 %", (struct seek_options){0});
	assert_non_null(strstr(r->notes[0], "changes nothing in compute_utilisation"));
	seek_record_free(r);
}

static void test_other_direction(void **state)
{
	struct seek_record *r =
		found("links.wan.rate", "useful_work <= 90 %", (struct seek_options){0});

	assert_string_equal(r->outcome, "bound");
	assert_int_equal(r->n_notes, 1);
	assert_non_null(strstr(r->notes[0], "--largest"));
	seek_record_free(r);
}

static void test_invalid(void **state)
{
	struct seek_record *r = found(
		"links.wan.rate", "useful_work >= 90 %", (struct seek_options){.engine = invalid});

	assert_string_equal(r->outcome, "none");
	seek_record_free(r);
}

static void test_refused(void **state)
{
	refused("links.wan.rat", (struct seek_options){0}, "did you mean links.wan.rate?");
	refused("workload.strategy", (struct seek_options){0}, "holds no number");
	refused("links.wan.rate", (struct seek_options){.min = "5"}, "--min 5: ");
	refused("links.wan.rate", (struct seek_options){.max = "1 Gbps"}, "--max 1 Gbps: ");
	refused("links.wan.rate", (struct seek_options){.min = "2 Gbit/s", .max = "1 Gbit/s"},
		"nothing between");
	refused("links.wan.rate", (struct seek_options){.max = "1 Mbit/s"}, "nothing between");
	refused("links.wan.rate", (struct seek_options){.max = "100 Tbit/s"}, "--max 100 Tbit/s: ");
	refused("workload.outer.fragments", (struct seek_options){.max = "48"},
		"--max 48: --set workload.outer.fragments=48: 48 fragments do not fit");
	refused("links.wan.rate", (struct seek_options){.engine = breaks}, "the engine broke");
}

static void test_matrix(void **state)
{
	_free_ char *all = memory_format("%smatrix: {seed: [1, 2]}\n", text);
	const struct seek_source source = {.path = "t.yaml", .text = all, .length = strlen(all)};
	const struct seek_options o = {
		.find = "links.wan.rate", .tolerance = .01, .engine = by_rate};
	struct seek_record *r = NULL;
	struct error err = {0};

	assert_true(seek_run(&r, &source, &o, &err) < 0);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_non_null(strstr(err.text, "sweep --find"));
}

static void test_agrees(void **state)
{
	assert_true(confirm_agrees("useful_work", .92, .90001));
	assert_false(confirm_agrees("useful_work", .92, .899));
	assert_true(confirm_agrees("exchange_p99", 10.4, 10));
	assert_false(confirm_agrees("exchange_p99", 10.6, 10));
	assert_false(confirm_agrees("wire_rate", 1e9, NAN));
	assert_false(confirm_agrees("useful_work", NAN, .9));
}

/* As much useful work as its seed says, and a point less for each further dilation. */
static int by_seed(struct record_case *c, const struct scenario *s, struct folder *folder,
	size_t index, struct error *err)
{
	c->useful_work = .5 + .01 * (double)(s->seed % 3) - .1 * (s->dilation - 1);
	return s->job.seed == s->seed ? 0 : error_set(err, -5, STATUS_MACHINE, "two seeds");
}

/* Seeds 7 to 11 are 1, 2, 0, 1, 2 of three. */
static void test_spread(void **state)
{
	struct seek_check check = {0};
	struct seek_options o = {.engine = by_seed};
	struct scenario_file *file = NULL;
	struct error err = {0};

	assert_int_equal(expectation_parse(&o.want, "useful_work >= 90 %", &err), 0);
	assert_int_equal(scenario_load_text(&file, "t.yaml", text, sizeof text - 1,
				 (const char *const[]){"seed=7", "dilation=auto"}, 2, &err),
		0);
	assert_int_equal(confirm_model(&check, file->cases[0], 2, &o, &err), 0);
	assert_near(check.model, .41, 1e-12);
	assert_near(check.least, .40, 1e-12);
	assert_near(check.greatest, .42, 1e-12);
	assert_near(check.dilation, 2, 0);
	o.engine = breaks;
	assert_int_equal(confirm_model(&check, file->cases[0], 2, &o, &err), -5);
	scenario_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_bounds_given),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_no_effect),
		cmocka_unit_test(test_other_direction),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_agrees),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests_name("seek", tests, NULL, NULL);
}
