/*
 * data-parallel: every step ends with an all-reduce of all gradients, overlapped with the
 * backward pass. Nobody can take a step without everybody.
 *
 * With checkpoints on, all learners write one after the same step, and a crash takes all of them
 * back to the last that everybody completed. Without, they go back to the last step everybody
 * completed. Either way the restarted learner fetches that state from a peer.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "bench/strategy/backward.h"
#include "bench/strategy/group.h"
#include "bench/strategy/learner.h"

enum phase { PHASE_STEP, PHASE_CHECKPOINT, PHASE_BROKEN, PHASE_DONE };

struct data_parallel {
	struct rt *rt;
	struct group group;
	struct backward backward;
	enum phase phase;
	bool computing;
	int64_t due_ns; /* when the compute or the checkpoint under way ends */
	int64_t step;	/* completed */
	int64_t saved;	/* of these, those a crash does not undo */
	bool measured, said_done;
};

static void *create(struct rt *rt)
{
	struct data_parallel *d = memory_zero(1, sizeof *d);

	d->rt = rt;
	group_init(&d->group, rt, GROUP_LEAST, NULL);
	backward_init(&d->backward, rt);
	return d;
}

static void destroy(void *self)
{
	struct data_parallel *d = self;

	if (!d)
		return;
	backward_release(&d->backward);
	free(d);
}

static void next_step(struct data_parallel *d, int64_t at_ns)
{
	int64_t ns = begin_step(d->rt, d->step, &d->measured);

	if (!ns) {
		d->phase = PHASE_DONE;
		if (!d->said_done)
			rt_done(d->rt);
		d->said_done = true;
		return;
	}
	d->phase = PHASE_STEP;
	d->computing = true;
	d->due_ns = at_ns + ns;
	backward_begin(&d->backward, d->step, at_ns, ns);
}

/* What has been computed up to now is safe from crashes. */
static void save(struct data_parallel *d)
{
	const struct job *job = d->rt->job;
	int64_t fresh = steps_counted(job, d->step) - steps_counted(job, d->saved);

	report_amount(d->rt, REPORT_USEFUL, (double)fresh);
	d->saved = d->step;
	group_advance(&d->group, d->step);
}

/*
 * What was cancelled in a crash may have been on its way already: an event counts only when what
 * it ends is under way and due.
 */
static bool ends(const struct data_parallel *d, enum phase phase, int64_t at_ns)
{
	return d->phase == phase && at_ns >= d->due_ns;
}

static void checkpoint_complete(struct data_parallel *d, int64_t at_ns)
{
	if (!ends(d, PHASE_CHECKPOINT, at_ns))
		return;
	report_number(d->rt, REPORT_CHECKPOINT, d->step);
	save(d);
	next_step(d, at_ns);
}

static void finish_step(struct data_parallel *d, int64_t at_ns)
{
	const struct job *job = d->rt->job;

	if (d->phase != PHASE_STEP || d->computing || !backward_finished(&d->backward))
		return;
	report_exchange(d->rt, d->step, 0, 0, at_ns - d->backward.first_ns);
	backward_end(&d->backward);
	report_number(d->rt, REPORT_STEP, d->step);
	d->step++;
	if (!job->checkpoint_steps) {
		save(d);
		next_step(d, at_ns);
	} else if (d->step % job->checkpoint_steps) {
		next_step(d, at_ns);
	} else {
		d->phase = PHASE_CHECKPOINT;
		d->due_ns = at_ns + job->checkpoint_ns;
		rt_state(d->rt, STATE_CHECKPOINT);
		rt_timer(d->rt, TIMER_CHECKPOINT, job->checkpoint_ns);
	}
}

static void computed(struct data_parallel *d, int64_t at_ns)
{
	if (!d->computing || !ends(d, PHASE_STEP, at_ns))
		return;
	d->computing = false;
	backward_ready(&d->backward, at_ns);
	if (!backward_finished(&d->backward))
		rt_state(d->rt, STATE_EXPOSED_COMM);
}

static void break_off(struct data_parallel *d)
{
	d->phase = PHASE_BROKEN;
	d->computing = false;
	rt_compute(d->rt, -1);
	rt_timer(d->rt, TIMER_CHECKPOINT, -1);
	backward_break(&d->backward);
	backward_end(&d->backward);
	rt_state(d->rt, d->group.own.has_state ? STATE_BARRIER_WAIT : STATE_RECOVER);
}

static void recovered(struct data_parallel *d)
{
	group_report_recovered(&d->group);
	rt_state(d->rt, STATE_BARRIER_WAIT);
	d->step = d->saved = d->group.own.position;
}

static void resume(struct data_parallel *d, int64_t at_ns)
{
	const struct job *job = d->rt->job;
	int64_t to = d->group.target;

	report_amount(
		d->rt, REPORT_LOST, (double)(steps_counted(job, d->step) - steps_counted(job, to)));
	report_number(d->rt, REPORT_ROLLBACK, to);
	d->step = d->saved = to;
	backward_open(&d->backward, d->group.epoch, at_ns);
	next_step(d, at_ns);
}

static void event(void *self, struct rt *rt, const struct rt_event *event)
{
	struct data_parallel *d = self;
	unsigned change = group_event(&d->group, event);

	if (change & GROUP_BROKEN)
		break_off(d);
	if (change & GROUP_FETCHED)
		recovered(d);
	if (change & GROUP_WHOLE)
		resume(d, event->at_ns);
	switch (event->kind) {
	case RT_START:
		if (event->incarnation == 0)
			next_step(d, event->at_ns);
		break;
	case RT_COMPUTE:
		computed(d, event->at_ns);
		break;
	case RT_TIMER:
		if (event->timer == TIMER_CHECKPOINT)
			checkpoint_complete(d, event->at_ns);
		else
			backward_ready(&d->backward, event->at_ns);
		break;
	case RT_MESSAGE:
		if (group_owns_ring(&d->group, event))
			backward_message(&d->backward, &event->message);
		break;
	default:
		break;
	}
	finish_step(d, event->at_ns);
}

static int64_t period(const struct job *job)
{
	return 1;
}

static int64_t settles(const struct job *job)
{
	return job->checkpoint_steps > 0 ? job->checkpoint_steps : 1;
}

const struct strategy strategy_data_parallel = {
	.name = "data-parallel",
	.summary = "gradients all-reduced in a ring every step, overlapped with the backward pass",
	.create = create,
	.event = event,
	.destroy = destroy,
	.bytes_sent = backward_bytes_sent,
	.factor = ring_job_factor,
	.period = period,
	.settles = settles,
	.exchange_bound_ns = backward_bound_ns,
};
