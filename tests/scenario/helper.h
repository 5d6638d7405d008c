/* What the scenario's tests share. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/scenario/scenario.h"
#include "tests/test.h"

/* Into a folder of the source tree. */
static inline void enter_source(const char *folder)
{
	const char *source = getenv("NARROWLINK_SOURCE");
	_free_ char *path = memory_format("%s/%s", source ? source : ".", folder);

	if (chdir(path))
		fail_msg("cannot enter %s", path);
}

static inline char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = memory_zero(1 << 20, 1);

	if (!f)
		fail_msg("cannot open %s", path);
	text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static inline char *print_text_of(const struct scenario *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(scenario_print(s, f), 0);
	fclose(f);
	return text;
}

static inline struct scenario_file *load_ok(const char *text)
{
	struct scenario_file *file = NULL;
	struct error err = {0};

	if (scenario_load_text(&file, "test.yaml", text, strlen(text), NULL, 0, &err))
		fail_msg("%s", err.text);
	return file;
}

/* Calls f for each file of the working directory whose name ends so, in no order. */
static inline int each_file(const char *ending, void (*f)(const char *name))
{
	DIR *dir = opendir(".");
	struct dirent *e;
	int n = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		size_t length = strlen(e->d_name), tail = strlen(ending);

		if (length <= tail || strcmp(e->d_name + length - tail, ending))
			continue;
		f(e->d_name);
		n++;
	}
	closedir(dir);
	return n;
}
