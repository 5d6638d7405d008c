/*
 * The run folder: a name nobody else has, and the tables that grow in it; see folder.h.
 *
 * mkdir decides who owns a name, so two runs that start in the same second get two folders.
 */
#include "results/folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "results/lines.h"
#include "results/text.h"

#define RUNS "results/runs"
#define TEXT_MAX 256 /* bytes of a name in a row; a site's name has at most 63 */

enum table { SAMPLES, TCP, EVENTS, TABLES };

static const struct {
	const char *file, *header;
} tables[TABLES] = {
	[SAMPLES] = {"samples.csv", "case,t_s,site,direction,wire_bps,limit_bps,delivered_bps,"
				    "drop_segments,delay_s,down\n"},
	[TCP] = {"tcp.csv", "case,t_s,participant,peer,rtt_s,min_rtt_s,cwnd_segments,retransmits,"
			    "delivery_bps,busy_s,window_limited_s,buffer_limited_s\n"},
	[EVENTS] = {"events.csv", "case,t_s,participant,event,a,b,c,amount\n"},
};

struct folder {
	char *path;
	int fd;
	struct lines *tables[TABLES];
};

/* Making the folder. */

/* As mkdir -p: 0 if the directory is there afterwards. */
static int make_parents(const char *path)
{
	_free_ char *copy = memory_string(path);

	for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

/* What is fit for a file name, of what a scenario is called. */
static void slug(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++) {
		bool plain = isascii(*name) && (isalnum(*name) || (n && strchr("._", *name)));

		if (plain)
			out[n++] = *name;
		else if (n && out[n - 1] != '-')
			out[n++] = '-';
	}
	while (n && strchr("-.", out[n - 1]))
		n--;
	out[n] = '\0';
	if (!n)
		snprintf(out, size, "run");
}

static char *candidate(const char *name)
{
	char clean[49], stamp[32];
	time_t now = time(NULL);
	unsigned id = 0;
	struct tm utc;

	slug(clean, sizeof clean, name ? name : "");
	strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
	if (getrandom(&id, sizeof id, 0) != sizeof id)
		id = (unsigned)getpid();
	return memory_format(RUNS "/%s-%s-%04x", stamp, clean, id & 0xffff);
}

static int make_new(char **out, const char *name, struct error *err)
{
	int r = make_parents(RUNS "/");

	for (int attempt = 0; attempt < 100 && !r; attempt++) {
		_free_ char *path = candidate(name);

		if (!mkdir(path, 0777)) {
			*out = memory_string(path);
			return 0;
		}
		if (errno != EEXIST)
			r = -errno;
	}
	return error_sys(err, r ? r : -EEXIST, "cannot create a run folder in " RUNS);
}

static int check_empty(const char *dir, struct error *err)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	bool empty = true;

	if (!d && errno == ENOTDIR)
		return error_set(err, -ENOTDIR, STATUS_INPUT,
			"%s is a file; name a folder that does not exist yet", dir);
	if (!d)
		return error_sys(err, -errno, "cannot use %s as run folder", dir);
	while ((entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			empty = false;
	closedir(d);
	if (!empty)
		return error_set(err, -ENOTEMPTY, STATUS_INPUT,
			"%s is not empty, and a run is never written over; name a folder that does "
			"not "
			"exist yet",
			dir);
	return 0;
}

/* What is wrong with the name itself is the user's input; the rest is the machine's. */
static int make_error(int code, const char *dir, struct error *err)
{
	if (code == -ENOTDIR)
		return error_set(err, code, STATUS_INPUT,
			"cannot create %s: one of the names before its last is a file", dir);
	if (code == -ENAMETOOLONG)
		return error_set(err, code, STATUS_INPUT,
			"cannot create %s: %s; a name has at most %d bytes, a path %d", dir,
			strerror(-code), NAME_MAX, PATH_MAX - 1);
	return error_sys(err, code, "cannot create the folder %s", dir);
}

int folder_make(const char *dir, struct error *err)
{
	int r;

	if (!*dir)
		return error_set(err, -EINVAL, STATUS_INPUT, "the folder's name is empty");
	r = make_parents(dir);
	if (!r && mkdir(dir, 0777) && errno != EEXIST)
		r = -errno;
	return r ? make_error(r, dir, err) : 0;
}

char *folder_name(const char *dir)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	return memory_format("%.*s", (int)n, dir);
}

static int make_named(char **out, const char *dir, struct error *err)
{
	int r = folder_make(dir, err);

	if (!r)
		r = check_empty(dir, err);
	if (!r)
		*out = folder_name(dir);
	return r;
}

static int open_tables(struct folder *f, struct error *err)
{
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->fd < 0)
		return error_sys(err, -errno, "cannot open %s", f->path);
	for (int i = 0; i < TABLES; i++) {
		int r = lines_create(&f->tables[i], f->fd, tables[i].file, err);

		if (r)
			return r;
		lines_add(f->tables[i], tables[i].header, strlen(tables[i].header));
		r = lines_flush(f->tables[i]);
		if (r)
			return error_sys(err, r, "cannot write %s/%s", f->path, tables[i].file);
	}
	return 0;
}

int folder_create(struct folder **out, const char *dir, const char *name, struct error *err)
{
	struct folder *f = memory_zero(1, sizeof *f);
	int r;

	f->fd = -1;
	signal(SIGXFSZ, SIG_IGN);
	r = dir ? make_named(&f->path, dir, err) : make_new(&f->path, name, err);
	if (!r)
		r = open_tables(f, err);
	if (r) {
		folder_free(f);
		return r;
	}
	*out = f;
	return 0;
}

const char *folder_path(const struct folder *f)
{
	return f->path;
}

int folder_put(struct folder *f, const char *file, const char *text, struct error *err)
{
	int fd = openat(f->fd, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	bool bad = !to || fputs(text, to) < 0;
	int code = bad ? -errno : 0;

	if (to && fclose(to) && !bad)
		code = -errno;
	if (code)
		return error_sys(err, code, "cannot write %s/%s", f->path, file);
	return 0;
}

/* Rows. */

struct row {
	size_t used;
	char text[4 * TEXT_MAX + 1024];
};

static void __attribute__((format(printf, 2, 3))) row_add(struct row *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	r->used += (size_t)vsnprintf(r->text + r->used, sizeof r->text - r->used, format, ap);
	va_end(ap);
}

static void row_begin(struct row *r, int case_index, double t_s)
{
	r->used = 0;
	row_add(r, "%d,%.6f", case_index, t_s);
}

/* RFC 4180: a field with a comma or a quote stands in quotes, its quotes doubled. */
static void row_text(struct row *r, const char *s)
{
	_free_ char *cut = strndup(s ? s : "", TEXT_MAX), *line = text_line(cut ? cut : "");

	r->text[r->used++] = ',';
	if (!strpbrk(line, ",\"")) {
		row_add(r, "%.*s", TEXT_MAX, line);
		return;
	}
	r->text[r->used++] = '"';
	for (const char *p = line; *p && p - line < TEXT_MAX; p++) {
		if (*p == '"')
			r->text[r->used++] = '"';
		r->text[r->used++] = *p;
	}
	r->text[r->used++] = '"';
}

static void row_number(struct row *r, double d)
{
	if (isfinite(d))
		row_add(r, ",%.9g", d);
	else
		row_add(r, ",");
}

static void row_end(struct row *r, struct lines *to)
{
	r->text[r->used++] = '\n';
	lines_add(to, r->text, r->used);
}

void folder_sample(struct folder *f, const struct folder_sample *s)
{
	struct row r;

	row_begin(&r, s->case_index, s->t_s);
	row_text(&r, s->site);
	row_text(&r, s->direction);
	row_number(&r, s->wire_bps);
	row_number(&r, s->limit_bps);
	row_number(&r, s->delivered_bps);
	row_number(&r, s->drop_segments);
	row_number(&r, s->delay_s);
	row_add(&r, ",%d", s->down ? 1 : 0);
	row_end(&r, f->tables[SAMPLES]);
}

void folder_tcp(struct folder *f, const struct folder_tcp *s)
{
	struct row r;

	row_begin(&r, s->case_index, s->t_s);
	row_text(&r, s->participant);
	row_text(&r, s->peer);
	row_number(&r, s->rtt_s);
	row_number(&r, s->min_rtt_s);
	row_number(&r, s->cwnd_segments);
	row_number(&r, s->retransmits);
	row_number(&r, s->delivery_bps);
	row_number(&r, s->busy_s);
	row_number(&r, s->window_limited_s);
	row_number(&r, s->buffer_limited_s);
	row_end(&r, f->tables[TCP]);
}

void folder_event(struct folder *f, const struct folder_event *e)
{
	struct row r;

	row_begin(&r, e->case_index, e->t_s);
	row_text(&r, e->participant);
	row_text(&r, e->event);
	row_number(&r, e->a);
	row_number(&r, e->b);
	row_number(&r, e->c);
	row_number(&r, e->amount);
	row_end(&r, f->tables[EVENTS]);
}

int folder_flush(struct folder *f, const struct record *record, struct error *err)
{
	_free_ char *json = memory_format("%s/run.json", f->path);
	int first = 0;

	for (int i = 0; i < TABLES; i++) {
		int r = lines_flush(f->tables[i]);

		if (r && !first)
			first = error_sys(err, r,
				"cannot write %s/%s; its rows up to here are whole, "
				"later ones are lost",
				f->path, tables[i].file);
	}
	if (record) {
		int r = record_write_json(record, json, err);

		first = first ? first : r;
	}
	return first;
}

struct folder *folder_free(struct folder *f)
{
	if (!f)
		return NULL;
	for (int i = 0; i < TABLES; i++)
		lines_free(f->tables[i]);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f);
	return NULL;
}
