/*
 * The program's strategies on the event-driven model against the published simulators' closed
 * form, and what TCP must need at least.
 */
#include <math.h>
#include <string.h>

#include "bench/published/ideal.h"
#include "bench/published/simulate.h"
#include "tests/test.h"

/* The rules are the same wherever an exchange is cut evenly: 0.1 % is the search's tolerance. */
static void strategies_need_what_the_closed_form_says(void **state)
{
	const struct published_table *t = published_find("web-simulator");

	for (size_t r = 0; r < t->n_rows; r++)
		for (size_t c = 0; c < t->n_columns; c += 2) {
			const struct published_job *job = &t->rows[r].job;
			double want = ideal_rate_bps(job, t->columns[c]), got = 0;
			struct error err = {0};

			assert_int_equal(
				simulate_rate(&got, job, t->columns[c], want, SIMULATE_IDEAL, &err),
				0);
			assert_near(got / want, 1, .002);
			assert_near(got / t->rows[r].value[c], 1, .01);
		}
}

/* A bucket per layer, every step and every H: at any rate, not only where a target is met. */
static void utilisation_is_the_closed_form_s(void **state)
{
	const struct published_table *t = published_find("streaming-diloco");

	for (size_t r = 0; r < t->n_rows; r++) {
		const struct published_job *job = &t->rows[r].job;

		if (job->layout != PUBLISHED_EVEN)
			continue;
		for (double share = .4; share < 1; share += .25) {
			double rate = ideal_rate_bps(job, share), got = 0;
			struct error err = {0};

			assert_int_equal(
				simulate_utilisation(&got, job, rate, SIMULATE_IDEAL, &err), 0);
			assert_near(got, share, 1e-3);
		}
	}
}

/*
 * TCP has headers, round trips and queues: never less than an ideal link. At 600 ms a step of 1 s
 * cannot wait for 2 stages and be busy 95 % of the time, at any rate.
 */
static void tcp_needs_more(void **state)
{
	const struct published_job *dp = &published_find("web-simulator")->rows[0].job;
	const struct published_job *diloco = &published_find("web-simulator")->rows[1].job;
	double ideal = ideal_rate_bps(diloco, .75), got = 0;
	struct error err = {0};

	assert_int_equal(simulate_rate(&got, diloco, .75, ideal, .03, &err), 0);
	assert_true(got >= ideal * 1514 / 1448);
	assert_int_equal(simulate_rate(&got, dp, .95, ideal_rate_bps(dp, .95), .6, &err), 0);
	assert_true(isnan(got));
}

static void measurements_have_their_scenarios(void **state)
{
	const struct published_table *t;

	for (size_t i = 0; (t = published_at(i)); i++) {
		if (t->kind != PUBLISHED_MEASUREMENT)
			continue;
		for (size_t r = 0; r < t->n_rows; r++)
			for (size_t c = 0; c < t->n_columns; c++) {
				double got = NAN;
				struct error err = {0};

				assert_int_equal(simulate_measured(&got, t, t->rows[r].scenario,
							 t->rows[r].first_case + (int)c, &err),
					0);
				assert_true(got > 0);
			}
	}
}

/* A case that is not there, and a job the language refuses. */
static void errors_are_told(void **state)
{
	const struct published_table *t = published_find("ft-diloco");
	struct published_job job = published_find("web-simulator")->rows[0].job;
	struct error err = {0}, other = {0};
	double got;

	assert_true(simulate_measured(&got, t, "ft-diloco", 2, &err) < 0);
	assert_non_null(strstr(err.text, "has no case 2"));
	job.step_s = 0;
	assert_true(simulate_utilisation(&got, &job, 1e9, 0, &other) < 0);
	assert_non_null(strstr(other.text, "a step is from"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategies_need_what_the_closed_form_says),
		cmocka_unit_test(utilisation_is_the_closed_form_s),
		cmocka_unit_test(tcp_needs_more),
		cmocka_unit_test(measurements_have_their_scenarios),
		cmocka_unit_test(errors_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
