/*
 * The measured time of learners that a fault keeps from beginning with the others: counted from
 * when those began, to the nanosecond; and what the notes say of such faults.
 */
#include <math.h>
#include <string.h>

#include "tests/run/played.h"

#define S NS_PER_S
#define MS NS_PER_MS

static const struct rt_report measure = {.kind = REPORT_MEASURE, .a = 2};

/* Two more learners than a played case has: four sites of one speed. */
static struct fixture *four(void)
{
	struct fixture *f = make();

	f->s.job.n_learners = f->s.n_sites = 4;
	f->s.job.warmup = 2;
	for (int i = 2; i < 4; i++) {
		f->s.job.speed[i] = 1;
		f->s.sites[i] = f->s.sites[0];
		snprintf(f->s.sites[i].name, sizeof f->s.sites[i].name, "site-%d", i + 1);
		f->links.links[i][UP] = f->links.links[i][DOWN] = f->wan.direction[UP];
		ledger_start(&f->o.ledgers[i], 0, STATE_IDLE, INFINITY);
	}
	f->in.simulated = true;
	observe_links(&f->o, 0);
	for (int i = 0; i < 4; i++)
		observe_state(&f->o, i, 0, STATE_COMPUTE);
	return f;
}

static void crash(struct fixture *f, const struct fault *fault)
{
	observe_fault(&f->o, fault, true, fault->at_ns);
	observe_state(&f->o, fault->site, fault->at_ns, STATE_DOWN);
}

static void repair(struct fixture *f, const struct fault *fault)
{
	int64_t at_ns = fault->at_ns + fault->for_ns;

	observe_fault(&f->o, fault, false, at_ns);
	observe_state(&f->o, fault->site, at_ns, STATE_RECOVER);
}

static void begin(struct fixture *f, int p, int64_t at_ns)
{
	observe_report(&f->o, p, at_ns, &measure);
	observe_state(&f->o, p, at_ns, STATE_COMPUTE);
}

static void end(struct fixture *f, const struct fault *faults, size_t n)
{
	observation_end(&f->o, f->live.wall_ns);
	f->in.faults = faults;
	f->in.n_faults = n;
	judge(f, false);
}

static bool noted(const struct record_case *c, const char *want)
{
	for (size_t i = 0; i < c->n_notes; i++)
		if (strstr(c->notes[i], want))
			return true;
	return false;
}

static void check_window(const struct fixture *f, int p, int64_t from_ns)
{
	const struct ledger *l = &f->o.ledgers[p];

	assert_int_equal(l->from_ns, from_ns);
	assert_int_equal(ledger_wall_ns(l), f->live.wall_ns - from_ns);
}

/* Down at 1 s for 4 s, back at 7 s, when the others have measured since 3 s: 2 s down, 2 s back. */
static void it_counts_from_when_the_others_began(void **state)
{
	static const struct fault fault = {FAULT_CRASH, 0, S, 4 * S};
	struct fixture *f = four();

	crash(f, &fault);
	begin(f, 1, 3 * S);
	begin(f, 2, 3100 * MS);
	begin(f, 3, 3100 * MS);
	repair(f, &fault);
	begin(f, 0, 7 * S);
	end(f, &fault, 1);
	check_window(f, 0, 3100 * MS);
	assert_int_equal(f->o.ledgers[0].in_ns[STATE_DOWN], 1900 * MS);
	assert_int_equal(f->o.ledgers[0].in_ns[STATE_RECOVER], 2 * S);
	check_window(f, 1, 3 * S);
	assert_near(f->c->availability, 1 - 3.9 / (3 * 8.9 + 9), 1e-9);
	assert_false(noted(f->c, "before the measured time"));
	release(f);
}

/* It never comes back, and never measures: down for all of the others' time. */
static void it_never_comes_back(void **state)
{
	static const struct fault fault = {FAULT_CRASH, 2, S, 36000 * S};
	struct fixture *f = four();

	crash(f, &fault);
	begin(f, 0, 3 * S);
	begin(f, 1, 2 * S);
	begin(f, 3, 4 * S);
	end(f, &fault, 1);
	check_window(f, 2, 4 * S);
	assert_int_equal(f->o.ledgers[2].in_ns[STATE_DOWN], 8 * S);
	assert_false(noted(f->c, "before the measured time"));
	assert_near(f->c->participants[2].steps_useful, 0, 0);
	release(f);
}

/* Repaired in the warm-up, but back at its work only when the others measure. */
static void its_recovery_reaches_into_the_measured_time(void **state)
{
	static const struct fault fault = {FAULT_CRASH, 3, S, S};
	struct fixture *f = four();

	crash(f, &fault);
	repair(f, &fault);
	for (int i = 0; i < 3; i++)
		begin(f, i, 3 * S);
	begin(f, 3, 5 * S);
	end(f, &fault, 1);
	check_window(f, 3, 3 * S);
	assert_int_equal(f->o.ledgers[3].in_ns[STATE_RECOVER], 2 * S);
	assert_false(noted(f->c, "before the measured time"));
	release(f);
}

/* Back in time, it begins with the others and has a window of its own. */
static void it_is_back_in_time(void **state)
{
	static const struct fault fault = {FAULT_CRASH, 1, 500 * MS, 500 * MS};
	struct fixture *f = four();

	crash(f, &fault);
	repair(f, &fault);
	observe_state(&f->o, 1, 1500 * MS, STATE_COMPUTE);
	begin(f, 1, 2900 * MS);
	for (int i = 0; i < 4; i++)
		begin(f, i, 3 * S); /* the second says so again: it was restarted */
	end(f, &fault, 1);
	check_window(f, 1, 2900 * MS);
	assert_near(f->c->availability, 1, 0);
	assert_true(noted(f->c, "the crash of site-2 at 500 ms ended before the measured time"));
	release(f);
}

/* Half as fast, and no fault: its warm-up takes twice the time and is no loss. */
static void a_slow_learner_has_its_own_window(void **state)
{
	struct fixture *f = four();

	for (int i = 0; i < 3; i++)
		begin(f, i, 2 * S);
	begin(f, 3, 4 * S);
	end(f, NULL, 0);
	check_window(f, 0, 2 * S);
	check_window(f, 3, 4 * S);
	release(f);
}

/* Where nobody was spared, from the first that began; steps of the warm-up are no steps. */
static void all_were_struck(void **state)
{
	struct fixture *f = four();
	struct fault faults[4];

	for (int i = 0; i < 4; i++) {
		faults[i] = (struct fault){FAULT_CRASH, i, S, (i + 1) * S};
		crash(f, &faults[i]);
	}
	for (int i = 0; i < 3; i++) {
		repair(f, &faults[i]);
		begin(f, i, (3 + i) * S);
	}
	step(f, 1, 6 * S, 1);
	step(f, 1, 7 * S, 2);
	end(f, faults, 4);
	for (int i = 0; i < 4; i++)
		check_window(f, i, 3 * S);
	assert_int_equal(f->o.ledgers[3].in_ns[STATE_DOWN], 9 * S);
	assert_near(f->o.ledgers[1].steps_completed, 1, 0);
	release(f);
}

/* A blackout keeps one from beginning; another that came later struck who had begun. */
static void blackouts_strike_too(void **state)
{
	static const struct fault faults[] = {
		{FAULT_BLACKOUT, 0, S, 4 * S}, {FAULT_BLACKOUT, 1, 4 * S, S}};
	struct fixture *f = four();

	observe_fault(&f->o, &faults[0], true, S);
	observe_state(&f->o, 0, 2 * S, STATE_EXPOSED_COMM);
	for (int i = 1; i < 4; i++)
		begin(f, i, 3 * S);
	observe_fault(&f->o, &faults[1], true, 4 * S);
	begin(f, 0, 6 * S);
	end(f, faults, 2);
	check_window(f, 0, 3 * S);
	assert_int_equal(f->o.ledgers[0].in_ns[STATE_EXPOSED_COMM], 3 * S);
	check_window(f, 1, 3 * S);
	assert_false(noted(f->c, "before the measured time"));
	release(f);
}

/* Nobody began: all of it is the warm-up, and the run is invalid as before. */
static void nobody_began(void **state)
{
	static const struct fault fault = {FAULT_CRASH, 0, S, S};
	struct fixture *f = four();

	crash(f, &fault);
	repair(f, &fault);
	end(f, &fault, 1);
	check_window(f, 0, 0);
	assert_string_equal(f->c->verdict, "invalid");
	assert_false(noted(f->c, "before the measured time"));
	release(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_counts_from_when_the_others_began),
		cmocka_unit_test(it_never_comes_back),
		cmocka_unit_test(its_recovery_reaches_into_the_measured_time),
		cmocka_unit_test(it_is_back_in_time),
		cmocka_unit_test(a_slow_learner_has_its_own_window),
		cmocka_unit_test(all_were_struck),
		cmocka_unit_test(blackouts_strike_too),
		cmocka_unit_test(nobody_began),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
