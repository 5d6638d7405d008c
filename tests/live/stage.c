/* Topology, links, faults and a watch for one case; see stage.h. */
#include "tests/live/stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

static void must(int r, const struct error *err)
{
	if (r < 0)
		fail_msg("%s", err->text);
}

static void set_topology(struct stage *st)
{
	struct topology_tcp tcp = {.receive_buffer = st->s->transport.buffer_bytes,
		.send_buffer = st->s->transport.buffer_bytes,
		.slow_start_after_idle = st->s->transport.slow_start_after_idle};
	const char *names[SITES_MAX];

	memcpy(tcp.congestion, st->s->transport.congestion, sizeof tcp.congestion);
	for (int i = 0; i < st->s->n_sites; i++)
		names[i] = st->s->sites[i].name;
	must(topology_up(&st->t, st->s->n_sites, names, &tcp, &st->err), &st->err);
}

/* A site's blackouts are part of its link. */
static void add_blackouts(struct stage *st, int site, struct link_direction *d)
{
	for (size_t i = 0; i < st->n_faults; i++)
		if (st->faults[i].kind == FAULT_BLACKOUT && st->faults[i].site == site) {
			d->blackouts =
				realloc(d->blackouts, (d->n_blackouts + 1) * sizeof *d->blackouts);
			assert_non_null(d->blackouts);
			d->blackouts[d->n_blackouts++] = (struct link_window){
				st->faults[i].at_ns, st->faults[i].at_ns + st->faults[i].for_ns};
		}
}

static void set_links(struct stage *st)
{
	const struct scenario *s = st->s;

	st->plan.seed = s->seed;
	memcpy(st->plan.core_delay_ns, s->core_delay_ns, sizeof s->core_delay_ns);
	for (int i = 0; i < s->n_sites; i++)
		for (int d = 0; d < DIRECTIONS; d++) {
			link_direction_dilate(
				&st->plan.links[i][d], &s->links[s->sites[i].link].direction[d], 1);
			add_blackouts(st, i, &st->plan.links[i][d]);
		}
	must(backend_relay.up(&st->links, st->t, &st->plan, &st->err), &st->err);
}

void stage_up(struct stage *st, const char *text)
{
	static bool isolated;

	*st = (struct stage){0};
	if (backend_relay.probe(&st->err) < 0 || (!isolated && topology_isolate(&st->err) < 0)) {
		print_message("# %s\n", st->err.text);
		skip();
	}
	isolated = true;
	must(scenario_load_text(&st->file, "test.yaml", text, strlen(text), NULL, 0, &st->err),
		&st->err);
	st->s = st->file->cases[0];
	st->n_faults = fault_schedule(st->s->faults, st->s->n_faults, st->s->seed, st->s->n_sites,
		st->s->limit_ns, &st->faults);
	set_topology(st);
	set_links(st);
}

void stage_down(struct stage *st)
{
	backend_relay.down(st->links);
	topology_down(st->t);
	for (int i = 0; i < st->s->n_sites; i++)
		for (int d = 0; d < DIRECTIONS; d++)
			link_direction_release(&st->plan.links[i][d]);
	free(st->faults);
	scenario_file_free(st->file);
}

static struct stage *stage_of(void *user)
{
	return container_of((struct watch *)user, struct stage, watch);
}

static void links_start(void *user, int64_t t0_ns)
{
	backend_relay.start(stage_of(user)->links, t0_ns);
}

static void count_exchanges(void *user, int p, int64_t at_ns, const struct rt_report *report)
{
	struct stage *st = stage_of(user);

	if (report->kind == REPORT_EXCHANGE) {
		st->exchanges[p]++;
		st->exchange_s[p] = report->amount;
	}
	watch_observer.report(user, p, at_ns, report);
}

void stage_run(struct stage *st)
{
	struct observer observer = watch_observer;

	observer.user = &st->watch;
	observer.report = count_exchanges;
	watch_begin(&st->watch, &st->s->job);
	must(live_run(st->s, st->t, st->faults, st->n_faults, links_start, &observer, &st->result,
		     &st->err),
		&st->err);
	watch_end(&st->watch, st->result.wall_ns);
}
