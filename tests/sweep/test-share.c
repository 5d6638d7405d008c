/* A cluster's variables, from tables of what the launchers set. */
#include <string.h>

#include "bench/sweep/share.h"
#include "tests/test.h"

/* "NAME=VALUE", NULL-terminated */
static const char *look_up(void *user, const char *name)
{
	const char *const *set = user;

	for (; *set; set++)
		if (!strncmp(*set, name, strlen(name)) && (*set)[strlen(name)] == '=')
			return *set + strlen(name) + 1;
	return NULL;
}

static const struct {
	const char *set[8];
	int rank, size;
	const char *launcher;
} good[] = {
	{{NULL}, 0, 1, NULL},
	{{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4"}, 3, 4, "Open MPI"},
	{{"PMI_RANK=0", "PMI_SIZE=2"}, 0, 2, "PMI"},
	{{"SLURM_PROCID=5", "SLURM_NTASKS=6"}, 5, 6, "Slurm"},
	{{"SLURM_PROCID=0", "SLURM_NTASKS=1"}, 0, 1, "Slurm"},
	/* --array=0-9 */
	{{"SLURM_ARRAY_TASK_ID=9", "SLURM_ARRAY_TASK_COUNT=10", "SLURM_ARRAY_TASK_MIN=0"}, 9, 10,
		"Slurm array"},
	/* --array=1-4 */
	{{"SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_COUNT=4", "SLURM_ARRAY_TASK_MIN=1"}, 0, 4,
		"Slurm array"},
	/* --array=3-12:3 */
	{{"SLURM_ARRAY_TASK_ID=9", "SLURM_ARRAY_TASK_COUNT=4", "SLURM_ARRAY_TASK_MIN=3",
		 "SLURM_ARRAY_TASK_STEP=3"},
		2, 4, "Slurm array"},
	/* --array=1-3 with srun of 2 in each */
	{{"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN=1",
		 "SLURM_PROCID=1", "SLURM_NTASKS=2"},
		3, 6, "Slurm array"},
	/* mpirun within an allocation: its own variables count */
	{{"OMPI_COMM_WORLD_RANK=7", "OMPI_COMM_WORLD_SIZE=8", "SLURM_PROCID=0", "SLURM_NTASKS=2"},
		7, 8, "Open MPI"},
	{{"PMI_RANK=1", "PMI_SIZE=4", "SLURM_PROCID=0", "SLURM_NTASKS=1"}, 1, 4, "PMI"},
};

static void test_good(void **state)
{
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct error err = {0};
		struct share s;

		if (share_find(&s, look_up, (void *)good[i].set, &err))
			fail_msg("%s", err.text);
		assert_int_equal(s.rank, good[i].rank);
		assert_int_equal(s.size, good[i].size);
		if (good[i].launcher)
			assert_string_equal(s.launcher, good[i].launcher);
		else
			assert_null(s.launcher);
	}
}

static const struct {
	const char *set[6];
	const char *named;
} bad[] = {
	{{"OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=4"}, "OMPI_COMM_WORLD_RANK=4"},
	{{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=0"}, "OMPI_COMM_WORLD_SIZE=0"},
	{{"OMPI_COMM_WORLD_RANK=1"}, "OMPI_COMM_WORLD_SIZE is not"},
	{{"OMPI_COMM_WORLD_SIZE=1"}, "OMPI_COMM_WORLD_RANK is not"},
	{{"PMI_RANK=-1", "PMI_SIZE=4"}, "PMI_RANK=-1"},
	{{"PMI_RANK=1x", "PMI_SIZE=4"}, "PMI_RANK=1x"},
	{{"PMI_RANK=", "PMI_SIZE=4"}, "PMI_RANK="},
	{{"PMI_RANK=1"}, "PMI_SIZE is not"},
	{{"SLURM_PROCID=1", "SLURM_NTASKS=99999999999999999999"}, "SLURM_NTASKS=9999"},
	{{"SLURM_PROCID=2", "SLURM_NTASKS=2"}, "SLURM_PROCID=2"},
	{{"SLURM_NTASKS=2"}, "SLURM_PROCID is not"},
	{{"SLURM_ARRAY_TASK_ID=7", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN=1"},
		"without gaps"},
	{{"SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN=1"},
		"SLURM_ARRAY_TASK_ID=0"},
	{{"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN=1",
		 "SLURM_ARRAY_TASK_STEP=2"},
		"SLURM_ARRAY_TASK_STEP=2"},
	{{"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_STEP=0"},
		"SLURM_ARRAY_TASK_STEP=0"},
	{{"SLURM_ARRAY_TASK_ID=2"}, "SLURM_ARRAY_TASK_COUNT is not"},
	{{"SLURM_ARRAY_TASK_COUNT=2"}, "SLURM_ARRAY_TASK_ID is not"},
	{{"SLURM_ARRAY_TASK_ID=a", "SLURM_ARRAY_TASK_COUNT=3"}, "SLURM_ARRAY_TASK_ID=a"},
};

static void test_bad(void **state)
{
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct error err = {0};
		struct share s;

		if (!share_find(&s, look_up, (void *)bad[i].set, &err))
			fail_msg("%s was taken", bad[i].set[0]);
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, bad[i].named))
			fail_msg("%s: %s", bad[i].set[0], err.text);
	}
}

/* Every item is some process' part, and only one's. */
static void test_parts(void **state)
{
	for (int size = 1; size < 9; size++)
		for (size_t i = 0; i < 50; i++) {
			int owners = 0;

			for (int rank = 0; rank < size; rank++)
				owners += share_has(&(struct share){rank, size, NULL}, i);
			assert_int_equal(owners, 1);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
