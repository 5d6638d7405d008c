/* Which links are measured against which; see calibration.h. */
#include "bench/calibration.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

/* A burst must not wait there on its way to the link that is measured. */
#define PEER_BPS INT64_C(100000000000)

static void make_peer(struct link_direction *peer, const struct link_direction *link)
{
	*peer = (struct link_direction){
		.base = {.rate_bps = PEER_BPS, .queue_bytes = INT32_MAX},
		.overhead_bytes = link->overhead_bytes,
	};
}

static void plan_link(struct link_plan *plan, const struct link_profile *link, double dilation)
{
	plan->seed = 1;
	plan->dilation = dilation;
	for (enum direction d = UP; d < DIRECTIONS; d++)
		link_direction_dilate(&plan->links[0][d], &link->direction[d], dilation);
	make_peer(&plan->links[1][DOWN], &plan->links[0][UP]);
	make_peer(&plan->links[1][UP], &plan->links[0][DOWN]);
}

int calibration_of_link(struct calibration *out, const struct link_profile *link, double dilation,
	const struct backend *backend, const struct calibrate_effort *effort, const int *stop_fd,
	struct error *err)
{
	_free_ struct link_plan *plan = memory_zero(1, sizeof *plan);
	const struct calibrate_setup setup = {.backend = backend,
		.plan = plan,
		.effort = effort,
		.stop_fd = stop_fd,
		.n_sites = 2,
		.names = {"link", "peer"},
		.n_ways = 1,
		.ways = {{.from = 0, .to = 1, .flows = true}}};
	int r;

	plan_link(plan, link, dilation);
	r = calibrate(out, &setup, err);
	for (enum direction d = UP; d < DIRECTIONS; d++)
		link_direction_release(&plan->links[0][d]);
	return r;
}

/* Has a way of the same two links been chosen already? */
static bool measured(
	const struct calibrate_setup *setup, const struct scenario *s, int from, int to)
{
	for (int i = 0; i < setup->n_ways; i++)
		if (setup->ways[i].flows &&
			s->sites[setup->ways[i].from].link == s->sites[from].link &&
			s->sites[setup->ways[i].to].link == s->sites[to].link)
			return true;
	return false;
}

/* A ring: both directions of every site's link are in one way and back. */
static void choose_ways(struct calibrate_setup *setup, const struct scenario *s)
{
	int n = s->n_sites == 2 ? 1 : s->n_sites;

	for (int i = 0; i < n; i++) {
		int to = (i + 1) % s->n_sites;

		setup->ways[setup->n_ways] = (struct calibrate_way){
			.from = i, .to = to, .flows = !measured(setup, s, i, to)};
		setup->n_ways++;
	}
}

int calibration_of_scenario(struct calibration *out, const struct scenario *s,
	const struct link_plan *plan, const struct backend *backend, const int *stop_fd,
	struct error *err)
{
	struct calibrate_setup setup = {.backend = backend,
		.plan = plan,
		.effort = s->calibration == CALIBRATION_FULL ? &calibrate_usual : &calibrate_brief,
		.stop_fd = stop_fd,
		.n_sites = s->n_sites};

	for (int i = 0; i < s->n_sites; i++)
		setup.names[i] = s->sites[i].name;
	choose_ways(&setup, s);
	return calibrate(out, &setup, err);
}

static void write_number(FILE *f, double value, char end)
{
	if (isnan(value))
		fputc(end, f);
	else
		fprintf(f, "%.9f%c", value, end);
}

void calibration_write(const struct calibration *calibration, const char *path)
{
	_fclose_ FILE *f = calibration->n_samples ? fopen(path, "we") : NULL;

	if (!f)
		return;
	fputs("t_s,there_s,back_s\n", f);
	for (size_t i = 0; i < calibration->n_samples; i++) {
		const struct calibrate_sample *s = &calibration->samples[i];

		write_number(f, s->at_s, ',');
		write_number(f, s->there_s, ',');
		write_number(f, s->back_s, '\n');
	}
}

void calibration_record(
	struct record_case *c, const struct calibration *calibration, const struct scenario *s)
{
	for (size_t i = 0; i < calibration->n_checks; i++) {
		const struct check *from = &calibration->checks[i];
		struct record_check *to = record_add_check(c, s->sites[from->from].name,
			s->sites[from->to].name, check_name(from->kind));

		record_check_result(to, check_result_name(from->result), from->why);
		to->want = from->want;
		to->got = from->got;
		to->low = from->low;
		to->high = from->high;
		to->min = from->min;
		to->p99 = from->p99;
		to->n = from->n;
	}
}
