/*
 * The observer of one case. Everything a verdict rests on passes through here once, in order of
 * time, on its way from the agents and the links into the ledger and the run folder.
 */
#include "bench/observe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

void participant_name(const struct scenario *s, int participant, char name[static 96])
{
	const char *site = s->sites[job_site(&s->job, participant)].name;
	bool shard = s->job.syncer == SYNCER_SHARDED && participant >= s->job.n_learners;

	snprintf(name, 96, shard ? "syncer %s" : "%s", site);
}

void observation_begin(struct observation *o)
{
	const struct job *job = &o->scenario->job;

	for (int site = 0; site < o->scenario->n_sites; site++) {
		for (int d = 0; d < DIRECTIONS; d++)
			o->wire[site][d].peak_1s_bps = NAN;
	}
	for (int p = 0; p < job_participants(job); p++)
		ledger_start(
			&o->ledgers[p], 0, STATE_IDLE, (double)o->scenario->strategy->settles(job));
}

void observation_release(struct observation *o)
{
	free(o->exchange_s);
	o->exchange_s = NULL;
}

static void event(struct observation *o, int participant, int64_t at_ns, const char *what,
	const struct rt_report *r)
{
	char name[96];
	struct folder_event e = {
		.case_index = o->case_index,
		.t_s = seconds(at_ns),
		.event = what,
		.a = r ? (double)r->a : NAN,
		.b = r ? (double)r->b : NAN,
		.c = r ? (double)r->c : NAN,
		.amount = r ? r->amount : NAN,
	};

	if (!o->folder)
		return;
	participant_name(o->scenario, participant, name);
	e.participant = name;
	folder_event(o->folder, &e);
}

void observe_state(void *user, int participant, int64_t at_ns, enum state state)
{
	struct observation *o = user;
	char what[32];

	ledger_state(&o->ledgers[participant], at_ns, state);
	snprintf(what, sizeof what, "state:%s", state_name(state));
	event(o, participant, at_ns, what, NULL);
}

/* Payload of one round over all links, by the strategy's formula, per learner that took part. */
static double expected_per_learner(const struct scenario *s, int64_t round)
{
	double sum = 0;

	for (int p = 0; p < job_participants(&s->job); p++)
		sum += (double)s->strategy->bytes_sent(&s->job, p, round);
	return sum / s->job.n_learners;
}

static void add_exchange(struct observation *o, int participant, const struct rt_report *r)
{
	o->payload_expected += expected_per_learner(o->scenario, r->a);
	if (!o->ledgers[participant].measuring || o->ledgers[participant].done)
		return;
	if (o->n_exchanges == o->room) {
		o->room = o->room ? 2 * o->room : 256;
		o->exchange_s = memory_resize(o->exchange_s, o->room, sizeof *o->exchange_s);
	}
	o->exchange_s[o->n_exchanges++] = r->amount;
}

/* A learner begins to measure: those that have not are accounted with it for now. */
static void join_others(struct observation *o, int participant, int64_t at_ns, int64_t first_step)
{
	const struct ledger *own = &o->ledgers[participant];

	if (own->measuring)
		return; /* a restarted learner says so again */
	for (int i = 0; i < o->scenario->job.n_learners; i++)
		if (i != participant)
			ledger_join(&o->ledgers[i], at_ns, first_step, own->struck);
}

void observe_report(void *user, int participant, int64_t at_ns, const struct rt_report *report)
{
	struct observation *o = user;

	if (report->kind == REPORT_MEASURE)
		join_others(o, participant, at_ns, report->a);
	ledger_report(&o->ledgers[participant], at_ns, report);
	if (report->kind == REPORT_EXCHANGE)
		add_exchange(o, participant, report);
	if (report->kind == REPORT_MERGE) {
		o->merges++;
		o->contributors += (uint64_t)report->amount;
	}
	event(o, participant, at_ns, rt_report_name(report->kind), report);
}

void observe_done(void *user, int participant, int64_t at_ns)
{
	struct observation *o = user;

	ledger_finish(&o->ledgers[participant], at_ns);
	event(o, participant, at_ns, "done", NULL);
}

/* A blackout is the links' own doing, and on time; a crash is done when there is time for it. */
static void note_lateness(struct observation *o, const struct fault *f, bool begins, int64_t at_ns)
{
	int64_t late_ns = at_ns - f->at_ns - (begins ? 0 : f->for_ns);

	if (f->kind != FAULT_CRASH || late_ns <= o->late_ns)
		return;
	o->late_ns = late_ns;
	o->latest = f;
}

void observe_fault(void *user, const struct fault *fault, bool begins, int64_t at_ns)
{
	struct observation *o = user;
	char what[48];
	struct folder_event e = {
		.case_index = o->case_index,
		.t_s = seconds(at_ns),
		.participant = o->scenario->sites[fault->site].name,
		.event = what,
		.a = NAN,
		.b = NAN,
		.c = NAN,
		.amount = seconds(fault->for_ns),
	};

	note_lateness(o, fault, begins, at_ns);
	if (fault->site < o->scenario->job.n_learners)
		ledger_strike(&o->ledgers[fault->site]);
	snprintf(what, sizeof what, "%s:%s", begins ? "fault" : "fault_end",
		fault_kind_name(fault->kind));
	if (o->folder)
		folder_event(o->folder, &e);
}

void observe_silence(void *user, int participant, int peer, bool silent, int64_t at_ns)
{
	struct observation *o = user;
	const struct rt_report about = {.a = peer, .b = -1, .c = -1, .amount = NAN};

	o->silences += silent;
	event(o, participant, at_ns, silent ? "peer:silent" : "peer:heard", &about);
}

void observe_still(void *user, int participant, int64_t at_ns, int64_t for_ns)
{
	struct observation *o = user;
	const struct rt_report about = {.a = -1, .b = -1, .c = -1, .amount = seconds(for_ns)};

	o->still_ns[participant] += for_ns;
	event(o, participant, at_ns, "agent:still", &about);
}

void observe_absent(void *user, int64_t at_ns, int64_t for_ns)
{
	struct observation *o = user;

	o->absence.n++;
	if (for_ns <= o->absence.for_ns)
		return;
	o->absence.at_ns = at_ns;
	o->absence.for_ns = for_ns;
}

void observe_tcp(void *user, int participant, int peer, int64_t at_ns, const struct tcp_sample *tcp)
{
	struct observation *o = user;
	char name[96], peer_name[96];
	struct folder_tcp row = {
		.case_index = o->case_index,
		.t_s = seconds(at_ns),
		.participant = name,
		.peer = peer_name,
		.rtt_s = seconds(tcp->rtt_ns),
		.min_rtt_s = seconds(tcp->min_rtt_ns),
		.cwnd_segments = (double)tcp->cwnd_segments,
		.retransmits = (double)tcp->retransmits,
		.delivery_bps = (double)tcp->delivery_bps,
		.busy_s = seconds(tcp->busy_ns),
		.window_limited_s = seconds(tcp->window_limited_ns),
		.buffer_limited_s = seconds(tcp->buffer_limited_ns),
	};

	o->retransmits[participant][peer] = tcp->retransmits;
	o->held_up[participant][peer] =
		(struct held_up){tcp->busy_ns, tcp->window_limited_ns, tcp->buffer_limited_ns};
	if (!o->folder)
		return;
	participant_name(o->scenario, participant, name);
	participant_name(o->scenario, peer, peer_name);
	folder_tcp(o->folder, &row);
}

/* The mean over the last second, or as much of it as has been seen: the peak is its maximum. */
static void meter_peak(struct wire_meter *m, int64_t at_ns)
{
	size_t newest = m->ticks % WIRE_HISTORY, oldest = newest;
	size_t before = (m->ticks + WIRE_HISTORY - 1) % WIRE_HISTORY;
	size_t known = m->ticks + 1 < WIRE_HISTORY ? m->ticks + 1 : WIRE_HISTORY;
	double span;

	/* a slowed run has more ticks in a second than are kept */
	if (m->ticks > 0 && at_ns - m->history[before].at_ns < NS_PER_S / 12)
		return;
	m->history[newest].at_ns = at_ns;
	m->history[newest].bytes = m->last_bytes;
	for (size_t back = 1; back < known; back++) {
		oldest = (m->ticks - back) % WIRE_HISTORY;
		if (at_ns - m->history[oldest].at_ns >= NS_PER_S)
			break;
	}
	m->ticks++;
	span = seconds(at_ns - m->history[oldest].at_ns);
	if (span >= 0.95) {
		double bps = (double)(m->last_bytes - m->history[oldest].bytes) * 8 / span;

		m->last_1s_bps = bps;
		m->peak_1s_bps = fmax(m->peak_1s_bps, bps);
	}
}

static uint64_t all_drops(const struct link_stats *stats)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < DROP_CAUSES; cause++)
		sum += stats->drop_segments[cause];
	return sum;
}

/* The scenario's time for which the counters are true. */
static int64_t time_of(const struct observation *o, const struct link_stats *stats, int64_t at_ns)
{
	if (!stats->at_ns)
		return at_ns;
	return (int64_t)((double)(stats->at_ns - o->t0_ns) / o->scenario->dilation);
}

static void write_sample(struct observation *o, int site, enum direction d, int64_t at_ns,
	const struct link_stats *stats)
{
	const struct scenario *s = o->scenario;
	const struct wire_meter *m = &o->wire[site][d];
	double span_s = seconds(at_ns - m->last_ns);
	struct link_state link;
	int64_t until_ns;

	link_at(&o->link_plan->links[site][d], d, (int64_t)((double)at_ns * s->dilation), &link,
		&until_ns);
	folder_sample(o->folder,
		&(struct folder_sample){
			.case_index = o->case_index,
			.t_s = seconds(at_ns),
			.site = s->sites[site].name,
			.direction = direction_name(d),
			.wire_bps = (double)(stats->sent_bytes - m->last_bytes) * 8 / span_s,
			.limit_bps = (double)link.rate_bps * s->dilation,
			.delivered_bps =
				(double)(stats->delivered_bytes - m->delivered_bytes) * 8 / span_s,
			.drop_segments = (double)(all_drops(stats) - m->drops),
			.delay_s = seconds(link.delay_ns) / s->dilation,
			.down = link.down,
		});
}

static void sample_direction(struct observation *o, int site, enum direction d, int64_t at_ns)
{
	struct wire_meter *m = &o->wire[site][d];
	struct link_stats stats;

	o->stats(o->links, site, d, &stats);
	at_ns = time_of(o, &stats, at_ns);
	if (m->ticks == 0)
		m->first_bytes = m->last_bytes = stats.sent_bytes;
	else if (at_ns <= m->last_ns)
		return;
	else if (o->folder)
		write_sample(o, site, d, at_ns, &stats);
	m->last_bytes = stats.sent_bytes;
	m->delivered_bytes = stats.delivered_bytes;
	m->drops = all_drops(&stats);
	m->last_ns = at_ns;
	meter_peak(m, at_ns);
}

void observe_links(struct observation *o, int64_t at_ns)
{
	for (int site = 0; site < o->scenario->n_sites; site++) {
		for (enum direction d = UP; d < DIRECTIONS; d++)
			sample_direction(o, site, d, at_ns);
	}
	o->last_tick_ns = at_ns;
}

void observation_end(struct observation *o, int64_t at_ns)
{
	for (int p = 0; p < job_participants(&o->scenario->job); p++)
		ledger_finish(&o->ledgers[p], at_ns);
}

static double learner_end_ns(const struct ledger *l, int64_t steps, int64_t at_ns)
{
	double done = l->steps_completed - l->steps_lost;

	if (l->done)
		return (double)l->until_ns;
	if (!l->measuring || done <= 0)
		return -1;
	return (double)at_ns + (double)(at_ns - l->from_ns) / done * fmax(0, (double)steps - done);
}

int64_t observation_end_ns(const struct observation *o, int64_t at_ns)
{
	const struct scenario *s = o->scenario;
	double last_ns = 0;

	for (int i = 0; i < s->job.n_learners; i++) {
		double end_ns = learner_end_ns(&o->ledgers[i], s->job.steps, at_ns);

		if (end_ns < 0)
			return -1;
		last_ns = fmax(last_ns, end_ns);
	}
	return (int64_t)fmin(last_ns, (double)s->limit_ns);
}

void observation_totals(const struct observation *o, int64_t at_ns, struct ledger_totals *out)
{
	const struct scenario *s = o->scenario;
	struct ledger closed[LEARNERS_MAX];
	const struct ledger *ledgers[LEARNERS_MAX];
	int64_t step_ns[LEARNERS_MAX];
	double accelerators[LEARNERS_MAX];

	for (int i = 0; i < s->job.n_learners; i++) {
		closed[i] = o->ledgers[i];
		ledger_finish(&closed[i], at_ns);
		ledgers[i] = &closed[i];
		step_ns[i] = (int64_t)((double)s->job.step_ns / s->job.speed[i]);
		accelerators[i] = s->sites[i].accelerators;
	}
	ledger_totals(ledgers, step_ns, accelerators, s->job.n_learners, out);
}

bool observation_measured(const struct observation *o)
{
	for (int p = 0; p < o->scenario->job.n_learners; p++) {
		if (o->ledgers[p].measuring)
			return true;
	}
	return false;
}
