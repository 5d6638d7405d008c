/*
 * Fuzzing of the scenario language. Whatever comes in: an error with its status, or cases whose
 * canonical print reads back and prints the same.
 *
 * Built with -DFUZZING it is a libFuzzer target; otherwise a test that runs the corpus (the
 * golden and error files) and seeded mutations of it.
 */
#include "tests/scenario/helper.h"

#include "base/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml forgets a buffer when a quoted text has many escapes (its issue 233): not ours. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libfyaml.so";
}

static void check_print(const struct scenario *s)
{
	struct scenario_file *again = NULL;
	struct error err = {0};
	_free_ char *first = print_text_of(s), *second = NULL;

	if (scenario_load_text(&again, "fuzz.yaml", first, strlen(first), NULL, 0, &err)) {
		fprintf(stderr, "%s\n%s\n", first, err.text);
		abort();
	}
	second = print_text_of(again->cases[0]);
	if (strcmp(first, second))
		abort();
	scenario_file_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario_file *file = NULL;
	struct error err = {0};

	if (scenario_load_text(&file, "fuzz.yaml", (const char *)data, size, NULL, 0, &err)) {
		if (err.status != STATUS_INPUT || strlen(err.text) < 10 || file)
			abort();
		return 0;
	}
	for (size_t i = 0; i < file->n_cases && i < 3; i++)
		check_print(file->cases[i]);
	scenario_file_free(file);
	return 0;
}

#ifndef FUZZING

#define MUTATIONS 40
#define ROOM 4096

static const char *const pieces[] = {"{", "}", "[", "]", ": ", ", ", "- ", "\n", "\"", "'", "#",
	"&a ", "*a", "!", "|", ">", "%", "\t", "0", "1", "9", "999999999999", "-", ".", "e9",
	" Gbit/s", " ms", " %", " B", "\302\261", "\377", "\\", "? ", "---\n", "null", "~", "star",
	"sharded", "diloco", "data-parallel", "link: wan", "up: {rate: 9 Mbit/s}",
	"matrix: {seed: [1, 2]}\n"};
static uint64_t draws;

static size_t draw(size_t below)
{
	return (size_t)(random_u64(7, 0, RANDOM_LOSS, draws++) % below);
}

/* Takes some bytes out at a random place and puts a piece, or bytes from elsewhere, in. */
static size_t mutate(char *text, size_t size)
{
	size_t at = draw(size + 1), out = draw(4) ? 0 : draw(12), in;
	const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
	char copy[64];

	out = out < size - at ? out : size - at;
	in = strlen(piece);
	if (!draw(3) && size > sizeof copy) {
		in = draw(sizeof copy);
		memcpy(copy, text + draw(size - in), in);
		piece = copy;
	}
	if (size - out + in > ROOM)
		return size;
	memmove(text + at + in, text + at + out, size - at - out);
	memcpy(text + at, piece, in);
	return size - out + in;
}

static void fuzz_file(const char *name)
{
	_free_ char *seed = read_text(name);
	size_t length = strlen(seed);
	char text[ROOM];

	length = length < ROOM ? length : ROOM;
	for (int i = 0; i < MUTATIONS; i++) {
		size_t size = length;

		memcpy(text, seed, size);
		for (size_t k = i ? 1 + draw(4) : 0; k; k--)
			size = mutate(text, size);
		LLVMFuzzerTestOneInput((const uint8_t *)text, size);
	}
}

static void corpus(void **state)
{
	enter_source("tests/scenario/golden");
	each_file(".yaml", fuzz_file);
	each_file(".txt", fuzz_file);
	enter_source("tests/scenario/errors");
	assert_true(each_file(".yaml", fuzz_file) > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(corpus)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
