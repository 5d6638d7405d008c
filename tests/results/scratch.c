/* See scratch.h. */
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

char *scratch_new(void)
{
	char *dir = memory_string("/tmp/narrowlink-test-XXXXXX");

	if (!mkdtemp(dir))
		abort();
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void scratch_free(char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}

char *scratch_read(const char *dir, const char *file)
{
	_free_ char *path = memory_format("%s/%s", dir, file);
	_fclose_ FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		return memory_string("");
	}
	return text;
}

bool scratch_has(const char *dir, const char *file)
{
	_free_ char *path = memory_format("%s/%s", dir, file);

	return !access(path, F_OK);
}

void scratch_write(const char *dir, const char *file, const char *text)
{
	_free_ char *path = memory_format("%s/%s", dir, file);
	_fclose_ FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0)
		abort();
}
