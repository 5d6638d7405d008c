/*
 * A reader of RFC 4180 rows without line breaks in their fields; see csv.h. A line is split in
 * place: its fields point into the line's own buffer.
 */
#include "results/csv.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define COLUMNS_MAX 32
#define NUMBER_MAX 1e18 /* more is damage: no rate, time or count here comes near it */

struct csv {
	FILE *file;
	off_t at, next;
	char *line;
	size_t room;
	int columns; /* as many as the header has */
	char *names[COLUMNS_MAX], *fields[COLUMNS_MAX];
};

/* Splits the field at p off; returns what follows its comma, NULL at the end of the line. */
static char *split_field(char *p, char **field)
{
	char *to;

	*field = p;
	if (*p != '"') {
		p = strchr(p, ',');
		if (p)
			*p++ = '\0';
		return p;
	}
	for (to = p++; *p && (*p != '"' || p[1] == '"'); p++) {
		p += *p == '"';
		*to++ = *p;
	}
	p += *p == '"';
	p = *p == ',' ? p + 1 : NULL;
	*to = '\0';
	return p;
}

static int split(char *line, char **fields)
{
	int n = 0;

	while (line && n < COLUMNS_MAX)
		line = split_field(line, &fields[n++]);
	return line ? -1 : n;
}

/* The next line that ends; its length, or -1. */
static ssize_t whole_line(struct csv *csv)
{
	ssize_t n = getline(&csv->line, &csv->room, csv->file);

	if (n <= 0 || csv->line[n - 1] != '\n')
		return -1;
	csv->at = csv->next;
	csv->next += n;
	csv->line[--n] = '\0';
	return n;
}

struct csv *csv_open(const char *folder, const char *file)
{
	_free_ char *path = memory_format("%s/%s", folder, file);
	struct csv *csv = memory_zero(1, sizeof *csv);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang */
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		csv->file = fdopen(fd, "r");
	if (!csv->file && fd >= 0)
		close(fd);
	if (!csv->file || whole_line(csv) < 0)
		return csv_close(csv);
	csv->columns = split(csv->line, csv->fields);
	for (int i = 0; i < csv->columns; i++)
		csv->names[i] = memory_string(csv->fields[i]);
	return csv->columns > 0 ? csv : csv_close(csv);
}

struct csv *csv_close(struct csv *csv)
{
	if (!csv)
		return NULL;
	if (csv->file)
		fclose(csv->file);
	for (int i = 0; i < csv->columns; i++)
		free(csv->names[i]);
	free(csv->line);
	free(csv);
	return NULL;
}

int csv_column(const struct csv *csv, const char *name)
{
	for (int i = 0; i < csv->columns; i++)
		if (!strcmp(csv->names[i], name))
			return i;
	return -1;
}

bool csv_next(struct csv *csv)
{
	ssize_t n;

	while ((n = whole_line(csv)) >= 0)
		if (strlen(csv->line) == (size_t)n && split(csv->line, csv->fields) == csv->columns)
			return true;
	return false;
}

const char *csv_text(const struct csv *csv, int column)
{
	return column < 0 ? "" : csv->fields[column];
}

double csv_number(const struct csv *csv, int column)
{
	const char *text = csv_text(csv, column);
	char *end;
	double d = strtod(text, &end);

	return *text && !*end && fabs(d) < NUMBER_MAX ? d : NAN;
}

off_t csv_row_offset(const struct csv *csv)
{
	return csv->at;
}

void csv_seek(struct csv *csv, off_t offset)
{
	fseeko(csv->file, offset, SEEK_SET);
	csv->next = offset;
}
