/*
 * A recorded ping trace, from text to the two sides of a link.
 *
 * First the text becomes probes (when it was sent, its round trip), with every doubtful line
 * refused by its number. Then the probes become what a link can follow: the delay from each
 * probe on, and windows of loss between probes that are too far apart. For the way back (DOWN)
 * the same is drawn over the times at which the probes reach the far end, which are their
 * sending times plus the delay, and never before the probe ahead: a window that lies between two
 * sendings lies between the same two arrivals. A probe that was heard is therefore in no window
 * of either side.
 */
#include "emu/link.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

#define SIZE_LIMIT ((size_t)64 << 20)
#define PROBES_LIMIT ((size_t)1000000)
#define TIME_LIMIT_S 1e9
#define RTT_LIMIT_MS 3600000.0
#define LOST_FROM_SPACINGS 1.75
#define SPACING_LEAST_NS NS_PER_MS

struct probe {
	int64_t sent_ns, rtt_ns;
};

/* What is left of the text, and where in it we are. */
struct reader {
	const char *path;
	const char *next, *end;
	int line;
	int n_columns, time_column, rtt_column;
	struct probe *probes;
	size_t n, room;
};

/* A piece of the text, without a final NUL. */
struct piece {
	const char *start;
	size_t size;
};

static struct piece trim(struct piece p)
{
	while (p.size && strchr(" \t\r", p.start[0]) && p.start[0])
		p.start++, p.size--;
	while (p.size && strchr(" \t\r", p.start[p.size - 1]) && p.start[p.size - 1])
		p.size--;
	return p;
}

/* Takes what stands before the first mark, and the mark, off the piece. */
static struct piece take(struct piece *rest, char mark)
{
	const char *at = memchr(rest->start, mark, rest->size);
	struct piece taken = {rest->start, at ? (size_t)(at - rest->start) : rest->size};
	size_t used = taken.size + (at ? 1 : 0);

	rest->start += used;
	rest->size -= used;
	return taken;
}

static int fields_in(struct piece line)
{
	int n = 1;

	for (size_t i = 0; i < line.size; i++)
		n += line.start[i] == ',';
	return n;
}

/* The piece as it may be shown: at most 40 characters, printable. */
static const char *shown(struct piece p, char buf[48])
{
	size_t n = p.size < 40 ? p.size : 40;

	for (size_t i = 0; i < n; i++)
		buf[i] = p.start[i] >= 32 && p.start[i] < 127 ? p.start[i] : '?';
	strcpy(buf + n, n < p.size ? "..." : "");
	return buf;
}

static bool next_line(struct reader *r, struct piece *line)
{
	struct piece rest = {r->next, (size_t)(r->end - r->next)};

	if (!rest.size)
		return false;
	*line = take(&rest, '\n');
	r->next = rest.start;
	r->line++;
	return true;
}

static int read_header(struct reader *r, struct error *err)
{
	struct piece line = {0}, field;
	int n;

	r->time_column = r->rtt_column = -1;
	if (!next_line(r, &line))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s: empty; a trace begins with a line that names its columns, among them "
			"`relative` (seconds) and `rtt` (milliseconds)",
			r->path);
	r->n_columns = fields_in(line);
	for (n = 0; n < r->n_columns; n++) {
		int *column;

		field = trim(take(&line, ','));
		if (field.size == 8 && !memcmp(field.start, "relative", 8))
			column = &r->time_column;
		else if (field.size == 3 && !memcmp(field.start, "rtt", 3))
			column = &r->rtt_column;
		else
			continue;
		if (*column >= 0)
			return error_set(err, -EINVAL, STATUS_INPUT,
				"%s:1: two columns `%.*s`; one is needed", r->path, (int)field.size,
				field.start);
		*column = n;
	}
	if (r->time_column < 0 || r->rtt_column < 0)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s:1: no column `%s`; the first line names the columns, among them "
			"`relative` (seconds) and `rtt` (milliseconds)",
			r->path, r->time_column < 0 ? "relative" : "rtt");
	return 0;
}

/* A decimal number in [low, high]; no hexadecimal, no infinity, nothing after it. */
static bool read_number(struct piece p, double low, double high, double *out)
{
	char text[64], *end;
	double value;

	p = trim(p);
	if (!p.size || p.size >= sizeof text)
		return false;
	for (size_t i = 0; i < p.size; i++)
		if (!p.start[i] || !strchr("0123456789.+-eE", p.start[i]))
			return false;
	memcpy(text, p.start, p.size);
	text[p.size] = '\0';
	value = strtod(text, &end);
	if (*end || end == text || !(value >= low && value <= high))
		return false;
	*out = value;
	return true;
}

static int check_row(const struct reader *r, struct piece line, struct error *err)
{
	char buf[48];
	int n = fields_in(line);

	if (!trim(line).size)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s:%d: an empty line between the rows; leave it out", r->path, r->line);
	if (n != r->n_columns)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s:%d: %d field%s where the first line names %d columns: \"%s\"", r->path,
			r->line, n, n == 1 ? "" : "s", r->n_columns, shown(line, buf));
	if (r->n == PROBES_LIMIT)
		return error_set(err, -EFBIG, STATUS_INPUT,
			"%s:%d: more than %zu rows; cut the recording", r->path, r->line,
			PROBES_LIMIT);
	return 0;
}

static int read_row(struct reader *r, struct piece line, struct error *err)
{
	double time_s = 0, rtt_ms = 0;
	char buf[48];
	int status = check_row(r, line, err);

	for (int i = 0; !status && i < r->n_columns; i++) {
		struct piece field = take(&line, ',');

		if (i == r->time_column &&
			!read_number(field, -TIME_LIMIT_S, TIME_LIMIT_S, &time_s))
			status = error_set(err, -EINVAL, STATUS_INPUT,
				"%s:%d: `relative` is \"%s\"; a number of seconds between -%.0e "
				"and "
				"%.0e is needed",
				r->path, r->line, shown(trim(field), buf), TIME_LIMIT_S,
				TIME_LIMIT_S);
		if (i == r->rtt_column && !read_number(field, 0, RTT_LIMIT_MS, &rtt_ms))
			status = error_set(err, -EINVAL, STATUS_INPUT,
				"%s:%d: `rtt` is \"%s\"; a number of milliseconds between 0 and "
				"%.0f "
				"is needed (leave out the rows of lost probes)",
				r->path, r->line, shown(trim(field), buf), RTT_LIMIT_MS);
	}
	if (status)
		return status;
	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		r->probes = memory_resize(r->probes, r->room, sizeof *r->probes);
	}
	r->probes[r->n++] = (struct probe){llround(time_s * 1e9), llround(rtt_ms * 1e6)};
	if (r->n > 1 && r->probes[r->n - 1].sent_ns < r->probes[r->n - 2].sent_ns)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s:%d: `relative` goes back from %.9g s to %.9g s; sort the rows by it",
			r->path, r->line, (double)r->probes[r->n - 2].sent_ns / 1e9, time_s);
	return 0;
}

static int read_rows(struct reader *r, struct error *err)
{
	struct piece line;
	int status = 0;

	while (!status && next_line(r, &line))
		status = read_row(r, line, err);
	if (!status && r->n < 3)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s: %zu row%s; at least 3 are needed to know the spacing of the probes",
			r->path, r->n, r->n == 1 ? "" : "s");
	return status;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int by_sending(const void *a, const void *b)
{
	return by_value(&((const struct probe *)a)->sent_ns, &((const struct probe *)b)->sent_ns);
}

/* The lower median: always one of the values. Sorts them. */
static int64_t median(int64_t *values, size_t n)
{
	qsort(values, n, sizeof *values, by_value);
	return values[(n - 1) / 2];
}

/* The median spacing of n >= 2 probes; *spread is the median distance from it. */
static int64_t spacing(const struct probe *probes, size_t n, int64_t *spread)
{
	_free_ int64_t *gaps = memory_zero(n - 1, sizeof *gaps);
	int64_t middle;

	for (size_t i = 0; i + 1 < n; i++)
		gaps[i] = probes[i + 1].sent_ns - probes[i].sent_ns;
	middle = median(gaps, n - 1);
	for (size_t i = 0; i + 1 < n; i++)
		gaps[i] = llabs(gaps[i] - middle);
	*spread = median(gaps, n - 1);
	return middle;
}

/*
 * Probes are sent evenly, and their replies come as the network pleases: if taking the round
 * trips off makes the times more even, they were times of replies.
 */
static int64_t find_sendings(struct probe **probes, size_t n)
{
	struct probe *earlier = memory_zero(n, sizeof *earlier);
	int64_t spread, spread_earlier, step, step_earlier;

	for (size_t i = 0; i < n; i++)
		earlier[i] = (struct probe){
			(*probes)[i].sent_ns - (*probes)[i].rtt_ns, (*probes)[i].rtt_ns};
	qsort(earlier, n, sizeof *earlier, by_sending);
	step = spacing(*probes, n, &spread);
	step_earlier = spacing(earlier, n, &spread_earlier);
	if (spread_earlier >= spread) {
		free(earlier);
		return step;
	}
	free(*probes);
	*probes = earlier;
	return step_earlier;
}

/*
 * One side from the times at which the probes pass it (at, in order): the delay from each on, and
 * a window in every gap that lost some. Windows of the way back that have no room are left out.
 */
static void fill_side(struct link_trace_side *side, const struct probe *probes, const int64_t *at,
	size_t n, int64_t step)
{
	side->delays = memory_zero(n, sizeof *side->delays);
	side->losses = memory_zero(n, sizeof *side->losses);
	side->n_delays = n;
	for (size_t i = 0; i < n; i++) {
		side->delays[i].at_ns = at[i];
		side->delays[i].delay_ns = probes[i].rtt_ns / 2;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		double gap = (double)(probes[i + 1].sent_ns - probes[i].sent_ns);
		struct link_window window = {at[i] + step / 2, at[i + 1] - step / 2};

		if (gap >= LOST_FROM_SPACINGS * (double)step && window.from_ns < window.until_ns)
			side->losses[side->n_losses++] = window;
	}
}

static struct link_trace *trace_from(
	const char *path, const struct probe *probes, size_t n, int64_t step)
{
	struct link_trace *trace = memory_zero(1, sizeof *trace);
	_free_ int64_t *at = memory_zero(n, sizeof *at);
	int64_t arrival = 0;

	trace->path = memory_string(path);
	trace->period_ns = probes[n - 1].sent_ns - probes[0].sent_ns + step;
	for (size_t i = 0; i < n; i++)
		at[i] = probes[i].sent_ns - probes[0].sent_ns;
	fill_side(&trace->side[UP], probes, at, n, step);
	for (size_t i = 0; i < n; i++) {
		int64_t alone = at[i] + probes[i].rtt_ns / 2;

		arrival = alone > arrival ? alone : arrival;
		at[i] = arrival;
	}
	fill_side(&trace->side[DOWN], probes, at, n, step);
	return trace;
}

static int check_times(
	const char *path, const struct probe *probes, size_t n, int64_t step, struct error *err)
{
	int64_t longest = 0, period = probes[n - 1].sent_ns - probes[0].sent_ns + step;

	for (size_t i = 0; i < n; i++)
		longest = probes[i].rtt_ns > longest ? probes[i].rtt_ns : longest;
	if (step <= 0)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s: half of the rows have the same `relative`; each probe needs its own "
			"time",
			path);
	if (period / (int64_t)n < SPACING_LEAST_NS)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s: %zu rows in %.9g ms; a link follows at most 1000 a second", path, n,
			(double)period / 1e6);
	if (longest >= period)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s: a round trip of %.9g ms in a recording of %.9g ms; it must last "
			"longer "
			"than its longest round trip",
			path, (double)longest / 1e6, (double)period / 1e6);
	return 0;
}

int link_trace_parse(
	struct link_trace **out, const char *path, const char *text, size_t size, struct error *err)
{
	struct reader r = {.path = path, .next = text, .end = text + size};
	int64_t step;
	int status;

	while (r.end > r.next && r.end[-1] && strchr("\r\n", r.end[-1]))
		r.end--;
	status = read_header(&r, err);
	if (!status)
		status = read_rows(&r, err);
	if (!status) {
		step = find_sendings(&r.probes, r.n);
		status = check_times(path, r.probes, r.n, step, err);
	}
	if (!status)
		*out = trace_from(path, r.probes, r.n, step);
	free(r.probes);
	return status;
}

/* Reads up to size bytes; fewer only at the end of the file. */
static int read_all(int fd, char *buf, size_t size, size_t *used)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, buf + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	*used = n;
	return 0;
}

int link_trace_load(struct link_trace **out, const char *path, struct error *err)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_free_ char *text = NULL;
	size_t size = 0;
	int r = fd < 0 ? -errno : 0;

	if (!r) {
		text = memory_zero(SIZE_LIMIT + 1, 1);
		r = read_all(fd, text, SIZE_LIMIT + 1, &size);
	}
	if (r < 0)
		return error_set(
			err, r, STATUS_INPUT, "%s: cannot read this trace: %s", path, strerror(-r));
	if (size > SIZE_LIMIT)
		return error_set(err, -EFBIG, STATUS_INPUT,
			"%s: larger than %zu MiB; cut the recording", path, SIZE_LIMIT >> 20);
	return link_trace_parse(out, path, text, size, err);
}
