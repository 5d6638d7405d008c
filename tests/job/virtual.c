/*
 * The runtime in virtual time: the model's world over lines of its own; see virtual.h.
 */
#include "tests/job/virtual.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "bench/model/world.h"

/* A message on a line. */
struct load {
	struct parcel *parcel;
	int to_site;
	int pieces, sent, arrived;
	bool gone; /* its sender or its receiver is */
	struct load *next;
};

struct piece {
	struct world_event event; /* its first bit reaches the downlink; or it is through */
	struct lines *lines;
	struct load *load;
	int64_t bytes, tail_ns; /* when its last bit arrives at the downlink */
	struct piece *next;	/* in the downlink */
};

struct line {
	struct world_event free;
	struct lines *lines;
	int64_t rate_bps;
	bool busy;
	int64_t free_ns, remainder;	    /* of the last serialisation, in 1/rate ns */
	struct load *loads, **loads_end;    /* uplink */
	struct piece *pieces, **pieces_end; /* downlink */
};

struct crash {
	struct world_event event;
	struct lines *lines;
	const struct fault *fault;
};

struct lines {
	struct network network;
	struct world world;
	const struct virtual_setup *setup;
	struct virtual_result *out;
	uint64_t draws;
	struct line up[PARTICIPANTS_MAX], down[PARTICIPANTS_MAX];
	struct crash *crashes;
};

static int64_t draw_ns(struct lines *l, int64_t most_ns)
{
	double u = random_unit(l->setup->job->seed, 0, RANDOM_JITTER, l->draws++);

	return (int64_t)(u * (double)most_ns);
}

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

static void drop_load(struct load *load)
{
	if (load->gone && load->arrived == load->sent)
		free(load);
}

/* Gives the parcel back without its having arrived. */
static void forget(struct lines *l, struct load *load)
{
	world_forget(&l->world, load->parcel);
	load->gone = true;
}

static void first_bit(struct world_event *event);

static void uplink_next(struct lines *l, int site)
{
	struct line *line = &l->up[site];
	struct load *load = line->loads;
	struct piece *piece;
	int64_t end_ns, way_ns;

	if (line->busy || !load)
		return;
	piece = memory_zero(1, sizeof *piece);
	piece->event.fire = first_bit;
	piece->lines = l;
	piece->load = load;
	piece->bytes = share_of(load->parcel->message.bytes, load->sent++, load->pieces);
	l->out->up_bytes[site] += piece->bytes;
	end_ns = serialise(line, l->world.now_ns, piece->bytes);
	way_ns = l->setup->one_way_ns + draw_ns(l, l->setup->jitter_ns);
	piece->tail_ns = end_ns + way_ns;
	line->busy = true;
	if (load->sent == load->pieces) {
		line->loads = load->next;
		if (!line->loads)
			line->loads_end = &line->loads;
	}
	world_set(&l->world, &line->free, end_ns);
	world_set(&l->world, &piece->event, l->world.now_ns + way_ns);
}

static void uplink_free(struct world_event *event)
{
	struct line *line = container_of(event, struct line, free);

	line->busy = false;
	uplink_next(line->lines, (int)(line - line->lines->up));
}

static void downlink_next(struct lines *l, int site)
{
	struct line *line = &l->down[site];
	struct piece *piece = line->pieces;
	int64_t end_ns;

	if (line->busy || !piece)
		return;
	line->busy = true;
	end_ns = serialise(line, l->world.now_ns, piece->bytes);
	world_set(&l->world, &line->free, end_ns < piece->tail_ns ? piece->tail_ns : end_ns);
}

static void first_bit(struct world_event *event)
{
	struct piece *piece = container_of(event, struct piece, event);
	struct line *line = &piece->lines->down[piece->load->to_site];

	*line->pieces_end = piece;
	line->pieces_end = &piece->next;
	downlink_next(piece->lines, piece->load->to_site);
}

static void downlink_free(struct world_event *event)
{
	struct line *line = container_of(event, struct line, free);
	struct lines *l = line->lines;
	struct piece *piece = line->pieces;
	struct load *load = piece->load;

	line->busy = false;
	line->pieces = piece->next;
	if (!line->pieces)
		line->pieces_end = &line->pieces;
	free(piece);
	if (++load->arrived == load->pieces && !load->gone) {
		load->gone = true;
		world_arrive(&l->world, load->parcel);
	}
	drop_load(load);
	downlink_next(l, (int)(line - l->down));
}

static void lines_send(struct network *network, struct parcel *parcel)
{
	struct lines *l = container_of(network, struct lines, network);
	const struct job *job = l->setup->job;
	int site = job_site(job, parcel->from);
	struct load *load = memory_zero(1, sizeof *load);

	load->parcel = parcel;
	load->to_site = job_site(job, parcel->to);
	load->pieces = l->setup->pieces > 1 ? l->setup->pieces : 1;
	if (parcel->message.bytes < load->pieces)
		load->pieces = 1;
	l->out->sent_bytes[parcel->from] += parcel->message.bytes;
	*l->up[site].loads_end = load;
	l->up[site].loads_end = &load->next;
	uplink_next(l, site);
}

static void lines_purge(struct network *network, int from, int to)
{
	struct lines *l = container_of(network, struct lines, network);
	struct line *line = &l->up[job_site(l->setup->job, from)];
	struct load **at = &line->loads;

	while (*at) {
		struct load *load = *at;

		if (load->parcel->from == from && (to < 0 || load->parcel->to == to)) {
			*at = load->next;
			forget(l, load);
			drop_load(load);
		} else {
			at = &load->next;
		}
	}
	line->loads_end = at;
}

/* What participants do. */

static void on_state(void *user, int self, int64_t at_ns, enum state state)
{
	struct lines *l = user;

	ledger_state(&l->out->ledger[self], at_ns, state);
}

static void on_report(void *user, int self, int64_t at_ns, const struct rt_report *report)
{
	struct lines *l = user;

	ledger_report(&l->out->ledger[self], at_ns, report);
	if (report->kind == REPORT_STEP && report->a > l->out->last_step[self])
		l->out->last_step[self] = report->a;
	l->out->merges[self] += report->kind == REPORT_MERGE;
	if (l->setup->on_report)
		l->setup->on_report(l->setup->user, self, at_ns, report);
}

static void on_done(void *user, int self, int64_t at_ns)
{
	struct lines *l = user;

	ledger_finish(&l->out->ledger[self], at_ns);
	if (l->out->done_ns[self] < 0)
		l->out->done_ns[self] = at_ns;
}

static void on_send(void *user, int self, int peer, int64_t at_ns, const struct rt_message *m)
{
	const struct lines *l = user;

	if (l->setup->on_send)
		l->setup->on_send(l->setup->user, self, peer, at_ns, m);
}

static int64_t soon(struct lines *l)
{
	int64_t half_ns = l->setup->detect_ns / 2;

	return half_ns + draw_ns(l, half_ns);
}

static int64_t until_lost(void *user, int who, int peer)
{
	return soon(user);
}

static int64_t until_met(void *user, int who, int peer, int newcomer)
{
	return soon(user);
}

static void crash_due(struct world_event *event)
{
	struct crash *c = container_of(event, struct crash, event);
	struct world *w = &c->lines->world;

	c->lines->out->crashes += w->part[c->fault->site].present;
	world_crash(w, c->fault->site, c->fault->for_ns);
}

/* Life. */

static void set_up_lines(struct lines *l)
{
	const struct job *job = l->setup->job;

	for (int i = 0; i < PARTICIPANTS_MAX; i++) {
		bool hub = job->syncer == SYNCER_STAR && i == job->n_learners && l->setup->hub_bps;
		struct line line = {.lines = l,
			.rate_bps = hub ? l->setup->hub_bps : l->setup->rate_bps,
			.free_ns = -1};

		l->up[i] = l->down[i] = line;
		l->up[i].free.fire = uplink_free;
		l->down[i].free.fire = downlink_free;
		l->up[i].loads_end = &l->up[i].loads;
		l->down[i].pieces_end = &l->down[i].pieces;
	}
}

static void set_up(struct lines *l, const struct observer *observer)
{
	const struct virtual_setup *setup = l->setup;

	l->network = (struct network){.send = lines_send, .purge = lines_purge};
	set_up_lines(l);
	world_init(
		&l->world, &(struct world_config){
				   .job = setup->job,
				   .strategy = setup->strategy,
				   .network = &l->network,
				   .observer = observer,
				   .notices = {until_lost, until_met},
				   .user = l,
				   .join = setup->strangers ? JOIN_AMONG_STRANGERS : JOIN_AT_ONCE,
				   .stale = setup->stale,
				   .on_send = on_send,
			   });
	l->crashes = memory_zero(setup->n_crashes + 1, sizeof *l->crashes);
	for (size_t i = 0; i < setup->n_crashes; i++) {
		l->crashes[i] = (struct crash){{.fire = crash_due}, l, &setup->crashes[i]};
		world_set(&l->world, &l->crashes[i].event, setup->crashes[i].at_ns);
	}
	for (int i = 0; i < PARTICIPANTS_MAX; i++)
		l->out->done_ns[i] = l->out->last_step[i] = -1;
	for (int i = 0; i < l->world.n; i++)
		ledger_start(&l->out->ledger[i], 0, STATE_IDLE, INFINITY);
}

static void drop_piece(struct lines *l, struct piece *piece)
{
	struct load *load = piece->load;

	load->arrived++;
	if (!load->gone)
		forget(l, load);
	drop_load(load);
	free(piece);
}

/* Pieces on the way are events, the others in their line; a load goes with its last piece. */
static void clean_up(struct lines *l)
{
	struct heap_node *node;

	for (int i = 0; i < l->world.n; i++)
		for (int from = 0; from < l->world.n; from++)
			if (job_site(l->setup->job, from) == i)
				lines_purge(&l->network, from, -1);
	for (size_t i = l->world.heap.count; i > 0; i--) {
		struct world_event *event;

		node = l->world.heap.nodes[i];
		event = container_of(node, struct world_event, node);
		if (event->fire != first_bit)
			continue;
		world_cancel(&l->world, event);
		drop_piece(l, container_of(event, struct piece, event));
		i = l->world.heap.count + 1;
	}
	for (int i = 0; i < PARTICIPANTS_MAX; i++) {
		for (struct piece *p = l->down[i].pieces, *next; p; p = next) {
			next = p->next;
			drop_piece(l, p);
		}
	}
	world_release(&l->world);
	free(l->crashes);
}

void virtual_run(const struct virtual_setup *setup, struct virtual_result *out)
{
	struct lines *l = memory_zero(1, sizeof *l);
	const struct observer observer = {
		.user = l, .state = on_state, .report = on_report, .done = on_done};
	int n = setup->job->n_learners;

	*out = (struct virtual_result){0};
	l->setup = setup;
	l->out = out;
	set_up(l, &observer);
	world_start(&l->world);
	while ((l->world.n_done < n || setup->run_on) &&
		!(setup->limit_ns && l->world.now_ns > setup->limit_ns))
		if (!world_step(&l->world))
			break;
	out->end_ns = l->world.now_ns;
	out->all_done = l->world.n_done == n;
	for (int i = 0; i < l->world.n; i++) {
		out->local_bytes[i] = (int64_t)l->world.local_bytes[i];
		ledger_finish(&out->ledger[i], l->world.now_ns);
	}
	clean_up(l);
	free(l);
}
