/*
 * run.json: held against a file written by hand, read back value by value, and refused with the
 * place named when anything in it is not what it should be.
 */
#include "tests/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/random.h"
#include "golden.h"
#include "results/record.h"
#include "scratch.h"

static char *written(const struct record *r)
{
	char *dir = scratch_new();
	_free_ char *path = memory_format("%s/run.json", dir);
	struct error err = {0};
	char *text;

	assert_int_equal(record_write_json(r, path, &err), 0);
	text = scratch_read(dir, "run.json");
	scratch_free(dir);
	return text;
}

static struct record *parsed(const char *text)
{
	struct record *r = NULL;
	struct error err = {0};

	if (record_parse_json(&r, text, strlen(text), "run.json", &err))
		fail_msg("%s", err.text);
	return r;
}

static void test_writes_the_golden_file(void **state)
{
	struct record *r = golden_record();
	_free_ char *text = written(r), *golden;
	size_t length;

	golden = golden_text(&length);
	assert_string_equal(text, golden);
	record_free(r);
}

static void test_reads_the_golden_file(void **state)
{
	_free_ char *golden = NULL, *again = NULL;
	struct record_case *c;
	struct record *r;
	size_t length;

	golden = golden_text(&length);
	r = parsed(golden);
	assert_int_equal(r->n_cases, 1);
	c = r->cases[0];
	assert_true(r->seed == UINT64_MAX);
	assert_null(r->tool_git);
	assert_int_equal(r->hz, 250);
	assert_string_equal(r->argv[2], "two sites.yaml");
	assert_string_equal(c->set[1].key, "core.delay");
	assert_string_equal(c->verdict, "fails");
	assert_true(isnan(c->participation));
	assert_true(c->useful_work == .7125);
	assert_true(c->participants[0].ledger_s[STATE_EXPOSED_COMM] == 25.125);
	assert_true(c->participants[0].steps_useful == 20.5);
	assert_true(c->exchange_s[1] == 2 && c->exchange_p90_s == 1.9);
	assert_true(c->wire[0].bytes == 9007199254740992.);
	assert_true(c->wire[0].drop_outage == 12 && c->wire[0].lateness_p50_s == 1.5e-5);
	assert_true(c->faults[0].happened && c->faults[0].for_s == 5);
	assert_false(c->expect[0].holds);
	again = written(r);
	assert_string_equal(again, golden);
	record_free(r);
}

/* A record that nobody filled in is still a file that can be read. */
static void test_unknown_is_null(void **state)
{
	struct record *r = record_new(), *back;
	struct record_case *c = record_add_case(r, "case");
	_free_ char *text = NULL;

	record_add_participant(c, "a", "learner", NULL);
	record_add_wire(c, "a", "up");
	record_add_fault(c, "crash", "a");
	record_add_expect(c, "useful_work", ">=");
	c->wall_s = INFINITY;
	text = written(r);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "NaN"));
	assert_null(strstr(text, "inf"));
	assert_non_null(strstr(text, "\"wall_s\": null"));
	back = parsed(text);
	assert_true(isnan(back->cases[0]->wall_s));
	assert_true(isnan(back->cases[0]->participants[0].ledger_s[STATE_DOWN]));
	assert_true(isnan(back->cases[0]->wire[0].drop_queue));
	assert_string_equal(back->engine, "");
	assert_string_equal(back->cases[0]->verdict, "none");
	record_free(r);
	record_free(back);
}

static void test_text_is_made_valid(void **state)
{
	struct record *r = record_new(), *back;
	_free_ char *text = NULL;

	r->title = memory_string("a\xff"
				 "b\xc0\xaf\xed\xa0\x80"
				 "c\xe0\x80\x80\xf4\x90\x80\x80"
				 "d\xe2\x82");
	text = written(r);
	back = parsed(text);
	/* one mark per byte that belongs to nothing */
#define FFFD "\xef\xbf\xbd"
	assert_string_equal(back->title, "a" FFFD "b" FFFD FFFD FFFD FFFD FFFD
					 "c" FFFD FFFD FFFD FFFD FFFD FFFD FFFD "d" FFFD FFFD);
	record_free(r);
	record_free(back);
}

static void test_seeds_are_exact(void **state)
{
	static const struct {
		uint64_t seed;
		const char *json;
	} cases[] = {
		{0, "\"seed\": 0,"},
		{UINT64_C(1) << 53, "\"seed\": 9007199254740992,"},
		{(UINT64_C(1) << 53) + 1, "\"seed\": \"9007199254740993\","},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct record *r = record_new(), *back;
		_free_ char *text = NULL;

		r->seed = cases[i].seed;
		text = written(r);
		assert_non_null(strstr(text, cases[i].json));
		back = parsed(text);
		assert_true(back->seed == cases[i].seed);
		record_free(r);
		record_free(back);
	}
}

static void test_summary(void **state)
{
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "");

	record_exchange_summary(c);
	assert_true(c->exchange_n == 0 && isnan(c->exchange_p50_s));
	for (int i = 0; i <= 100; i++)
		record_exchange(c, (i * 37) % 101);
	record_exchange_summary(c);
	assert_true(c->exchange_n == 101);
	assert_near(c->exchange_p50_s, 50, 1e-12);
	assert_near(c->exchange_p90_s, 90, 1e-12);
	assert_near(c->exchange_p99_s, 99, 1e-12);
	assert_near(c->exchange_max_s, 100, 1e-12);
	assert_true(c->exchange_s[1] == 37); /* in their order still */
	record_free(r);
}

/* The golden file with one text replaced by another. */
static char *changed(const char *from, const char *to)
{
	_free_ char *golden = NULL;
	size_t length;
	char *at, *text;

	golden = golden_text(&length);
	at = strstr(golden, from);
	if (!at)
		fail_msg("no %s in the golden file", from);
	*at = '\0';
	text = memory_format("%s%s%s", golden, to, at + strlen(from));
	return text;
}

static void test_errors_name_the_place(void **state)
{
	static const struct {
		const char *from, *to, *error;
	} cases[] = {
		{"\"wall_s\": 100.25", "\"wall_s\": \"long\"",
			"run.json: cases[0].wall_s: expected a number, found a string"},
		{"\"compute\": 75.125", "\"compute\": []",
			"run.json: cases[0].participants[0].ledger_s.compute: expected a number, "
			"found a list"},
		{"\"compute\": 75.125,", "",
			"run.json: cases[0].participants[0].ledger_s.compute: is missing"},
		{"\"useful\": 20.5,", "",
			"run.json: cases[0].participants[0].steps.useful: is missing"},
		{"\"n\": 2,", "", "run.json: cases[0].exchange_s.n: is missing"},
		{"[\n          1,", "[\n          true,",
			"run.json: cases[0].exchange_s.values[0]: expected a number, found true or "
			"false"},
		{"\"verdict\": \"fails\"", "\"verdict\": \"maybe\"",
			"run.json: cases[0].verdict: unknown value \"maybe\""},
		{"\"direction\": \"up\"", "\"direction\": \"left\"",
			"run.json: cases[0].wire[0].direction: unknown value \"left\""},
		{"\"ok\": true", "\"ok\": 1",
			"run.json: cases[0].valid.ok: expected true or false, found a number"},
		{"\"reasons\": []", "\"reasons\": [{}]",
			"run.json: cases[0].valid.reasons[0]: expected a string, found an object"},
		{"\"reasons\": []", "\"reasons\": {}",
			"run.json: cases[0].valid.reasons: expected a list, found an object"},
		{"\"core.delay\": \"300 ms\"", "\"core.delay\": 300",
			"run.json: cases[0].set.core.delay: expected a string, found a number"},
		{"\"set\": {", "\"set\": [], \"was\": {",
			"run.json: cases[0].set: expected an object, found a list"},
		{"\"cpus\": 2", "\"cpus\": 2.5",
			"run.json: host.cpus: expected a whole number, found a number"},
		{"\"cpus\": 2", "\"cpus\": -2",
			"run.json: host.cpus: expected a number from 0 to 2147483647, found -2"},
		{"\"18446744073709551615\"", "\"18446744073709551616\"",
			"run.json: seed: expected a number from 0 to 2^64 - 1, found "
			"\"18446744073709551616\""},
		{"\"18446744073709551615\"", "-1",
			"run.json: seed: expected a number from 0 to 2^64 - 1"},
		{"\"engine\": \"relay\"", "\"engine\": null",
			"run.json: engine: expected a string, found null"},
		{"\"cases\": [", "\"cases\": [7, ",
			"run.json: cases[0]: expected an object, found a number"},
		{"narrowlink/run/1", "narrowlink/run/2",
			"run.json: schema \"narrowlink/run/2\"; this version reads "
			"\"narrowlink/run/1\""},
		{"\"schema\"", "\"scheme\"",
			"run.json: not a run of narrowlink: no \"schema\": \"narrowlink/run/1\" in "
			"it"},
		{"\"hz\": 250", "\"hz\": 250, \"hz\": 300", "not JSON: duplicate object key"},
		{"\"hz\": 250", "\"hz\": 1e999", "not JSON: real number overflow"},
		{"\"hz\": 250", "\"hz\": NaN", "run.json:11:13: not JSON: invalid token"},
		{"two sites.yaml\"\n", "two\\u0000\"\n", "not JSON: \\u0000 is not allowed"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_free_ char *text = changed(cases[i].from, cases[i].to);
		struct record *r = NULL;
		struct error err = {0};

		assert_int_equal(
			record_parse_json(&r, text, strlen(text), "run.json", &err), -EINVAL);
		assert_null(r);
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, cases[i].error))
			fail_msg("got  %s\nwant %s", err.text, cases[i].error);
	}
}

static void test_later_keys_are_passed_over(void **state)
{
	_free_ char *text = changed("\"hz\": 250", "\"hz\": 250, \"numa_nodes\": 2");

	record_free(parsed(text));
}

static void test_counts_are_limited(void **state)
{
	_free_ char *many = memory_zero(1002 * 3, 1), *list = NULL, *text = NULL;
	struct record *r = record_new();
	struct record_case *c = record_add_case(r, "many");
	struct error err = {0};

	for (int i = 0; i < 1001; i++) {
		strcpy(many + 3 * i, i ? ",\"\"" : " \"\"");
		record_reason(c, "%d", i);
	}
	list = memory_format("\"reasons\": [%s]", many);
	text = changed("\"reasons\": []", list);
	assert_int_equal(record_parse_json(&(struct record *){NULL}, text, strlen(text), "r", &err),
		-EINVAL);
	assert_string_equal(
		err.text, "r: cases[0].valid.reasons: expected at most 1000 entries, found 1001");

	err = (struct error){0};
	assert_int_equal(record_write_json(r, "/nowhere/run.json", &err), -EOVERFLOW);
	assert_string_equal(
		err.text, "cases[0].valid.reasons: 1001 entries; at most 1000 can be recorded");
	record_free(r);
}

static void test_replaces_as_a_whole(void **state)
{
	char *dir = scratch_new();
	_free_ char *path = memory_format("%s/run.json", dir);
	_free_ char *beside = NULL, *kept = NULL;
	struct record *r = record_new();
	struct error err = {0};
	struct stat st;

	assert_int_equal(mkdir(path, 0777), 0); /* a name that rename cannot take */
	assert_true(record_write_json(r, path, &err) < 0);
	assert_int_equal(err.status, STATUS_MACHINE);
	beside = memory_format("%s.new", path);
	assert_int_equal(stat(beside, &st), -1);

	scratch_write(dir, "old.json", "old");
	free(beside);
	beside = memory_format("%s/old.json.new", dir);
	assert_int_equal(mkdir(beside, 0777), 0); /* the new file cannot be written */
	free(path);
	path = memory_format("%s/old.json", dir);
	assert_true(record_write_json(r, path, &(struct error){0}) < 0);
	kept = scratch_read(dir, "old.json");
	assert_string_equal(kept, "old");
	record_free(r);
	scratch_free(dir);
}

static void test_reading_what_is_no_file(void **state)
{
	char *dir = scratch_new();
	_free_ char *absent = memory_format("%s/run.json", dir);
	_free_ char *fifo = memory_format("%s/fifo", dir);
	struct record *r = NULL;
	struct error err = {0};

	assert_int_equal(record_read_json(&r, absent, &err), -ENOENT);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_non_null(strstr(err.text, "No such file"));
	err = (struct error){0};
	assert_int_equal(record_read_json(&r, dir, &err), -EINVAL);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(record_read_json(&r, fifo, &(struct error){0}), -EINVAL);
	scratch_write(dir, "run.json", "");
	err = (struct error){0};
	assert_int_equal(record_read_json(&r, absent, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not JSON"));
	assert_null(r);
	scratch_free(dir);
}

/* One to four changes to the text: a byte flipped, a piece removed, doubled, or a token put in. */
static size_t mutate(char *text, size_t n, uint32_t entity)
{
	static const char *const tokens[] = {"null", "[]", "{}", "\"\"", "-1", "1e308", "true",
		"99999999999999999999", "\xff", ","};
	uint64_t at = 0;
#define DRAW(limit) (random_u64(7, entity, RANDOM_FAULT, at++) % (limit))
	int changes = 1 + (int)DRAW(4);

	while (changes-- && n > 80) {
		size_t i = DRAW(n - 64), k = 1 + DRAW(60);
		const char *token = tokens[DRAW(10)];

		switch (DRAW(4)) {
		case 0:
			text[i] ^= (char)(1 << DRAW(8));
			break;
		case 1:
			memmove(text + i, text + i + k, n - i - k);
			n -= k;
			break;
		case 2:
			memmove(text + i + k, text + i, n - i);
			n += k;
			break;
		default:
			memcpy(text + i, token, strlen(token));
		}
	}
	return n;
}

/* Whatever is read is either refused with words, or written and read again as the same. */
static void test_mutations(void **state)
{
	_free_ char *golden = NULL;
	size_t length;
	int read = 0;

	golden = golden_text(&length);
	for (uint32_t i = 0; i < 4000; i++) {
		_free_ char *text = memory_zero(length + 1024, 1);
		struct record *r = NULL;
		struct error err = {0};
		size_t n;

		memcpy(text, golden, length);
		n = mutate(text, length, i);
		if (record_parse_json(&r, text, n, "run.json", &err)) {
			assert_null(r);
			assert_int_equal(err.status, STATUS_INPUT);
			assert_int_equal(strncmp(err.text, "run.json:", 9), 0);
			continue;
		}
		if (read++ % 16 == 0) {
			_free_ char *once = written(r), *twice = NULL;
			struct record *back = parsed(once);

			twice = written(back);
			assert_string_equal(once, twice);
			record_free(back);
		}
		record_free(r);
	}
	assert_in_range(read, 100, 3900); /* both ways were taken */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_the_golden_file),
		cmocka_unit_test(test_reads_the_golden_file),
		cmocka_unit_test(test_unknown_is_null),
		cmocka_unit_test(test_text_is_made_valid),
		cmocka_unit_test(test_seeds_are_exact),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_errors_name_the_place),
		cmocka_unit_test(test_later_keys_are_passed_over),
		cmocka_unit_test(test_counts_are_limited),
		cmocka_unit_test(test_replaces_as_a_whole),
		cmocka_unit_test(test_reading_what_is_no_file),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
