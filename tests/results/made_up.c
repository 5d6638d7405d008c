/* See made_up.h. Everything follows from the seed in random_unit. */
#include "made_up.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "results/folder.h"

#define RATE 840e6
#define TICK .1
#define STEP 3.75

struct names {
	char site[96], learner[112], syncer[112];
};

static double draw(uint32_t entity, uint64_t counter)
{
	return random_unit(11, entity, RANDOM_COMPUTE, counter);
}

static struct names names_of(const struct made_up *m, int i)
{
	struct names n;

	snprintf(n.site, sizeof n.site, "%.80s-%d", m->name ? m->name : "site", i + 1);
	snprintf(n.learner, sizeof n.learner, "%s", n.site);
	snprintf(n.syncer, sizeof n.syncer, "%s.syncer", n.site);
	return n;
}

/* Is site i down at t, and is its learner. */
static bool blacked_out(const struct made_up *m, int i, double t)
{
	return m->faults && i == 1 && t >= .4 * m->seconds && t < .4 * m->seconds + 5;
}

static bool crashed(const struct made_up *m, int i, double t)
{
	return m->faults && i == 0 && t >= .6 * m->seconds && t < .6 * m->seconds + 12;
}

static bool in_outage(const struct made_up *m, double t)
{
	return m->trace && fmod(t + 5, 15) < .7;
}

static void samples(struct folder *f, const struct made_up *m, int k)
{
	for (int tick = 1; tick * TICK <= m->seconds; tick++)
		for (int i = 0; i < m->learners * 2; i++) {
			struct names n = names_of(m, i / 2);
			double t = tick * TICK + .004 * draw(3, (uint64_t)tick);
			bool down = blacked_out(m, i / 2, t) || in_outage(m, t);
			bool busy = fmod(t + .3 * (i / 2), STEP) < (i % 2 ? 3.2 : 3.4);
			double jitter = draw((uint32_t)i + 1000, (uint64_t)tick);

			folder_sample(
				f, &(struct folder_sample){k, t, n.site, i % 2 ? "down" : "up",
					   down || !busy || crashed(m, i / 2, t)
						   ? 0
						   : RATE * (.97 + .03 * jitter),
					   RATE, RATE, down ? 40 : 0,
					   m->trace ? .02 + .01 * sin(tick / 70.) +
							      .02 * pow(draw(5, (uint64_t)tick), 8)
						    : .025,
					   down});
		}
}

static void state(struct folder *f, int k, double t, const char *who, enum state s)
{
	char event[32];

	snprintf(event, sizeof event, "state:%s", state_name(s));
	folder_event(f, &(struct folder_event){k, t, who, event, NAN, NAN, NAN, NAN});
}

static void ledger_add(struct record_participant *p, enum state s, double seconds)
{
	p->ledger_s[s] += seconds;
	p->wall_s += seconds;
}

/* One learner's life; what it says in events.csv is what its ledger says. */
static void live(struct folder *f, const struct made_up *m, struct record_case *c, int k, int i,
	struct record_participant *p)
{
	struct names n = names_of(m, i);
	double t = 0;
	uint64_t step = 0;

	while (t < m->seconds) {
		double compute = STEP * (.95 + .1 * draw((uint32_t)i, step)), wait = .1 + .3 * k;
		enum state s = STATE_COMPUTE, then = STATE_EXPOSED_COMM;

		if (crashed(m, i, t)) {
			s = STATE_DOWN;
			then = STATE_RECOVER;
			compute = 12;
			wait = 6;
			p->steps_lost += 1;
		} else if (blacked_out(m, i, t)) {
			then = STATE_BARRIER_WAIT;
			wait = 5;
		} else if (k == 3 && step % 4 == 3) {
			then = STATE_CHECKPOINT;
			wait = 1.5;
		}
		compute = fmin(compute, m->seconds - t);
		state(f, k, t, n.learner, s);
		ledger_add(p, s, compute);
		t += compute;
		wait = fmin(wait, m->seconds - t);
		state(f, k, t, n.learner, then);
		ledger_add(p, then, wait);
		t += wait;
		p->steps_useful += s == STATE_COMPUTE;
		if (m->exchanges)
			record_exchange(c, 6.2 + .8 * k + 2 * pow(draw((uint32_t)i + 7, step), 3));
		step++;
	}
	state(f, k, m->seconds, n.learner, STATE_IDLE);
}

static void participants(struct folder *f, const struct made_up *m, struct record_case *c, int k)
{
	for (int i = 0; i < m->learners * (m->syncers ? 2 : 1); i++) {
		struct names n = names_of(m, i % m->learners);
		bool learner = i < m->learners;
		struct record_participant *p = record_add_participant(
			c, learner ? n.learner : n.syncer, learner ? "learner" : "syncer", n.site);

		for (int s = 0; s < STATE_COUNT; s++)
			p->ledger_s[s] = 0;
		p->wall_s = p->steps_useful = p->steps_lost = p->steps_pending = 0;
		if (learner) {
			live(f, m, c, k, i, p);
		} else {
			state(f, k, 0, n.syncer, STATE_IDLE);
			ledger_add(p, STATE_IDLE, m->seconds);
		}
	}
}

static void wire(const struct made_up *m, struct record_case *c)
{
	for (int i = 0; i < m->learners * 2; i++) {
		struct names n = names_of(m, i / 2);
		struct record_wire *w = record_add_wire(c, n.site, i % 2 ? "down" : "up");

		w->mean_bps = (i % 2 ? .84 : .88) * RATE;
		w->bytes = w->mean_bps * m->seconds / 8;
		w->peak_1s_bps = .999 * RATE;
		w->limit_bps = RATE;
		w->drop_queue = 3 * i;
		w->drop_random = w->drop_burst = 0;
		w->drop_outage = m->faults && i / 2 == 1 ? 4123 : 0;
		w->packets = 1e5;
		w->segments = floor(w->bytes / 1514);
		w->queue_high_bytes = 5.25e6;
		w->lateness_p50_s = 12e-6;
		w->lateness_p99_s = 180e-6;
		w->lateness_max_s = 2.1e-3;
	}
}

static void faults(const struct made_up *m, struct record_case *c)
{
	struct record_fault *f;

	if (!m->faults)
		return;
	f = record_add_fault(c, "blackout", names_of(m, 1).site);
	f->at_s = .4 * m->seconds;
	f->for_s = 5;
	f->happened = true;
	f = record_add_fault(c, "crash", names_of(m, 0).learner);
	f->at_s = .6 * m->seconds;
	f->for_s = 12;
	f->happened = true;
	f = record_add_fault(c, "crash", names_of(m, 1).learner);
	f->at_s = 2 * m->seconds;
	f->for_s = 12;
}

static void plan(struct record_case *c, const struct made_up *m)
{
	const double targets[] = {.5, .8, .9, .95, .99};

	record_assume(c, "N", "parameters", "12 B");
	record_assume(c, "b", "bits per exchanged parameter", "4 bit");
	record_assume(c, "H", "steps between two exchanges of the same parameter", "24");
	record_assume(c, "P", "fragments", "24");
	record_assume(c, "\xcf\x84", "fragments in flight", "2");
	record_assume(c, "T", "time of a step", "3.75 s");
	record_assume(c, "f", "bytes sent per byte of payload (sharded syncer)", "%.3g",
		2. * (m->learners - 1) / m->learners);
	record_assume(c, "M", "learners", "%d", m->learners);
	for (int i = 0; i < 5; i++)
		record_need(c, targets[i], RATE * targets[i] * 1.045 / .9, STEP * targets[i] / .9);
	c->payload_sent_bytes = c->payload_expected_bytes = 21e9 * m->learners;
	c->framing_bytes = 48e3 * m->learners;
	c->idle_rtt_s = .0401;
	c->idle_rtt_expected_s = .04;
	c->lateness_p99_s = 180e-6;
	c->relay_cpu = .62;
	c->prune_called = 0;
	c->retransmits = 312;
	c->exchange_predicted_s = 6;
	c->predicted_utilisation = .957;
}

static void judge(struct record_case *c, const struct made_up *m, int k)
{
	static const char *const strategies[] = {
		"decoupled-diloco", "streaming-diloco", "diloco", "data-parallel"};
	struct record_expect *e = record_add_expect(c, "useful_work", ">=");
	double compute = 0, wall = 0, off = 0, comm = 0;
	bool holds;

	for (size_t i = 0; i < c->n_participants; i++) {
		const struct record_participant *p = &c->participants[i];

		if (p->ledger_s[STATE_IDLE] == p->wall_s)
			continue;
		compute += p->ledger_s[STATE_COMPUTE];
		comm += p->ledger_s[STATE_EXPOSED_COMM];
		off += p->ledger_s[STATE_DOWN] + p->ledger_s[STATE_RECOVER];
		wall += p->wall_s;
	}
	c->strategy = memory_string(strategies[k % 4]);
	c->wall_s = m->seconds;
	c->useful_work = compute / wall;
	c->compute_utilisation = compute / (compute + comm);
	c->availability = 1 - off / wall;
	c->participation = 1;
	e->want = .9;
	e->got = c->useful_work;
	e->holds = e->got >= e->want;
	holds = e->holds;
	e = record_add_expect(c, "wire_rate", "<=");
	e->want = RATE;
	e->got = .88 * RATE;
	e->holds = true;
	free(c->verdict);
	c->verdict = memory_string(k == 2 ? "invalid" : holds ? "holds" : "fails");
	c->because = memory_format("Useful work is %.1f %%, %s the 90 %% expected.",
		100 * c->useful_work, holds ? "at least" : "below");
	if (k == 2) {
		c->valid = false;
		record_reason(c, "the relay was late: p99 3.1 ms, at most 0.5 ms is allowed");
	}
	if (!c->n_exchanges)
		record_note(c, "no exchange finished in the time");
}

static void fill(struct folder *f, struct record *r, const struct made_up *m, int k)
{
	static const char *const names[] = {
		"decoupled-diloco", "streaming-diloco", "diloco", "data-parallel"};
	struct record_case *c = record_add_case(r, m->cases > 1 ? names[k % 4] : "");

	if (m->cases > 1)
		record_set_value(c, "workload.strategy", names[k % 4]);
	samples(f, m, k);
	participants(f, m, c, k);
	record_exchange_summary(c);
	wire(m, c);
	faults(m, c);
	plan(c, m);
	judge(c, m, k);
}

struct record *made_up_run(const char *dir, const struct made_up *m)
{
	struct record *r = record_new();
	struct folder *f;
	struct error err = {0};

	r->tool_version = memory_string("0.1.0");
	r->tool_git = memory_string("91e25e5");
	r->kernel = memory_string("Linux 6.1.0-18-amd64");
	r->machine = memory_string("x86_64");
	r->cpus = 2;
	r->hz = 250;
	r->argv = memory_zero(3, sizeof *r->argv);
	r->argc = 3;
	r->argv[0] = memory_string("narrowlink");
	r->argv[1] = memory_string("run");
	r->argv[2] = memory_string("scenarios/claim/eight sites.yaml");
	r->seed = 42;
	r->engine = memory_string("relay");
	r->dilation = 1;
	r->title = memory_string(m->title ? m->title : "12B across eight sites at 0.84 Gbit/s");
	r->scenario_path = memory_string("scenarios/claim/eight sites.yaml");
	r->started_utc = memory_string("2026-01-31T12:00:00Z");
	r->resolved = memory_string("narrowlink: 1\ntitle: 12B across eight sites\nseed: 42\n"
				    "sites:\n  count: 8\n  link: wan\n");
	if (folder_create(&f, dir, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	for (int k = 0; k < m->cases; k++)
		fill(f, r, m, k);
	if (folder_flush(f, r, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	folder_free(f);
	return r;
}
