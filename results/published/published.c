/* The list of published tables, and the grid some of them are printed from. */
#include "results/published/published.h"

#include <math.h>
#include <string.h>

#include "results/published/tables.h"

#define GRID_FROM 8. /* log10 of the first point, bit/s */
#define GRID_DECADES 4.

static const struct published_table *const tables[] = {
	&published_web_simulator,
	&published_streaming_diloco,
	&published_scaling_laws,
	&published_decoupled_goodput,
	&published_diloco_measured,
	&published_diloco_measured_sync,
	&published_ft_diloco,
	&published_intellect_1,
	&published_intellect_1_utilisation,
};

const struct published_table *published_at(size_t i)
{
	return i < sizeof tables / sizeof *tables ? tables[i] : NULL;
}

const struct published_table *published_find(const char *name)
{
	const struct published_table *t;

	for (size_t i = 0; (t = published_at(i)); i++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

double published_grid_bps(int i)
{
	return pow(10, GRID_FROM + GRID_DECADES * i / (PUBLISHED_GRID_POINTS - 1));
}

int published_grid_steps(int i, double printed_bps)
{
	double point =
		(log10(printed_bps) - GRID_FROM) * (PUBLISHED_GRID_POINTS - 1) / GRID_DECADES;

	return i - (int)lround(point);
}
