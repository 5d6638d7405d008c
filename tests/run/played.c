/* See played.h. */
#include "tests/run/played.h"

#include <math.h>
#include <string.h>

static void fake_stats(const void *links, int site, enum direction d, struct link_stats *out)
{
	const struct fixture *f = links;

	memset(out, 0, sizeof *out);
	out->sent_bytes = f->carried;
	out->delivered_bytes = f->delivered;
	out->at_ns = f->stats_at_ns;
	out->drop_segments[DROP_MEMORY] = f->memory_drops;
	out->drop_segments[DROP_RANDOM] = 3;
	if (d == DOWN)
		histogram_add(&out->lateness, f->late_ns);
}

static const struct link_state wan = {
	.rate_bps = 100000000, .queue_bytes = 100000, .delay_ns = 10 * NS_PER_MS};

struct fixture *make(void)
{
	static struct fixture f;
	struct job *job = &f.s.job;

	memset(&f, 0, sizeof f);
	*job = (struct job){.n_learners = 2,
		.parameters = 1000,
		.bits = 16,
		.step_ns = NS_PER_S,
		.speed = {1, 1},
		.steps = 10,
		.period = 1,
		.fragments = 1,
		.buckets = 1};
	f.s.dilation = 1;
	f.s.n_sites = 2;
	f.s.n_links = 1;
	f.wan.direction[UP].base = f.wan.direction[DOWN].base = wan;
	f.s.links = &f.wan;
	f.s.strategy = strategy_find("data-parallel");
	f.expect[0] = (struct expectation){METRIC_USEFUL_WORK, EXPECT_GE, .75};
	f.expect[1] = (struct expectation){METRIC_WIRE_RATE, EXPECT_LE, 100e6};
	f.s.expect = f.expect;
	f.s.n_expect = 2;
	f.s.limit_ns = 100 * NS_PER_S;
	for (int i = 0; i < 2; i++) {
		snprintf(f.s.sites[i].name, sizeof f.s.sites[i].name, "site-%d", i + 1);
		f.s.sites[i].accelerators = 8;
		f.links.links[i][UP] = f.links.links[i][DOWN] = f.wan.direction[UP];
		for (int j = 0; j < 2; j++)
			f.live.idle_rtt_ns[i][j] = 40 * NS_PER_MS + 100 * NS_PER_US;
	}
	plan_make(&f.plan, &f.s);
	f.live.n_participants = 2;
	f.live.wall_ns = 12 * NS_PER_S;
	f.o = (struct observation){
		.scenario = &f.s, .stats = fake_stats, .links = &f, .link_plan = &f.links};
	f.in = (struct verdict_input){.plan = &f.plan,
		.outcome = &f.live,
		.tcp = &f.tcp,
		.relay_cpu = NAN,
		.why_partial = "interrupted"};
	f.record = record_new();
	f.c = record_add_case(f.record, "case");
	f.late_ns = 50 * NS_PER_US;
	observation_begin(&f.o);
	return &f;
}

void step(struct fixture *f, int p, int64_t at_ns, int64_t n)
{
	observe_report(&f->o, p, at_ns, &(struct rt_report){.kind = REPORT_STEP, .a = n});
	observe_report(&f->o, p, at_ns,
		&(struct rt_report){.kind = REPORT_EXCHANGE, .a = n, .amount = .2});
	observe_report(&f->o, p, at_ns, &(struct rt_report){.kind = REPORT_USEFUL, .amount = 1});
}

void play(struct fixture *f)
{
	observe_links(&f->o, 0);
	for (int p = 0; p < 2; p++)
		observe_report(&f->o, p, 0, &(struct rt_report){.kind = REPORT_MEASURE});
	for (int64_t n = 0; n < 10; n++) {
		int64_t at_ns = n * 1200 * NS_PER_MS;

		for (int p = 0; p < 2; p++) {
			observe_state(&f->o, p, at_ns, STATE_COMPUTE);
			observe_state(&f->o, p, at_ns + NS_PER_S, STATE_EXPOSED_COMM);
			step(f, p, at_ns + 1200 * NS_PER_MS, n);
		}
		for (int64_t t = 100; t <= 1200; t += 100) {
			f->carried += 500000; /* 40 Mbit/s */
			observe_links(&f->o, at_ns + t * NS_PER_MS);
		}
	}
	observation_end(&f->o, f->live.wall_ns);
}

void judge(struct fixture *f, bool partial)
{
	f->in.partial = partial;
	verdict_plan(f->c, &f->s, &f->plan);
	verdict_make(f->c, &f->o, &f->in);
}

void release(struct fixture *f)
{
	observation_release(&f->o);
	record_free(f->record);
}
