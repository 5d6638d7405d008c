/* The runtime in virtual time; see virtual.h. */
#include "tests/job/virtual.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/heap.h"
#include "base/memory.h"
#include "base/random.h"

enum happening_kind {
	HAPPENING_COMPUTE,
	HAPPENING_TIMER,
	HAPPENING_UP_FREE,
	HAPPENING_FIRST_BIT,
	HAPPENING_DOWN_FREE,
	HAPPENING_LOCAL,
	HAPPENING_CRASH,
	HAPPENING_RESTART,
	HAPPENING_NOTICE_DOWN,
	HAPPENING_NOTICE_UP,
};

struct parcel {
	int from, to;
	uint32_t from_incarnation, to_incarnation;
	int pieces, sent, arrived;
	bool void_; /* its sender or its receiver is gone */
	struct rt_message message;
	struct parcel *next; /* in the uplink's queue */
};

struct piece {
	struct parcel *parcel;
	int64_t bytes, tail_ns; /* when its last bit arrives at the downlink */
	struct piece *next;
};

struct line {
	int64_t rate_bps;
	bool busy;
	int64_t free_ns, remainder;	       /* of the last serialisation, in 1/rate ns */
	struct parcel *parcels, **parcels_end; /* uplink */
	struct piece *pieces, **pieces_end;    /* downlink */
};

struct happening {
	struct heap_node node;
	enum happening_kind kind;
	int who, peer, timer;
	uint64_t generation;
	uint32_t incarnation;
	int64_t for_ns;
	struct parcel *parcel;
	struct piece *piece;
};

struct participant {
	struct rt rt;
	struct world *world;
	void *strategy;
	bool alive;
	uint32_t incarnation;
	uint64_t compute_generation, timer_generation[8];
	bool computing, timing[8];
	bool connected[PARTICIPANTS_MAX];
	uint32_t known[PARTICIPANTS_MAX]; /* incarnations */
};

struct world {
	const struct virtual_setup *setup;
	struct virtual_result *out;
	struct heap heap;
	int64_t now_ns;
	uint64_t draws;
	int n, n_done;
	struct participant part[PARTICIPANTS_MAX];
	struct line up[PARTICIPANTS_MAX], down[PARTICIPANTS_MAX];
};

static struct happening *soon(struct world *w, enum happening_kind kind, int who, int64_t at_ns)
{
	struct happening *h = memory_zero(1, sizeof *h);

	h->kind = kind;
	h->who = who;
	heap_push(&w->heap, &h->node, at_ns);
	return h;
}

static int64_t draw_ns(struct world *w, int64_t most_ns)
{
	double u = random_unit(w->setup->job->seed, 0, RANDOM_JITTER, w->draws++);

	return (int64_t)(u * (double)most_ns);
}

static uint64_t epoch_of(const struct participant *p)
{
	uint64_t sum = 0;

	for (int i = 0; i < p->world->n; i++)
		sum += i == p->rt.self ? p->incarnation : p->known[i];
	return sum;
}

static void deliver(struct participant *p, struct rt_event event)
{
	event.at_ns = p->world->now_ns;
	event.epoch = epoch_of(p);
	p->world->setup->strategy->event(p->strategy, &p->rt, &event);
}

/* Links. */

static int64_t serialise(struct line *line, int64_t at_ns, int64_t bytes)
{
	__int128 amount = (__int128)bytes * 8 * NS_PER_S;

	if (!line->rate_bps)
		return at_ns;
	if (at_ns == line->free_ns)
		amount += line->remainder;
	line->remainder = (int64_t)(amount % line->rate_bps);
	line->free_ns = at_ns + (int64_t)(amount / line->rate_bps);
	return line->free_ns;
}

static void drop_parcel(struct parcel *parcel)
{
	if (parcel->void_ && parcel->arrived == parcel->sent)
		free(parcel);
}

static void uplink_next(struct world *w, int site)
{
	struct line *line = &w->up[site];
	struct parcel *parcel = line->parcels;
	struct happening *h;
	struct piece *piece;
	int64_t end_ns, way_ns;

	if (line->busy || !parcel)
		return;
	piece = memory_zero(1, sizeof *piece);
	piece->parcel = parcel;
	piece->bytes = share_of(parcel->message.bytes, parcel->sent++, parcel->pieces);
	w->out->up_bytes[site] += piece->bytes;
	end_ns = serialise(line, w->now_ns, piece->bytes);
	way_ns = w->setup->one_way_ns + draw_ns(w, w->setup->jitter_ns);
	piece->tail_ns = end_ns + way_ns;
	line->busy = true;
	if (parcel->sent == parcel->pieces) {
		line->parcels = parcel->next;
		if (!line->parcels)
			line->parcels_end = &line->parcels;
	}
	soon(w, HAPPENING_UP_FREE, site, end_ns);
	h = soon(w, HAPPENING_FIRST_BIT, job_site(w->setup->job, parcel->to), w->now_ns + way_ns);
	h->piece = piece;
}

static void downlink_next(struct world *w, int site)
{
	struct line *line = &w->down[site];
	struct piece *piece = line->pieces;
	struct happening *h;
	int64_t end_ns;

	if (line->busy || !piece)
		return;
	line->pieces = piece->next;
	if (!line->pieces)
		line->pieces_end = &line->pieces;
	line->busy = true;
	end_ns = serialise(line, w->now_ns, piece->bytes);
	if (end_ns < piece->tail_ns)
		end_ns = piece->tail_ns;
	h = soon(w, HAPPENING_DOWN_FREE, site, end_ns);
	h->piece = piece;
}

/* Takes parcels that `gone` says are void out of a site's uplink. */
static void purge(struct world *w, int site, int from, int to)
{
	struct line *line = &w->up[site];
	struct parcel **at = &line->parcels;

	while (*at) {
		struct parcel *parcel = *at;

		if (parcel->from == from && (to < 0 || parcel->to == to)) {
			*at = parcel->next;
			parcel->void_ = true;
			drop_parcel(parcel);
		} else {
			at = &parcel->next;
		}
	}
	line->parcels_end = at;
}

/* Membership. */

static void notice_down(struct participant *p, int peer)
{
	if (!p->connected[peer])
		return;
	p->connected[peer] = false;
	purge(p->world, job_site(p->rt.job, p->rt.self), p->rt.self, peer);
	deliver(p, (struct rt_event){.kind = RT_PEER_DOWN, .peer = peer});
}

static void notice_up(struct participant *p, int peer)
{
	uint32_t incarnation = p->world->part[peer].incarnation;

	if (p->connected[peer] && p->known[peer] == incarnation)
		return;
	notice_down(p, peer);
	p->connected[peer] = true;
	p->known[peer] = incarnation;
	deliver(p, (struct rt_event){.kind = RT_PEER_UP, .peer = peer, .incarnation = incarnation});
}

static void arrive(struct world *w, struct parcel *parcel)
{
	struct participant *to = &w->part[parcel->to], *from = &w->part[parcel->from];
	struct rt_event event = {.kind = RT_MESSAGE, .peer = parcel->from};

	event.message = parcel->message;
	if (!to->alive || to->incarnation != parcel->to_incarnation)
		return;
	if (from->alive && from->incarnation == parcel->from_incarnation)
		notice_up(to, parcel->from);
	if (to->connected[parcel->from] && to->known[parcel->from] == parcel->from_incarnation)
		deliver(to, event);
}

/* The strategy's side. */

static struct participant *participant_of(struct rt *rt)
{
	return container_of(rt, struct participant, rt);
}

static void vt_compute(struct rt *rt, int64_t ns)
{
	struct participant *p = participant_of(rt);
	uint64_t generation = ++p->compute_generation;
	bool stale = p->world->setup->stale && ns < 0 && p->computing;

	assert(ns < 0 || !p->computing);
	p->computing = ns >= 0;
	if (stale)
		ns = 0;
	if (ns >= 0)
		soon(p->world, HAPPENING_COMPUTE, rt->self, p->world->now_ns + ns)->generation =
			generation;
}

static void vt_timer(struct rt *rt, int timer, int64_t ns)
{
	struct participant *p = participant_of(rt);
	uint64_t generation = ++p->timer_generation[timer];
	bool stale = p->world->setup->stale && ns < 0 && p->timing[timer];
	struct happening *h;

	p->timing[timer] = ns >= 0;
	if (stale)
		ns = 0;
	if (ns < 0)
		return;
	h = soon(p->world, HAPPENING_TIMER, rt->self, p->world->now_ns + ns);
	h->timer = timer;
	h->generation = generation;
}

static void vt_send(struct rt *rt, int peer, const struct rt_message *message)
{
	struct participant *p = participant_of(rt);
	struct world *w = p->world;
	int site = job_site(rt->job, rt->self);
	struct parcel *parcel;

	assert(peer >= 0 && peer < w->n && peer != rt->self && message->bytes >= 0);
	if (w->setup->on_send)
		w->setup->on_send(w->setup->user, rt->self, peer, w->now_ns, message);
	if (!p->connected[peer])
		return;
	parcel = memory_zero(1, sizeof *parcel);
	*parcel = (struct parcel){
		.from = rt->self,
		.to = peer,
		.from_incarnation = p->incarnation,
		.to_incarnation = p->known[peer],
		.pieces = w->setup->pieces > 1 ? w->setup->pieces : 1,
		.message = *message,
	};
	parcel->message.sent_ns = w->now_ns;
	if (site == job_site(rt->job, peer)) {
		w->out->local_bytes[rt->self] += message->bytes;
		soon(w, HAPPENING_LOCAL, peer, w->now_ns)->parcel = parcel;
		return;
	}
	w->out->sent_bytes[rt->self] += message->bytes;
	if (message->bytes < parcel->pieces)
		parcel->pieces = 1;
	*w->up[site].parcels_end = parcel;
	w->up[site].parcels_end = &parcel->next;
	uplink_next(w, site);
}

static void vt_state(struct rt *rt, enum state state)
{
	struct world *w = participant_of(rt)->world;

	ledger_state(&w->out->ledger[rt->self], w->now_ns, state);
}

static void vt_report(struct rt *rt, const struct rt_report *report)
{
	struct world *w = participant_of(rt)->world;

	ledger_report(&w->out->ledger[rt->self], w->now_ns, report);
	if (report->kind == REPORT_STEP && report->a > w->out->last_step[rt->self])
		w->out->last_step[rt->self] = report->a;
	w->out->merges[rt->self] += report->kind == REPORT_MERGE;
	if (w->setup->on_report)
		w->setup->on_report(w->setup->user, rt->self, w->now_ns, report);
}

static void vt_done(struct rt *rt)
{
	struct world *w = participant_of(rt)->world;

	ledger_finish(&w->out->ledger[rt->self], w->now_ns);
	if (w->out->done_ns[rt->self] >= 0)
		return;
	w->out->done_ns[rt->self] = w->now_ns;
	w->n_done++;
}

static const struct rt_ops ops = {vt_compute, vt_send, vt_timer, vt_state, vt_report, vt_done};

/* Faults. */

static void crash(struct world *w, int who, int64_t for_ns)
{
	struct participant *p = &w->part[who];
	int64_t half_ns = w->setup->detect_ns / 2;

	if (!p->alive)
		return;
	w->out->crashes++;
	p->alive = false;
	p->computing = false;
	p->compute_generation++;
	for (int t = 0; t < 8; t++) {
		p->timer_generation[t]++;
		p->timing[t] = false;
	}
	w->setup->strategy->destroy(p->strategy);
	p->strategy = NULL;
	ledger_state(&w->out->ledger[who], w->now_ns, STATE_DOWN);
	purge(w, job_site(w->setup->job, who), who, -1);
	for (int i = 0; i < w->n; i++) {
		struct happening *h;

		if (i == who)
			continue;
		h = soon(w, HAPPENING_NOTICE_DOWN, i, w->now_ns + half_ns + draw_ns(w, half_ns));
		h->peer = who;
		h->incarnation = p->incarnation;
	}
	soon(w, HAPPENING_RESTART, who, w->now_ns + for_ns);
}

static void meet(struct world *w, int who, int peer)
{
	int64_t half_ns = w->setup->detect_ns / 2;
	struct happening *h =
		soon(w, HAPPENING_NOTICE_UP, who, w->now_ns + half_ns + draw_ns(w, half_ns));

	h->peer = peer;
	h->incarnation = w->part[peer].incarnation;
}

static void restart(struct world *w, int who)
{
	struct participant *p = &w->part[who];

	p->alive = true;
	p->incarnation++;
	p->strategy = w->setup->strategy->create(&p->rt);
	for (int i = 0; i < w->n; i++) {
		bool known = !w->setup->strangers;

		p->known[i] = known ? w->part[i].incarnation : 0;
		p->connected[i] = known;
	}
	deliver(p, (struct rt_event){.kind = RT_START, .incarnation = p->incarnation});
	for (int i = 0; i < w->n; i++) {
		if (i == who)
			continue;
		if (!w->part[i].alive) {
			notice_down(p, i);
			continue;
		}
		meet(w, i, who);
		if (w->setup->strangers)
			meet(w, who, i);
	}
}

static void happen(struct world *w, struct happening *h)
{
	struct participant *p = &w->part[h->who];
	struct participant *peer = &w->part[h->peer];

	switch (h->kind) {
	case HAPPENING_COMPUTE:
		if (h->generation != p->compute_generation)
			break;
		p->computing = false;
		deliver(p, (struct rt_event){.kind = RT_COMPUTE});
		break;
	case HAPPENING_TIMER:
		if (h->generation != p->timer_generation[h->timer])
			break;
		p->timing[h->timer] = false;
		deliver(p, (struct rt_event){.kind = RT_TIMER, .timer = h->timer});
		break;
	case HAPPENING_UP_FREE:
		w->up[h->who].busy = false;
		uplink_next(w, h->who);
		break;
	case HAPPENING_FIRST_BIT:
		*w->down[h->who].pieces_end = h->piece;
		w->down[h->who].pieces_end = &h->piece->next;
		downlink_next(w, h->who);
		break;
	case HAPPENING_DOWN_FREE:
		w->down[h->who].busy = false;
		if (++h->piece->parcel->arrived == h->piece->parcel->pieces) {
			arrive(w, h->piece->parcel);
			h->piece->parcel->void_ = true;
		}
		drop_parcel(h->piece->parcel);
		free(h->piece);
		downlink_next(w, h->who);
		break;
	case HAPPENING_LOCAL:
		arrive(w, h->parcel);
		free(h->parcel);
		break;
	case HAPPENING_CRASH:
		crash(w, h->who, h->for_ns);
		break;
	case HAPPENING_RESTART:
		restart(w, h->who);
		break;
	case HAPPENING_NOTICE_DOWN:
		if (p->alive && p->known[h->peer] == h->incarnation)
			notice_down(p, h->peer);
		break;
	case HAPPENING_NOTICE_UP:
		if (p->alive && peer->alive && peer->incarnation == h->incarnation)
			notice_up(p, h->peer);
		break;
	}
}

static void set_up(struct world *w)
{
	const struct job *job = w->setup->job;

	w->n = job_participants(job);
	for (int i = 0; i < PARTICIPANTS_MAX; i++) {
		int64_t rate_bps = w->setup->rate_bps;

		if (job->syncer == SYNCER_STAR && i == job->n_learners && w->setup->hub_bps)
			rate_bps = w->setup->hub_bps;
		w->up[i] = w->down[i] = (struct line){.rate_bps = rate_bps, .free_ns = -1};
		w->up[i].parcels_end = &w->up[i].parcels;
		w->down[i].pieces_end = &w->down[i].pieces;
		w->out->done_ns[i] = w->out->last_step[i] = -1;
	}
	for (size_t i = 0; i < w->setup->n_crashes; i++)
		soon(w, HAPPENING_CRASH, w->setup->crashes[i].site, w->setup->crashes[i].at_ns)
			->for_ns = w->setup->crashes[i].for_ns;
	for (int i = 0; i < w->n; i++) {
		struct participant *p = &w->part[i];

		*p = (struct participant){.rt = {&ops, job, i}, .world = w, .alive = true};
		for (int k = 0; k < w->n; k++)
			p->connected[k] = true;
		p->strategy = w->setup->strategy->create(&p->rt);
		ledger_start(&w->out->ledger[i], 0, STATE_IDLE);
	}
	for (int i = 0; i < w->n; i++)
		deliver(&w->part[i], (struct rt_event){.kind = RT_START});
}

/* Pieces on the line are dropped with their happening, queued ones with their line. */
static void clean_up(struct world *w)
{
	struct happening *h;
	struct heap_node *node;

	for (int i = 0; i < w->n; i++) {
		if (w->part[i].alive)
			w->setup->strategy->destroy(w->part[i].strategy);
		for (int to = 0; to < w->n; to++)
			purge(w, i, to, -1);
	}
	while ((node = heap_pop(&w->heap))) {
		h = container_of(node, struct happening, node);
		if (h->kind == HAPPENING_FIRST_BIT) {
			*w->down[h->who].pieces_end = h->piece;
			w->down[h->who].pieces_end = &h->piece->next;
		} else if (h->kind == HAPPENING_DOWN_FREE) {
			h->piece->next = w->down[h->who].pieces;
			if (!w->down[h->who].pieces)
				w->down[h->who].pieces_end = &h->piece->next;
			w->down[h->who].pieces = h->piece;
		}
		free(h->parcel);
		free(h);
	}
	for (int i = 0; i < PARTICIPANTS_MAX; i++) {
		for (struct piece *p = w->down[i].pieces, *next; p; p = next) {
			next = p->next;
			p->parcel->arrived++;
			p->parcel->void_ = true;
			drop_parcel(p->parcel);
			free(p);
		}
	}
	heap_release(&w->heap);
}

void virtual_run(const struct virtual_setup *setup, struct virtual_result *out)
{
	struct world *w = memory_zero(1, sizeof *w);
	struct heap_node *node;

	*out = (struct virtual_result){0};
	w->setup = setup;
	w->out = out;
	set_up(w);
	while ((node = heap_pop(&w->heap))) {
		struct happening *h = container_of(node, struct happening, node);

		w->now_ns = node->at_ns;
		happen(w, h);
		free(h);
		if (w->n_done == setup->job->n_learners && !setup->run_on)
			break;
		if (setup->limit_ns && w->now_ns > setup->limit_ns)
			break;
	}
	out->end_ns = w->now_ns;
	out->all_done = w->n_done == setup->job->n_learners;
	for (int i = 0; i < w->n; i++)
		ledger_finish(&out->ledger[i], w->now_ns);
	clean_up(w);
	free(w);
}
