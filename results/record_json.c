/*
 * run.json as a file: written as a whole or not at all, read with every type and count checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "results/file_put.h"
#include "results/record.h"
#include "results/record_schema.h"

#define SCHEMA "narrowlink/run/1"
#define FILE_MAX (INT64_C(512) << 20)

static int encode_text(char **out, const struct record *record, struct error *err)
{
	json_t *body, *file = json_object();
	int r = schema_encode(&body, record_schema, record, err);

	if (!r) {
		json_object_set_new(file, "schema", json_string(SCHEMA));
		json_object_update_new(file, body);
		*out = json_dumps(file, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
		if (!*out)
			r = error_sys(err, -ENOMEM, "run.json");
	}
	json_decref(file);
	return r;
}

int record_write_json(const struct record *record, const char *path, struct error *err)
{
	_free_ char *text = NULL, *whole = NULL, *beside = memory_format("%s.new", path);
	int r = encode_text(&text, record, err);

	if (r)
		return r;
	whole = memory_format("%s\n", text);
	r = file_put(path, beside, whole);
	return r ? error_sys(err, r, "cannot write %s", path) : 0;
}

/* error_set keeps the first error only, so the file's name is put before one already set. */
static int in_file(struct error *err, int code, const struct error *inner, const char *path)
{
	return error_set(err, code, inner->status, "%s: %s", path, inner->text);
}

static int check_schema(const json_t *root, const char *path, struct error *err)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));

	if (!schema)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s: not a run of narrowlink: no \"schema\": \"" SCHEMA "\" in it", path);
	if (strcmp(schema, SCHEMA))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s: schema \"%.100s\"; this version reads \"" SCHEMA "\"", path, schema);
	return 0;
}

static int decode_root(struct record **out, json_t *root, const char *path, struct error *err)
{
	struct error inner = {0};
	struct record *record;
	int r = check_schema(root, path, err);

	if (r)
		return r;
	record = record_new();
	r = schema_decode(record_schema, record, root, &inner);
	if (r) {
		record_free(record);
		return in_file(err, r, &inner, path);
	}
	*out = record;
	return 0;
}

int record_parse_json(
	struct record **out, const char *text, size_t length, const char *path, struct error *err)
{
	json_error_t at;
	json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &at);
	int r;

	if (!root)
		return error_set(err, -EINVAL, STATUS_INPUT, "%s:%d:%d: not JSON: %s", path,
			at.line, at.column, at.text);
	r = decode_root(out, root, path, err);
	json_decref(root);
	return r;
}

static int read_whole(int fd, char **out, size_t *length, const char *path, struct error *err)
{
	struct stat st;
	char *text;
	size_t n = 0;

	if (fstat(fd, &st))
		return error_sys(err, -errno, "cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, STATUS_INPUT, "%s: not a file", path);
	if (st.st_size > FILE_MAX)
		return error_set(err, -EFBIG, STATUS_INPUT, "%s: larger than %lld MiB", path,
			(long long)(FILE_MAX >> 20));
	text = memory_zero((size_t)st.st_size + 1, 1);
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, text + n, (size_t)st.st_size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(text);
			return error_sys(err, -errno, "cannot read %s", path);
		}
		if (!got)
			break;
		n += (size_t)got;
	}
	*out = text;
	*length = n;
	return 0;
}

int record_read_json(struct record **out, const char *path, struct error *err)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang */
	_free_ char *text = NULL;
	size_t length = 0;
	int r;

	if (fd < 0)
		return error_set(
			err, -errno, STATUS_INPUT, "cannot read %s: %s", path, strerror(errno));
	r = read_whole(fd, &text, &length, path, err);
	return r ? r : record_parse_json(out, text, length, path, err);
}
