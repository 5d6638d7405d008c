/* The loss processes of a link; see loss.h. */
#include "emu/loss.h"

#include "base/random.h"

void loss_init(struct loss_chain *c, uint64_t seed, uint32_t entity)
{
	*c = (struct loss_chain){.seed = seed, .entity = entity};
}

/* Whether the next segment falls into a burst. */
static bool burst_step(struct loss_chain *c, const struct link_state *s)
{
	double leave = 1 / s->burst_length;
	double enter = s->burst_loss * leave / (1 - s->burst_loss);
	double u = random_unit(c->seed, c->entity, RANDOM_BURST, c->segment);

	c->bad = c->bad ? u >= leave : u < enter;
	return c->bad;
}

enum drop_cause loss_next(struct loss_chain *c, const struct link_state *s)
{
	enum drop_cause cause = DROP_CAUSES;

	if (s->loss > 0 && random_unit(c->seed, c->entity, RANDOM_LOSS, c->segment) < s->loss)
		cause = DROP_RANDOM;
	if (s->burst_loss > 0 && burst_step(c, s))
		cause = DROP_BURST;
	if (s->down)
		cause = DROP_OUTAGE;
	c->segment++;
	return cause;
}
