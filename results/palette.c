/*
 * The table of looks; see palette.h. Luminance (0 to 255) stands beside each colour; in a
 * timeline, where there are no patterns, the height of a state's bar tells neighbours apart: work
 * is tall, waiting is half as tall, having nothing to do is a line.
 */
#include "results/palette.h"

#include <string.h>

const struct paint paint_useful = {"compute, useful", "#0072B2", "solid 1", NULL, 1};
const struct paint paint_pending = {
	"compute, not yet merged", "#0072B2", "pattern 2", "#0072B2", 1};
const struct paint paint_lost = {"compute, lost", "#D55E00", "pattern 1", "#D55E00", 1};
const struct paint paint_crash = {"crash", "#D55E00", "solid 0.30", NULL, 1};
const struct paint paint_blackout = {"blackout", "#555555", "solid 0.40", NULL, 1};
const struct paint paint_outage = {"link down", "#999999", "solid 0.50", NULL, 1};
const struct paint paint_up = {"up", "#332288", "solid 1", NULL, 1};	 /* 51 */
const struct paint paint_down = {"down", "#66BBDD", "solid 1", NULL, 1}; /* 165 */

const struct stroke stroke_limit = {"the link's rate", "#000000", 1, "(8,4)"};
const struct stroke stroke_measured = {"measured", "#0072B2", 2, "solid"};
const struct stroke stroke_predicted = {"predicted", "#D55E00", 2, "(10,3,2,3)"};
const struct stroke stroke_expected = {"expected", "#000000", 2, "(3,3)"};

static const struct paint states[STATE_COUNT] = {
	[STATE_COMPUTE] = {"compute", "#0072B2", "solid 1", NULL, 1},			   /* 87 */
	[STATE_EXPOSED_COMM] = {"waits for exchange", "#E69F00", "solid 1", NULL, .55},	   /* 162 */
	[STATE_BARRIER_WAIT] = {"waits for others", "#F0E442", "solid 1", "#A89B1C", .55}, /* 213 */
	[STATE_CHECKPOINT] = {"checkpoint", "#44AA99", "pattern 4", "#44AA99", 1},	   /* 137 */
	[STATE_DOWN] = {"down", "#000000", "solid 1", NULL, 1},				   /* 0 */
	[STATE_RECOVER] = {"recovers", "#882255", "pattern 5", "#882255", .55},		   /* 71 */
	[STATE_IDLE] = {"idle", "#BBBBBB", "pattern 0", "#BBBBBB", .15},
};

const struct paint *paint_state(enum state state)
{
	return &states[state];
}

const struct paint *paint_fault(const char *kind)
{
	return strcmp(kind, "blackout") ? &paint_crash : &paint_blackout;
}

static const struct stroke strategies[] = {
	{"data-parallel", "#D55E00", 2, "(2,3)"},	  /* 119 */
	{"diloco", "#E69F00", 2, "(8,4)"},		  /* 162 */
	{"streaming-diloco", "#56B4E9", 2, "(10,3,2,3)"}, /* 160 */
	{"decoupled-diloco", "#0072B2", 2.5, "solid"},	  /* 87 */
	{"", "#555555", 2, "(4,2)"},
};

int stroke_strategy_index(const char *name)
{
	int i = 0;

	while (*strategies[i].label && strcmp(strategies[i].label, name))
		i++;
	return i;
}

const struct stroke *stroke_strategy(const char *name)
{
	return &strategies[stroke_strategy_index(name)];
}
