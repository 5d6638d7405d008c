/* From a file to its cases: read, parse, override, and for each case build and resolve. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "bench/scenario/cases.h"
#include "bench/scenario/sections.h"

#define FILE_MAX (1 << 20)

static struct scenario *scenario_free(struct scenario *s)
{
	if (!s)
		return NULL;
	links_free(s->links, s->n_links);
	for (size_t i = 0; i < s->n_traces; i++)
		link_trace_free(s->traces[i]);
	for (size_t i = 0; i < s->n_set; i++) {
		free(s->set[i].key);
		free(s->set[i].value);
	}
	free(s->traces);
	free(s->faults);
	free(s->expect);
	free(s->set);
	free(s->case_name);
	free(s->title);
	free(s->path);
	free(s);
	return NULL;
}

struct scenario_file *scenario_file_free(struct scenario_file *file)
{
	if (!file)
		return NULL;
	for (size_t i = 0; i < file->n_cases; i++)
		scenario_free(file->cases[i]);
	free(file->cases);
	free(file->path);
	free(file->text);
	free(file);
	return NULL;
}

static void record_set(struct scenario *s, const struct axis *axes, size_t n)
{
	s->set = memory_zero(n, sizeof *s->set);
	for (s->n_set = 0; s->n_set < n; s->n_set++) {
		const struct axis *a = &axes[s->n_set];

		s->set[s->n_set].key = memory_string(a->key->text);
		s->set[s->n_set].value = memory_string(a->values->items[a->now]->text);
	}
	s->case_name = cases_name(axes, n);
}

/* The tree as it is now, as a scenario. */
static int build(struct scenario_file *file, struct tree *t, const struct axis *axes, size_t n,
	struct error *err)
{
	struct scenario *s = memory_zero(1, sizeof *s);
	struct loader l = {.s = s, .tree = t, .root = t->root, .err = err};
	_free_ char *context = NULL;
	int r;

	s->path = memory_string(file->path);
	record_set(s, axes, n);
	if (n)
		context = memory_format("case \"%.200s\"", s->case_name);
	l.context = context;
	r = fleet_or_sites(&l);
	if (!r)
		r = keys_section(&l, root_keys, t->root, "the scenario", s);
	if (!r)
		r = scenario_resolve(&l);
	if (r) {
		scenario_free(s);
		return r;
	}
	file->cases[file->n_cases++] = s;
	return 0;
}

static int build_all(struct scenario_file *file, struct tree *t, struct error *err)
{
	_free_ struct axis *axes = NULL;
	size_t n, n_cases;
	int r = cases_axes(t, &axes, &n, &n_cases, err);

	if (r)
		return r;
	file->cases = memory_zero(n_cases, sizeof(struct scenario *));
	for (size_t i = 0; !r && i < n_cases; i++) {
		cases_select(axes, n, i);
		r = build(file, t, axes, n, err);
	}
	return r;
}

int scenario_load_text(struct scenario_file **out, const char *path, const char *text,
	size_t length, const char *const *overrides, size_t n_overrides, struct error *err)
{
	struct scenario_file *file;
	struct tree tree = {0};
	int r;

	if (length > FILE_MAX)
		return error_set(err, -EFBIG, STATUS_INPUT,
			"%.256s: larger than 1 MiB; this is no scenario", path);
	file = memory_zero(1, sizeof *file);
	file->path = memory_string(path);
	file->text = memory_zero(length + 1, 1);
	memcpy(file->text, text, length);
	r = tree_parse(&tree, &tree.root, path, text, length, true, err);
	if (!r && tree.root->kind != NODE_MAP)
		r = node_error(tree.root, NULL, err,
			"a scenario is a section of keys; begin with \"narrowlink: 1\"");
	for (size_t i = 0; !r && i < n_overrides; i++)
		r = cases_override(&tree, overrides[i], err);
	if (!r)
		r = build_all(file, &tree, err);
	tree_release(&tree);
	if (r) {
		scenario_file_free(file);
		return r;
	}
	*out = file;
	return 0;
}

static int read_file(const char *path, char **text, size_t *length, struct error *err)
{
	struct stat st;
	_fclose_ FILE *f = NULL;

	/* A pipe that is open already has a descriptor's name and both its ends. */
	if (!stat(path, &st) && S_ISFIFO(st.st_mode) && strncmp(path, "/dev/", 5) &&
		strncmp(path, "/proc/", 6))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%.256s: a FIFO, into which perhaps nobody writes; name a file, or "
			"/dev/stdin",
			path);
	f = fopen(path, "re");
	if (!f || fstat(fileno(f), &st))
		return error_set(err, -errno, STATUS_INPUT, "%.256s: %s; name a scenario file",
			path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(err, -EISDIR, STATUS_INPUT,
			"%.256s: is a directory; name a scenario file in it", path);
	*text = memory_zero(FILE_MAX + 2, 1);
	*length = fread(*text, 1, FILE_MAX + 1, f);
	if (ferror(f))
		return error_set(err, -EIO, STATUS_INPUT, "%.256s: cannot be read: %s", path,
			strerror(errno));
	return 0;
}

int scenario_load(struct scenario_file **out, const char *path, const char *const *overrides,
	size_t n_overrides, struct error *err)
{
	_free_ char *text = NULL;
	size_t length = 0;
	int r = read_file(path, &text, &length, err);

	return r ? r : scenario_load_text(out, path, text, length, overrides, n_overrides, err);
}

static unsigned uses_of(const struct scenario *s)
{
	return scenario_is_fleet(s) ? fleet_uses(s) : USE_SITES | traits_of(s->strategy)->uses;
}

int scenario_print(const struct scenario *s, FILE *out)
{
	struct printer p = {.out = out, .s = s, .uses = uses_of(s)};

	keys_print(&p, root_keys, s);
	return ferror(out) ? -EIO : 0;
}
