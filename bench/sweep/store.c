/* See store.h. */
#include "bench/sweep/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "bench/version.h"
#include "results/folder.h"

/* The resolved text names a trace's file; what is in it counts too. */
static void hash_traces(XXH3_state_t *state, const struct scenario *s)
{
	for (size_t i = 0; i < s->n_traces; i++)
		for (int d = 0; d < DIRECTIONS; d++) {
			const struct link_trace_side *side = &s->traces[i]->side[d];

			XXH3_128bits_update(
				state, side->delays, side->n_delays * sizeof *side->delays);
			XXH3_128bits_update(
				state, side->losses, side->n_losses * sizeof *side->losses);
		}
}

static void hash_text(XXH3_state_t *state, const char *text)
{
	XXH3_128bits_update(state, text, strlen(text) + 1);
}

void store_id(char id[STORE_ID], const struct scenario *s, const char *what)
{
	XXH3_state_t *state = XXH3_createState();
	_free_ char *text = NULL;
	XXH128_hash_t hash;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!state || !f)
		abort();
	scenario_print(s, f);
	fclose(f);
	XXH3_128bits_reset(state);
	hash_text(state, NARROWLINK_VERSION);
	hash_text(state, NARROWLINK_GIT);
	hash_text(state, what);
	hash_text(state, text);
	hash_traces(state, s);
	hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	snprintf(id, STORE_ID, "%016llx%016llx", (unsigned long long)hash.high64,
		(unsigned long long)hash.low64);
}

int store_open(const char *dir, struct error *err)
{
	_free_ char *cases = memory_format("%s/cases", dir);

	return folder_make(*dir ? cases : dir, err);
}

static char *path_of(const char *dir, const char *id)
{
	return memory_format("%s/cases/%s.json", dir, id);
}

int store_get(struct sweep_case **out, const char *dir, const char *id, struct error *err)
{
	_free_ char *path = path_of(dir, id);
	struct sweep_case *c;
	int r = sweep_case_read(&c, path, err);

	if (r)
		return r;
	if (strcmp(c->id, id)) {
		sweep_case_free(c);
		return error_set(err, -EINVAL, STATUS_INPUT,
			"%s holds another case; remove it, and the case is computed again", path);
	}
	*out = c;
	return 0;
}

int store_put(const char *dir, const struct sweep_case *c, struct error *err)
{
	_free_ char *path = path_of(dir, c->id);

	return sweep_case_write(c, path, err);
}
