/* The scenarios that come with the program load, and the reference names every key. */
#include "tests/scenario/helper.h"

#include <ftw.h>

#include "bench/model/renewal_plan.h"
#include "bench/plan.h"
#include "bench/scenario/sections.h"

static int n_files;

static int check_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t length = strlen(path);
	struct scenario_file *file = NULL;
	struct error err = {0};

	if (type != FTW_F || length < 5 || strcmp(path + length - 5, ".yaml"))
		return 0;
	if (scenario_load(&file, path, NULL, 0, &err))
		fail_msg("%s", err.text);
	if (file->text[0] != '#')
		fail_msg("%s does not open with a comment that says what it asks", path);
	for (size_t i = 0; i < file->n_cases; i++) {
		struct fleet_plan fleet;
		struct plan plan;

		if (scenario_is_fleet(file->cases[i])) {
			fleet_plan_make(&fleet, &file->cases[i]->fleet);
			assert_true(fleet.goodput > 0);
			continue;
		}
		plan_make(&plan, file->cases[i]);
		assert_true(plan.predicted_utilisation > 0);
	}
	n_files++;
	scenario_file_free(file);
	return 0;
}

static void shipped_scenarios_load(void **state)
{
	enter_source(".");
	assert_int_equal(nftw("scenarios", check_file, 8, FTW_PHYS), 0);
	assert_true(n_files >= 11);
}

/* Each row that the tables give stands in the reference as it is. */
static void the_reference_is_whole(void **state)
{
	_free_ char *doc = NULL, *rows = NULL;
	size_t size;
	FILE *f = open_memstream(&rows, &size);
	char *save = NULL;
	int n = 0;

	keys_describe(f, "", root_keys);
	sites_describe(f);
	links_describe(f);
	workload_describe(f);
	faults_describe(f);
	capture_describe(f);
	expect_describe(f);
	fclose(f);
	enter_source("docs");
	doc = read_text("scenario.md");
	for (char *row = strtok_r(rows, "\n", &save); row; row = strtok_r(NULL, "\n", &save), n++)
		if (!strstr(doc, row))
			fail_msg("docs/scenario.md lacks the row\n%s", row);
	assert_true(n > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped_scenarios_load),
		cmocka_unit_test(the_reference_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
