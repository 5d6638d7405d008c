/* One message; see burst.h. */
#include "tests/model/burst.h"

static void *create(struct rt *rt)
{
	return rt;
}

static void event(void *self, struct rt *rt, const struct rt_event *e)
{
	const struct rt_message m = {.bytes = rt->job->parameters};

	if (e->kind == RT_START && rt->self == 0) {
		rt_send(rt, 1, &m);
		rt_done(rt);
	} else if (e->kind == RT_MESSAGE) {
		rt_done(rt);
	}
}

static void destroy(void *self)
{
}

const struct strategy burst_strategy = {
	.name = "burst", .create = create, .event = event, .destroy = destroy};

struct burst burst_load(const char *text)
{
	struct burst b = {.file = load_ok(text)};

	b.s = b.file->cases[0];
	b.s->strategy = &burst_strategy;
	b.n_faults = fault_schedule(
		b.s->faults, b.s->n_faults, b.s->seed, b.s->n_sites, b.s->limit_ns, &b.faults);
	return b;
}

void burst_free(struct burst *b)
{
	free(b->faults);
	scenario_file_free(b->file);
}

double burst_run(const struct burst *b, struct outcome *out)
{
	static struct link_plan links;
	struct outcome *own = memory_zero(1, sizeof *own);
	const struct observer nobody = {0};
	struct error err = {0};
	double s;

	own->links = memory_zero((size_t)b->s->n_sites, sizeof *own->links);
	links_make(&links, b->s, b->faults, b->n_faults);
	assert_int_equal(model_run(b->s, b->faults, b->n_faults, &links, &nobody, own, &err), 0);
	assert_int_equal(own->end, END_DONE);
	links_release(&links, b->s->n_sites);
	s = (double)own->wall_ns / NS_PER_S;
	free(own->links);
	own->links = NULL;
	if (out)
		*out = *own;
	free(own);
	return s;
}
