/* A device's ways as text and JSON; see card_print.h. */
#include "bench/cli/card_print.h"

#include <inttypes.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "emu/card/owner.h"

#define NAME 48

/* "to 10.0.0.0/8", "class 1:2", ... of what passes a way; "" for everything. */
static const char *passing(char *text, size_t size, const struct way *w)
{
	char prefix[PREFIX_TEXT];

	if (w->match == FILTER_TO || w->match == FILTER_FROM)
		snprintf(text, size, "%s %s", w->match == FILTER_TO ? "to" : "from",
			prefix_format(prefix, &w->prefix));
	else if (w->class_id)
		snprintf(text, size, "class %x:%x", TC_H_MAJ(w->class_id) >> 16,
			TC_H_MIN(w->class_id));
	else
		snprintf(text, size, "%s", w->match == FILTER_OTHER ? "by a filter" : "");
	return text;
}

static void print_counters(const struct way *w)
{
	struct way_counters c = way_count(w);
	char bytes[32], backlog[32];

	printf("       sent %s in %" PRIu64 " packets, %" PRIu64 " lost, %" PRIu64
	       " dropped by the queue; %s in it\n",
		quantity_format(bytes, sizeof bytes, QUANTITY_BYTES, (int64_t)c.sent_bytes, false),
		c.sent_packets, c.lost, c.queue,
		quantity_format(
			backlog, sizeof backlog, QUANTITY_BYTES, (int64_t)c.backlog_bytes, false));
}

static void print_way(const struct view *v, const struct way *w)
{
	const struct qdisc_node *first = w->netem ? w->netem : w->tbf;
	const struct device *on = devices_find(&v->devices, w->index);
	char words[512], text[96], name[NAME];

	printf("  %-4s %s%s\n", w->direction == UP ? "out" : "in",
		layout_format(words, sizeof words, &w->words),
		w->words.state.down ? ", nothing passes" : "");
	if (*passing(text, sizeof text, w))
		printf("       only %s\n", text);
	if (*w->words.also)
		printf("       also: %s\n", w->words.also);
	printf("       by %s", qdisc_name(name, sizeof name, first));
	if (first == w->netem && w->tbf)
		printf(" and %s", qdisc_name(name, sizeof name, w->tbf));
	printf(" on %s\n", on ? on->name : "?");
	print_counters(w);
}

static void print_owner(const struct device *d)
{
	pid_t pid = owner_pid(d->index);

	if (pid > 0)
		printf(", shaped by process %d", (int)pid);
	else if (pid < 0)
		printf(", shaped by a process of another PID namespace");
}

void card_print(const struct view *v, const struct device *d, const struct ways *ways)
{
	const struct qdisc_node *root = qdiscs_at(&v->qdiscs, d->index, TC_H_ROOT);
	char name[NAME];

	printf("%s: %s", d->name, qdisc_name(name, sizeof name, root));
	if (!qdisc_is_set(root))
		printf(" (the kernel's own)");
	print_owner(d);
	putchar('\n');
	for (size_t i = 0; i < ways->n; i++)
		print_way(v, &ways->list[i]);
	if (!ways->n && view_is_shaped(v, d))
		printf("  nothing that delays, loses or limits in a link's words\n");
}

static json_t *number_or_null(int64_t v)
{
	return v ? json_integer(v) : json_null();
}

static json_t *counters_json(const struct way *w)
{
	struct way_counters c = way_count(w);

	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "sent_bytes", (json_int_t)c.sent_bytes,
		"sent_packets", (json_int_t)c.sent_packets, "lost_packets", (json_int_t)c.lost,
		"queue_drops", (json_int_t)c.queue, "backlog_bytes", (json_int_t)c.backlog_bytes);
}

static json_t *link_json(const struct layout_words *w)
{
	const struct link_state *s = &w->state;

	return json_pack("{s:o, s:I, s:I, s:o, s:f, s:f, s:f, s:i, s:b, s:s}", "rate_bps",
		number_or_null(s->rate_bps), "delay_ns", (json_int_t)s->delay_ns, "jitter_ns",
		(json_int_t)s->jitter_ns, "queue_bytes", number_or_null(s->queue_bytes), "loss",
		s->loss, "burst_loss", s->burst_loss, "burst_length", s->burst_length,
		"overhead_bytes", w->overhead_bytes, "down", s->down, "also", w->also);
}

static json_t *way_json(const struct view *v, const struct way *w)
{
	const struct device *on = devices_find(&v->devices, w->index);
	char text[96], words[512], netem[NAME], tbf[NAME];

	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s?, s:s?, s:o}", "direction",
		w->direction == UP ? "out" : "in", "device", on ? on->name : "", "only",
		passing(text, sizeof text, w), "link",
		layout_format(words, sizeof words, &w->words), "values", link_json(&w->words),
		"netem", w->netem ? qdisc_name(netem, sizeof netem, w->netem) : NULL, "tbf",
		w->tbf ? qdisc_name(tbf, sizeof tbf, w->tbf) : NULL, "counters", counters_json(w));
}

json_t *card_json(const struct view *v, const struct device *d, const struct ways *ways)
{
	const struct qdisc_node *root = qdiscs_at(&v->qdiscs, d->index, TC_H_ROOT);
	pid_t pid = owner_pid(d->index);
	json_t *list = json_array();
	char name[NAME];

	for (size_t i = 0; i < ways->n; i++)
		json_array_append_new(list, way_json(v, &ways->list[i]));
	return json_pack("{s:s, s:i, s:s, s:b, s:o, s:o}", "device", d->name, "index", d->index,
		"root", qdisc_name(name, sizeof name, root), "root_is_set", qdisc_is_set(root),
		"owner_pid", pid ? json_integer(pid) : json_null(), "ways", list);
}
