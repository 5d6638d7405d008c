/* States over time; see lanes.h. A state lasts until the participant's next one. */
#include "results/lanes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/csv.h"

static int find_state(const char *event)
{
	static const char prefix[] = "state:";

	if (strncmp(event, prefix, sizeof prefix - 1))
		return -1;
	for (int i = 0; i < STATE_COUNT; i++)
		if (!strcmp(event + sizeof prefix - 1, state_name((enum state)i)))
			return i;
	return -1;
}

static struct lane *lane_of(struct lanes *l, const char *participant)
{
	for (size_t i = 0; i < l->n_lanes; i++)
		if (!strcmp(l->lanes[i].participant, participant))
			return &l->lanes[i];
	l->lanes = memory_resize(l->lanes, l->n_lanes + 1, sizeof *l->lanes);
	l->lanes[l->n_lanes] = (struct lane){.participant = memory_string(participant)};
	return &l->lanes[l->n_lanes++];
}

static void enter(struct lane *lane, double t_s, enum state state)
{
	struct lane_span *last = lane->n_spans ? &lane->spans[lane->n_spans - 1] : NULL;

	if (last) {
		t_s = fmax(t_s, last->from_s);
		last->until_s = t_s;
		if (last->state == state)
			return;
		if (last->from_s == t_s) { /* a state of no length */
			last->state = state;
			return;
		}
	}
	if (!(lane->n_spans & (lane->n_spans - 1)))
		lane->spans = memory_resize(
			lane->spans, lane->n_spans ? 2 * lane->n_spans : 1, sizeof *lane->spans);
	lane->spans[lane->n_spans++] = (struct lane_span){t_s, t_s, state};
}

void lanes_end(struct lanes *l, double until_s)
{
	l->until_s = fmax(l->until_s, until_s);
	for (size_t i = 0; i < l->n_lanes; i++)
		l->lanes[i].spans[l->lanes[i].n_spans - 1].until_s = l->until_s;
}

struct lanes *lanes_load(const char *folder, int case_index, double latest_s)
{
	struct csv *csv = csv_open(folder, "events.csv");
	struct lanes *l = memory_zero(1, sizeof *l);
	int in_case, t, participant, event;

	if (!csv)
		return lanes_free(l);
	in_case = csv_column(csv, "case");
	t = csv_column(csv, "t_s");
	participant = csv_column(csv, "participant");
	event = csv_column(csv, "event");
	while (csv_next(csv)) {
		double at = csv_number(csv, t);
		int state = find_state(csv_text(csv, event));

		if (csv_number(csv, in_case) != case_index || !(at >= 0 && at <= latest_s))
			continue;
		l->until_s = fmax(l->until_s, at);
		if (state >= 0)
			enter(lane_of(l, csv_text(csv, participant)), at, (enum state)state);
	}
	csv_close(csv);
	if (!l->n_lanes)
		return lanes_free(l);
	lanes_end(l, 0);
	return l;
}

static enum state strongest(const double *in_s)
{
	int best = 0;

	if (in_s[STATE_DOWN] > 0)
		return STATE_DOWN;
	if (in_s[STATE_RECOVER] > 0)
		return STATE_RECOVER;
	for (int i = 1; i < STATE_COUNT; i++)
		if (in_s[i] > in_s[best])
			best = i;
	return (enum state)best;
}

static void merge_lane(struct lane *lane, double until_s, int pieces)
{
	struct lane merged = {.participant = lane->participant};
	double from_s = lane->spans[0].from_s, piece_s = (until_s - from_s) / pieces;
	size_t at = 0;

	for (int i = 0; i < pieces; i++) {
		double begin = from_s + i * piece_s, end = begin + piece_s;
		double in_s[STATE_COUNT] = {0};

		while (lane->spans[at].until_s <= begin && at + 1 < lane->n_spans)
			at++;
		for (size_t k = at; k < lane->n_spans && lane->spans[k].from_s < end; k++)
			in_s[lane->spans[k].state] +=
				fmax(0, fmin(end, lane->spans[k].until_s) -
						fmax(begin, lane->spans[k].from_s));
		enter(&merged, begin, strongest(in_s));
	}
	merged.spans[merged.n_spans - 1].until_s = until_s;
	free(lane->spans);
	*lane = merged;
}

void lanes_merge(struct lanes *l, int spans_max)
{
	for (size_t i = 0; i < l->n_lanes; i++)
		if (l->lanes[i].n_spans > (size_t)spans_max)
			merge_lane(&l->lanes[i], l->until_s, spans_max);
}

struct lanes *lanes_free(struct lanes *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n_lanes; i++) {
		free(l->lanes[i].participant);
		free(l->lanes[i].spans);
	}
	free(l->lanes);
	free(l);
	return NULL;
}
