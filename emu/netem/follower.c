/* Changes of links at their time; see follower.h. */
#include "emu/netem/follower.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

struct line {
	struct stage stage;
	int64_t until_ns; /* scenario time; TIME_NEVER while it has not begun */
};

struct follower {
	const struct follower_job *job;
	struct line lines[SITES_MAX][DIRECTIONS];
	int timer_fd;
	int64_t epoch_ns;
	bool started;
};

static bool same_tbf(const struct stage *a, const struct stage *b)
{
	return a->frame_overhead == b->frame_overhead && a->tbf.rate == b->tbf.rate &&
	       a->tbf.burst == b->tbf.burst && a->tbf.limit == b->tbf.limit;
}

int follower_apply(struct gateway *w, enum direction d, const struct stage *is,
	const struct stage *was, struct error *err)
{
	const struct qdisc_place queue = {w->queue[d].index, TC_H_ROOT, 0};
	const struct qdisc_place delay = {w->delay[d].index, TC_H_ROOT, 0};
	enum qdisc_verb verb = was ? QDISC_CHANGE : QDISC_ADD;
	int r = 0;

	/* a bucket that is changed is full again: only when it must be */
	if (!was || !same_tbf(is, was))
		r = qdisc_set_tbf(
			w->queue[d].sock, verb, &queue, &is->tbf, is->frame_overhead, err);
	if (r == 0)
		r = qdisc_set_netem(w->delay[d].sock, verb, &delay, &is->netem, 0, err);
	return r;
}

/* Before the cause changes: what has been dropped until now was dropped by the old one. */
static int settle_drops(
	struct follower *f, int site, enum direction d, enum drop_cause cause, struct error *err)
{
	struct follower_drops *drops = &f->job->shared->drops[site][d];
	const struct port *port = &f->job->gateways->site[site].delay[d];
	const struct qdisc_place place = {port->index, TC_H_ROOT, 0};
	struct qdisc q;
	int r;

	if (atomic_load(&drops->cause) == (int)cause)
		return 0;
	r = qdisc_read(port->sock, &place, &q, err);
	if (r < 0)
		return r;
	atomic_fetch_add(&drops->before[atomic_load(&drops->cause)],
		q.counters.drops - atomic_load(&drops->counted));
	atomic_store(&drops->counted, q.counters.drops);
	atomic_store(&drops->cause, (int)cause);
	return 0;
}

static int follow(struct follower *f, int site, enum direction d, int64_t t_ns, struct error *err)
{
	const struct link_direction *link = &f->job->plan->links[site][d];
	struct line *line = &f->lines[site][d];
	struct link_state state;
	struct stage stage;
	int r;

	link_at(link, d, t_ns, &state, &line->until_ns);
	stage_hold(&state, t_ns, &line->until_ns);
	stage_make(&stage, &state, link->overhead_bytes, d == UP ? f->job->core_ns[site] : 0);
	r = follower_apply(&f->job->gateways->site[site], d, &stage, &line->stage, err);
	if (r == 0)
		r = settle_drops(f, site, d, stage_cause(&state), err);
	line->stage = stage;
	return r;
}

/* Everything whose time has come; *next_ns is when the next comes, on the monotonic clock. */
static int follow_all(struct follower *f, int64_t *next_ns, struct error *err)
{
	int r = 0;

	*next_ns = TIME_NEVER;
	for (int i = 0; i < f->job->topology->n_sites; i++) {
		for (enum direction d = UP; r == 0 && d < DIRECTIONS; d++) {
			const struct line *line = &f->lines[i][d];
			int64_t t_ns = clock_now_ns() - f->epoch_ns;

			if (line->until_ns <= t_ns)
				r = follow(f, i, d, t_ns, err);
			if (line->until_ns != TIME_NEVER && line->until_ns + f->epoch_ns < *next_ns)
				*next_ns = line->until_ns + f->epoch_ns;
		}
	}
	return r;
}

/* Scenario time zero is known: everything is looked at anew. */
static void begin(struct follower *f, int64_t t0_ns)
{
	f->epoch_ns = t0_ns;
	f->started = true;
	for (int i = 0; i < f->job->topology->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++)
			f->lines[i][d].until_ns = INT64_MIN;
}

/* Waits for the time or for the program; false when that has gone. A timerfd is not late by 0.1 %.
 */
static bool wait_until(struct follower *f, int64_t next_ns)
{
	struct pollfd p[] = {{.fd = f->job->control_fd, .events = POLLIN},
		{.fd = f->timer_fd, .events = POLLIN}};
	struct itimerspec when = {0};
	int64_t t0_ns;
	uint64_t expired;

	if (next_ns != TIME_NEVER)
		when.it_value = (struct timespec){next_ns / NS_PER_S, next_ns % NS_PER_S};
	timerfd_settime(f->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
	if (poll(p, 2, -1) < 0)
		return errno == EINTR;
	if (p[1].revents && read(f->timer_fd, &expired, sizeof expired) < 0 && errno != EAGAIN)
		return false;
	if (p[0].revents) {
		if (read(f->job->control_fd, &t0_ns, sizeof t0_ns) != sizeof t0_ns)
			return false;
		begin(f, t0_ns);
	}
	return true;
}

/* The program decides when the follower ends, also on a Ctrl-C that reaches both. */
static int depend_on_program(const struct follower_job *job, struct error *err)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

	prctl(PR_SET_NAME, "narrowlink-link");
	prctl(PR_SET_TIMERSLACK, 1UL);
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return error_sys(err, -errno, "the follower cannot follow the program's end");
	if (getppid() != job->program)
		return error_set(err, -ESRCH, STATUS_MACHINE, "the program has gone");
	return 0;
}

/* What the qdiscs are already: the state before the scenario begins. */
static void know_lines(struct follower *f)
{
	struct link_state state;

	for (int i = 0; i < f->job->topology->n_sites; i++)
		for (enum direction d = UP; d < DIRECTIONS; d++) {
			const struct link_direction *link = &f->job->plan->links[i][d];
			struct line *line = &f->lines[i][d];

			link_at(link, d, -1, &state, &line->until_ns);
			line->until_ns = TIME_NEVER;
			stage_make(&line->stage, &state, link->overhead_bytes,
				d == UP ? f->job->core_ns[i] : 0);
		}
}

void follower_main(const struct follower_job *job)
{
	static struct follower f; /* large */
	struct error err = {0};
	int64_t next_ns = TIME_NEVER;
	int r = depend_on_program(job, &err);

	f.job = job;
	f.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (r == 0 && f.timer_fd < 0)
		r = error_sys(&err, -errno, "the follower cannot make its timer");
	if (r == 0)
		r = gateways_reopen(job->gateways, job->topology, &err);
	know_lines(&f);
	if (send(job->control_fd, &err, sizeof err, MSG_NOSIGNAL) < 0)
		r = -errno;
	while (r == 0 && wait_until(&f, next_ns))
		if (f.started)
			r = follow_all(&f, &next_ns, &err);
	if (r < 0)
		job->shared->err = err;
}
