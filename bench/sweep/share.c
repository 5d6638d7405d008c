/*
 * See share.h. mpirun's variables come first: where it runs in a Slurm allocation its processes
 * see Slurm's too, and those count mpirun's own daemons.
 */
#include "bench/sweep/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_RANKS 1000000

struct place {
	const char *(*get)(void *user, const char *name);
	void *user;
	struct error *err;
};

/* A number of 0 or more; *set: whether the variable is there. */
static int read_number(const struct place *p, const char *name, int *out, bool *set)
{
	const char *text = p->get(p->user, name);
	char *end;
	long v;

	*set = text != NULL;
	if (!text)
		return 0;
	errno = 0;
	v = strtol(text, &end, 10);
	if (!*text || strspn(text, "0123456789") != strlen(text) || errno || v > SIZE_MAX_RANKS)
		return error_set(p->err, -EINVAL, STATUS_INPUT,
			"%s=%.64s in the environment is no number from 0 to %d; the launcher sets "
			"it, or `unset %s`",
			name, text, SIZE_MAX_RANKS, name);
	*out = (int)v;
	return 0;
}

static int check(
	const struct place *p, const char *rank_name, int rank, const char *size_name, int size)
{
	if (size > 0 && rank < size)
		return 0;
	return error_set(p->err, -EINVAL, STATUS_INPUT,
		"%s=%d in the environment is not below %s=%d; the launcher sets both, or `unset "
		"%s %s`",
		rank_name, rank, size_name, size, rank_name, size_name);
}

/* Both of a pair, or neither: then *found stays as it is. */
static int read_pair(const struct place *p, const char *rank_name, const char *size_name,
	struct share *out, bool *found)
{
	bool has_rank, has_size;
	int rank = 0, size = 1;
	int r = read_number(p, rank_name, &rank, &has_rank);

	if (!r)
		r = read_number(p, size_name, &size, &has_size);
	if (r || (!has_rank && !has_size))
		return r;
	if (!has_rank || !has_size)
		return error_set(p->err, -EINVAL, STATUS_INPUT,
			"%s is set in the environment and %s is not; start this with the cluster's "
			"launcher, or `unset %s`",
			has_rank ? rank_name : size_name, has_rank ? size_name : rank_name,
			has_rank ? rank_name : size_name);
	r = check(p, rank_name, rank, size_name, size);
	if (r)
		return r;
	out->rank = rank;
	out->size = size;
	*found = true;
	return 0;
}

/* The place in a job array, counted from 0; its ids may begin anywhere and have a step. */
static int read_array(const struct place *p, int *index, int *count, bool *found)
{
	int id = 0, least = 0, step = 1;
	bool has_id, has_count, has_least, has_step;
	int r = read_number(p, "SLURM_ARRAY_TASK_ID", &id, &has_id);

	if (!r)
		r = read_number(p, "SLURM_ARRAY_TASK_COUNT", count, &has_count);
	if (!r)
		r = read_number(p, "SLURM_ARRAY_TASK_MIN", &least, &has_least);
	if (!r)
		r = read_number(p, "SLURM_ARRAY_TASK_STEP", &step, &has_step);
	if (r || (!has_id && !has_count))
		return r;
	if (!has_id || !has_count)
		return error_set(p->err, -EINVAL, STATUS_INPUT,
			"%s is set in the environment and %s is not; Slurm sets both in a job "
			"array",
			has_id ? "SLURM_ARRAY_TASK_ID" : "SLURM_ARRAY_TASK_COUNT",
			has_id ? "SLURM_ARRAY_TASK_COUNT" : "SLURM_ARRAY_TASK_ID");
	if (id < least || step < 1 || (id - least) % step)
		return error_set(p->err, -EINVAL, STATUS_INPUT,
			"SLURM_ARRAY_TASK_ID=%d in the environment is not SLURM_ARRAY_TASK_MIN=%d "
			"and a multiple of SLURM_ARRAY_TASK_STEP=%d",
			id, least, step);
	*index = (id - least) / step;
	*found = true;
	if (*index < *count)
		return 0;
	return error_set(p->err, -EINVAL, STATUS_INPUT,
		"SLURM_ARRAY_TASK_ID=%d in the environment is past the %d tasks of "
		"SLURM_ARRAY_TASK_COUNT from %d on; give the array ids without gaps",
		id, *count, least);
}

static int read_slurm(const struct place *p, struct share *out, bool *found)
{
	int index = 0, count = 1;
	bool array = false, step = false;
	int r = read_pair(p, "SLURM_PROCID", "SLURM_NTASKS", out, &step);

	if (!r)
		r = read_array(p, &index, &count, &array);
	if (r || (!step && !array))
		return r;
	out->rank += index * out->size;
	out->size *= count;
	out->launcher = array ? "Slurm array" : "Slurm";
	*found = true;
	return 0;
}

int share_find(struct share *out, const char *(*get)(void *user, const char *name), void *user,
	struct error *err)
{
	const struct place p = {.get = get, .user = user, .err = err};
	bool found = false;
	int r;

	*out = (struct share){.size = 1, .launcher = "Open MPI"};
	r = read_pair(&p, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", out, &found);
	if (r || found)
		return r;
	out->launcher = "PMI";
	r = read_pair(&p, "PMI_RANK", "PMI_SIZE", out, &found);
	if (r || found)
		return r;
	out->launcher = NULL;
	return read_slurm(&p, out, &found);
}

static const char *from_environment(void *user, const char *name)
{
	return getenv(name);
}

int share_here(struct share *out, struct error *err)
{
	return share_find(out, from_environment, NULL, err);
}
