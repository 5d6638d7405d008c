/* See run_folder.h. */
#include "bench/cli/run_folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

int run_folder_read(struct record **out, const char *folder, struct error *err)
{
	_free_ char *path = memory_format("%s/run.json", folder);
	int r = access(path, F_OK) ? -errno : 0;

	if (r < 0)
		return error_set(err, r, STATUS_INPUT,
			"%s: %s; name a run's folder, as `narrowlink run` printed it (by default "
			"below results/runs/)",
			path, strerror(-r));
	return record_read_json(out, path, err);
}
