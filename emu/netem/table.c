/* Distribution tables, made and loaded; see table.h. */
#include "emu/netem/table.h"

#include <errno.h>
#include <glob.h>
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SHAPE 3.0

const char *table_name(enum table_kind kind)
{
	static const char *const names[TABLE_KINDS] = {
		[TABLE_UNIFORM] = "uniform",
		[TABLE_NORMAL] = "normal",
		[TABLE_PARETO] = "pareto",
		[TABLE_PARETONORMAL] = "paretonormal",
	};

	return names[kind];
}

/* The u-quantile of the Gaussian: its distribution function, inverted by bisection. */
static double normal_quantile(double u)
{
	double low = -10, high = 10;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erfc(-middle * M_SQRT1_2) / 2 < u)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static double pareto_quantile(double u)
{
	return pow(1 - u, -1 / SHAPE);
}

static double quantile(enum table_kind kind, double u)
{
	double sigma = sqrt(SHAPE / (SHAPE - 2)) / (SHAPE - 1), mean = SHAPE / (SHAPE - 1);
	double pareto = (pareto_quantile(u) - mean) / sigma;

	switch (kind) {
	case TABLE_NORMAL:
		return normal_quantile(u);
	case TABLE_PARETO:
		return pareto;
	case TABLE_PARETONORMAL:
		return .75 * pareto + .25 * normal_quantile(u);
	default:
		return 2 * u - 1;
	}
}

static int16_t clip(double value)
{
	return (int16_t)fmin(fmax(rint(value), INT16_MIN), INT16_MAX);
}

/*
 * What is cut off at 4 sigma takes from mean and deviation: both are restored by shifting and
 * stretching what is left, again and again since the cut moves.
 */
static void standardise(double x[static TABLE_SIZE])
{
	const double limit = (double)INT16_MAX / NETEM_DIST_SCALE;

	for (int round = 0; round < 100; round++) {
		double sum = 0, squares = 0, mean, sigma;

		for (int i = 0; i < TABLE_SIZE; i++)
			sum += fmin(fmax(x[i], -limit), limit);
		mean = sum / TABLE_SIZE;
		for (int i = 0; i < TABLE_SIZE; i++)
			squares += pow(fmin(fmax(x[i], -limit), limit) - mean, 2);
		sigma = sqrt(squares / TABLE_SIZE);
		for (int i = 0; i < TABLE_SIZE; i++)
			x[i] = (x[i] - mean) / sigma;
	}
}

void table_make(int16_t values[static TABLE_SIZE], enum table_kind kind)
{
	_free_ double *x = memory_zero(TABLE_SIZE, sizeof *x);

	for (int i = 0; i < TABLE_SIZE; i++)
		x[i] = quantile(kind, (i + .5) / TABLE_SIZE);
	if (kind != TABLE_UNIFORM)
		standardise(x);
	for (int i = 0; i < TABLE_SIZE; i++)
		values[i] = clip(x[i] * NETEM_DIST_SCALE);
}

static FILE *open_first(const char *pattern, char **path)
{
	glob_t found;
	FILE *f = NULL;

	if (glob(pattern, 0, NULL, &found) == 0) {
		f = fopen(found.gl_pathv[0], "re");
		*path = memory_string(found.gl_pathv[0]);
	}
	globfree(&found);
	return f;
}

static FILE *open_table(const char *name, char **path)
{
	static const char *const folders[] = {
		"/usr/lib/tc", "/usr/lib64/tc", "/usr/lib/*-linux-*/tc", "/usr/share/tc"};
	const char *own = getenv("TC_LIB_DIR");
	FILE *f = NULL;

	if (strchr(name, '/')) {
		*path = memory_string(name);
		return fopen(name, "re");
	}
	if (own) {
		_free_ char *pattern = memory_format("%s/%s.dist", own, name);

		f = open_first(pattern, path);
	}
	for (size_t i = 0; !f && i < sizeof folders / sizeof *folders; i++) {
		_free_ char *pattern = memory_format("%s/%s.dist", folders[i], name);

		cleanup_free(path);
		*path = NULL;
		f = open_first(pattern, path);
	}
	return f;
}

static int parse_line(
	int16_t *values, size_t *count, char *line, const char *path, int number, struct error *err)
{
	char *rest = NULL, *end;

	line[strcspn(line, "#\n")] = '\0';
	for (char *word = strtok_r(line, " \t\r", &rest); word;
		word = strtok_r(NULL, " \t\r", &rest)) {
		long value = strtol(word, &end, 10);

		if (*end || value < INT16_MIN || value > INT16_MAX)
			return error_set(err, -EINVAL, STATUS_INPUT,
				"%s:%d: \"%.32s\" is no whole number from -32768 to 32767", path,
				number, word);
		if (*count == NETEM_DIST_MAX)
			return error_set(err, -E2BIG, STATUS_INPUT, "%s:%d: more than %d numbers",
				path, number, NETEM_DIST_MAX);
		values[(*count)++] = (int16_t)value;
	}
	return 0;
}

int table_load(int16_t *values, size_t *count, const char *name, struct error *err)
{
	_free_ char *path = NULL, *line = NULL;
	_fclose_ FILE *f = open_table(name, &path);
	size_t room = 0, n = 0;
	int r = 0;

	if (!f)
		return error_set(err, -ENOENT, STATUS_INPUT,
			"no distribution \"%s\": looked for %s.dist in $TC_LIB_DIR and in tc below "
			"/usr/lib; it comes with iproute2",
			name, name);
	for (int number = 1; r == 0 && getline(&line, &room, f) > 0; number++)
		r = parse_line(values, &n, line, path, number, err);
	if (r < 0)
		return r;
	if (!n)
		return error_set(err, -EINVAL, STATUS_INPUT, "%s: no numbers in it", path);
	*count = n;
	return 0;
}
