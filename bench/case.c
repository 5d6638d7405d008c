/*
 * One case: topology, links, agents, and what is left when they are gone.
 *
 * The order of setting up is the order of taking down, backwards; `struct stage` holds what
 * exists so that every way out passes the same door.
 */
#include "bench/case.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/calibration.h"
#include "bench/case_capture.h"
#include "bench/headroom.h"
#include "bench/links.h"
#include "bench/live/live.h"
#include "bench/observe.h"
#include "bench/verdict.h"

#define FLUSH_EVERY_NS (2 * NS_PER_S)

struct stage {
	const struct scenario *scenario;
	const struct case_context *context;
	struct plan plan;
	struct fault *faults;
	size_t n_faults;
	struct link_plan links;
	struct topology *topology;
	struct backend_run *run;
	struct observation observation;
	struct outcome outcome;
	struct headroom headroom;
	struct capture *capture; /* NULL: none */
	int64_t started_ns, flushed_ns;
	bool interrupted;
	bool not_begun;	      /* two sites could not connect, or the like */
	struct error stopped; /* why tick stopped the run, if it did */
};

static struct progress_state progress_of(const struct stage *st)
{
	const struct scenario *s = st->scenario;

	return (struct progress_state){
		.case_name = s->case_name[0] ? s->case_name : s->title,
		.case_index = st->context->index,
		.n_cases = st->context->n_cases,
		.expected_s = (double)st->plan.expected_wall_ns / NS_PER_S,
		.dilation = s->dilation,
	};
}

static void update_progress(struct stage *st, int64_t at_ns)
{
	struct progress_state state = progress_of(st);
	struct ledger_totals totals;
	int64_t end_ns = observation_end_ns(&st->observation, at_ns);
	double fastest = 0;

	observation_totals(&st->observation, at_ns, &totals);
	for (int i = 0; i < st->scenario->n_sites; i++) {
		for (enum direction d = UP; d < DIRECTIONS; d++)
			fastest = fmax(fastest, st->observation.wire[i][d].last_1s_bps);
	}
	state.at_s = (double)at_ns / NS_PER_S;
	if (end_ns >= 0)
		state.expected_s = (double)end_ns / NS_PER_S;
	state.useful_work = totals.useful_work;
	state.wire_bps = fastest;
	progress_update(st->context->progress, &state);
}

static void on_connecting(void *user, int n_up, int n_pairs)
{
	const struct stage *st = user;
	const struct progress_state state = progress_of(st);

	progress_connecting(st->context->progress, &state, n_up, n_pairs);
}

static int on_tick(void *user, int64_t at_ns)
{
	struct stage *st = user;
	int64_t now = clock_now_ns();

	if (case_interrupted(st->context)) {
		st->interrupted = true;
		return 1;
	}
	if (st->context->backend->verify(st->run, &st->stopped) < 0)
		return 1;
	if (at_ns < 0)
		return 0;
	/* a busy machine may have made this call late: counters are read now, not at at_ns */
	at_ns = (int64_t)((double)(now - st->started_ns) / st->scenario->dilation);
	headroom_tick(&st->headroom);
	observe_links(&st->observation, at_ns);
	update_progress(st, at_ns);
	if (now - st->flushed_ns < FLUSH_EVERY_NS)
		return 0;
	st->flushed_ns = now;
	return folder_flush(st->context->folder, NULL, &st->stopped) < 0;
}

static void on_links_start(void *user, int64_t t0_ns)
{
	struct stage *st = user;

	st->started_ns = st->observation.t0_ns = t0_ns;
	headroom_begin(&st->headroom, st->context->backend->pid(st->run));
	if (st->capture)
		capture_zero(st->capture, t0_ns);
	st->context->backend->start(st->run, t0_ns);
}

static void on_state(void *user, int p, int64_t at_ns, enum state state)
{
	observe_state(&((struct stage *)user)->observation, p, at_ns, state);
}

static void on_report(void *user, int p, int64_t at_ns, const struct rt_report *report)
{
	observe_report(&((struct stage *)user)->observation, p, at_ns, report);
}

static void on_done(void *user, int p, int64_t at_ns)
{
	observe_done(&((struct stage *)user)->observation, p, at_ns);
}

static void on_fault(void *user, const struct fault *fault, bool begins, int64_t at_ns)
{
	observe_fault(&((struct stage *)user)->observation, fault, begins, at_ns);
}

static void on_silence(void *user, int p, int peer, bool silent, int64_t at_ns)
{
	observe_silence(&((struct stage *)user)->observation, p, peer, silent, at_ns);
}

static void on_tcp(void *user, int p, int peer, int64_t at_ns, const struct tcp_sample *tcp)
{
	observe_tcp(&((struct stage *)user)->observation, p, peer, at_ns, tcp);
}

static void link_counters(const void *links, int site, enum direction d, struct link_stats *out)
{
	const struct stage *st = links;

	st->context->backend->stats(st->run, site, d, out);
}

static void on_still(void *user, int p, int64_t at_ns, int64_t for_ns)
{
	observe_still(&((struct stage *)user)->observation, p, at_ns, for_ns);
}

static void on_absent(void *user, int64_t at_ns, int64_t for_ns)
{
	observe_absent(&((struct stage *)user)->observation, at_ns, for_ns);
}

static int set_up(struct stage *st, struct error *err)
{
	const struct scenario *s = st->scenario;
	const char *names[SITES_MAX];
	struct topology_tcp tcp = {
		.receive_buffer = s->transport.buffer_bytes,
		.send_buffer = s->transport.buffer_bytes,
		.slow_start_after_idle = s->transport.slow_start_after_idle,
	};
	int r;

	snprintf(tcp.congestion, sizeof tcp.congestion, "%s", s->transport.congestion);
	for (int i = 0; i < s->n_sites; i++)
		names[i] = s->sites[i].name;
	r = topology_up(&st->topology, s->n_sites, names, &tcp, err);
	if (r < 0)
		return r;
	return st->context->backend->up(&st->run, st->topology, &st->links, err);
}

/* What is known of a live run that ended in an error: how far it was seen to come. */
static void outcome_unknown(struct outcome *out, int64_t seen_ns)
{
	*out = (struct outcome){.end = END_STOPPED, .wall_ns = seen_ns};
	for (int i = 0; i < SITES_MAX; i++) {
		for (int j = 0; j < SITES_MAX; j++)
			out->idle_rtt_ns[i][j] = -1;
	}
}

static int run_live(struct stage *st, struct error *err)
{
	const struct observer observer = {
		.user = st,
		.state = on_state,
		.report = on_report,
		.done = on_done,
		.fault = on_fault,
		.silence = on_silence,
		.tcp = on_tcp,
		.tick = on_tick,
		.connecting = on_connecting,
		.still = on_still,
		.absent = on_absent,
	};
	struct error live_err = {0};
	int r = live_run(st->scenario, st->topology, st->faults, st->n_faults, on_links_start,
		&observer, &st->outcome, &live_err);

	if (r < 0)
		outcome_unknown(&st->outcome, st->observation.last_tick_ns);
	/* A dead relay makes agents fail too: the first cause is the one to name. */
	if (st->stopped.status == STATUS_HOLDS)
		st->context->backend->verify(st->run, &st->stopped);
	if (st->stopped.status == STATUS_HOLDS && r < 0) {
		st->not_begun = r == -ETIMEDOUT && live_err.status == STATUS_INVALID;
		return error_set(err, r, live_err.status, "%s", live_err.text);
	}
	if (st->stopped.status != STATUS_HOLDS)
		return error_set(err, -EIO, st->stopped.status, "%s", st->stopped.text);
	if (st->interrupted)
		return error_set(err, -EINTR, STATUS_INVALID, "interrupted");
	return 0;
}

/*
 * On links of its own, before the run's are there. An instrument that fails is no reason to stop;
 * the user's wish is (-EINTR).
 */
static int calibrate_links(struct stage *st, struct record_case *c, struct error *stopped)
{
	const struct scenario *s = st->scenario;
	const char *folder = folder_path(st->context->folder);
	size_t index = st->context->index;
	_free_ char *path = index ? memory_format("%s/probes-%zu.csv", folder, index + 1)
				  : memory_format("%s/probes.csv", folder);
	struct calibration calibration;
	struct error err = {0};
	int r;

	c->calibration = memory_string(s->calibration == CALIBRATION_OFF    ? "off"
				       : s->calibration == CALIBRATION_FULL ? "full"
									    : "short");
	if (s->calibration == CALIBRATION_OFF)
		return 0;
	progress_say(st->context->progress, "measuring the links");
	r = calibration_of_scenario(
		&calibration, s, &st->links, st->context->backend, &st->context->signal_fd, &err);
	if (r == -EINTR)
		error_set(stopped, r, STATUS_INVALID, "interrupted while the links were measured");
	else if (r < 0) {
		cleanup_free(&c->calibration);
		c->calibration = memory_string("unavailable");
		record_note(c, "the links could not be calibrated: %s", err.text);
	}
	calibration_record(c, &calibration, s);
	calibration_write(&calibration, path);
	calibration_release(&calibration);
	return r == -EINTR ? r : 0;
}

static void record_case_of(struct stage *st, struct record_case *c, const struct error *err)
{
	struct headroom_result headroom;
	struct host_tcp tcp = {0};
	struct verdict_input in = {
		.plan = &st->plan,
		.outcome = &st->outcome,
		.tcp = &tcp,
		.faults = st->faults,
		.n_faults = st->n_faults,
		.relay_cpu = NAN,
		.partial = err->status != STATUS_HOLDS,
		.why_partial = err->text,
		.not_begun = st->not_begun,
	};
	struct error ignored = {0};

	if (st->started_ns) {
		headroom_end(&st->headroom, &headroom);
		in.headroom = &headroom;
		in.relay_cpu = headroom.relay;
	}
	case_capture_end(c, &st->observation, st->capture);
	host_tcp(st->topology, &tcp, &ignored);
	observation_end(&st->observation, st->outcome.wall_ns);
	verdict_make(c, &st->observation, &in);
}

static void take_down(struct stage *st)
{
	st->capture = capture_free(st->capture);
	st->run = st->context->backend->down(st->run);
	st->topology = topology_down(st->topology);
	links_release(&st->links, st->scenario->n_sites);
	observation_release(&st->observation);
	free(st->faults);
}

int case_run(struct record_case *c, const struct scenario *s, const struct case_context *context,
	struct error *err)
{
	static struct stage st; /* large: counters and ledgers of all participants */
	int r;

	st = (struct stage){.scenario = s, .context = context};
	plan_make(&st.plan, s);
	st.n_faults = fault_schedule(
		s->faults, s->n_faults, s->seed, s->job.n_learners, s->limit_ns, &st.faults);
	links_make(&st.links, s, st.faults, st.n_faults);
	verdict_plan(c, s, &st.plan);
	r = calibrate_links(&st, c, err);
	if (!r)
		r = set_up(&st, err);
	if (r >= 0) {
		st.observation = (struct observation){
			.scenario = s,
			.stats = link_counters,
			.links = &st,
			.link_plan = &st.links,
			.folder = context->folder,
			.case_index = (int)context->index,
		};
		observation_begin(&st.observation);
		case_capture_begin(&st.capture, c, &st.observation, st.topology);
		st.flushed_ns = clock_now_ns();
		r = run_live(&st, err);
		record_case_of(&st, c, err);
	}
	if (r < 0 && !st.run) {
		cleanup_free(&c->because);
		c->because = memory_string(err->text);
	}
	take_down(&st);
	progress_end(context->progress);
	return r;
}
