/* What of links that change the plan does not know, since it takes each at its base; see plan.h. */
#include <stdio.h>

#include "base/clock.h"
#include "base/units.h"
#include "bench/plan.h"

#define PIECES_MAX 1000000 /* of a link's future that are looked at */

struct mean {
	double out, rate_bps; /* share of the time; what passes on average, out times included */
};

static struct mean mean_of(const struct link_direction *d, enum direction which, int64_t end_ns)
{
	double out_ns = 0, bits = 0, total_ns;
	int64_t at_ns = 0, until_ns;

	for (int i = 0; i < PIECES_MAX && at_ns < end_ns; i++, at_ns = until_ns) {
		struct link_state state;
		double ns;

		link_at(d, which, at_ns, &state, &until_ns);
		until_ns = until_ns < end_ns ? until_ns : end_ns;
		ns = (double)(until_ns - at_ns);
		if (state.down)
			out_ns += ns;
		else
			bits += ns * (double)state.rate_bps;
	}
	total_ns = at_ns > 0 ? (double)at_ns : 1;
	return (struct mean){out_ns / total_ns, bits / total_ns};
}

static void check_direction(const struct plan *plan, const struct link_profile *link,
	enum direction which, plan_say *say, void *user)
{
	const struct link_direction *d = &link->direction[which];
	struct mean mean = mean_of(d, which, plan->expected_wall_ns);
	char base[32], rate[32], wall[32], text[512];

	if (mean.out <= 0 && mean.rate_bps > .999 * (double)d->base.rate_bps)
		return;
	snprintf(text, sizeof text,
		"the plan takes link %s, %s, at its base of %s; in the expected %s it is out for "
		"%.0f %% of the time and carries at most %s on average, which comes on top",
		link->name, direction_name(which),
		quantity_format(base, sizeof base, QUANTITY_RATE, d->base.rate_bps, false),
		quantity_format(wall, sizeof wall, QUANTITY_TIME, plan->expected_wall_ns, false),
		100 * mean.out,
		quantity_format(rate, sizeof rate, QUANTITY_RATE, (int64_t)mean.rate_bps, false));
	say(user, text);
}

static bool is_used(const struct scenario *s, size_t link)
{
	for (int i = 0; i < s->n_sites; i++)
		if ((size_t)s->sites[i].link == link)
			return true;
	return false;
}

void plan_check_links(const struct plan *plan, const struct scenario *s, plan_say *say, void *user)
{
	for (size_t i = 0; i < s->n_links; i++)
		for (enum direction d = UP; is_used(s, i) && d < DIRECTIONS; d++)
			check_direction(plan, &s->links[i], d, say, user);
}
