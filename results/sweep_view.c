/* From cases to lines; see sweep_view.h. Cases that differ in the seed alone are one point. */
#include "results/sweep_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct view_kind kinds[] = {
	{"links.*.rate", "bandwidth", "bandwidth", "rate of a site's link, each way", "Gbit/s", 1e9,
		true, "compute_utilisation", false},
	{"core.delay", "rtt", "round-trip time", "idle round trip", "ms", 1e-3, true, "useful_work",
		true},
	{"links.*.delay", "rtt", "round-trip time", "idle round trip", "ms", 1e-3, true,
		"useful_work", true},
	{"links.*.loss", "loss", "packet loss", "packets lost at random, each way", "%", .01, true,
		"useful_work", false},
	{"links.*.burst.loss", "loss", "packet loss in bursts", "packets lost in bursts, each way",
		"%", .01, true, "useful_work", false},
	{"workload.step", "step", "step time", "time of a training step", "s", 1, true,
		"compute_utilisation", false},
	{"workload.parameters", "parameters", "model size", "parameters", "billions", 1e9, true,
		"compute_utilisation", false},
	{"fleet.chips", "chips", "chips", "chips", "thousands", 1e3, true, "goodput", false},
	{NULL, "value", NULL, NULL, NULL, 1, true, "useful_work", false},
};
#define OTHERS (&kinds[sizeof kinds / sizeof *kinds - 1])

static bool matches(const char *pattern, const char *key)
{
	while (*pattern && *key) {
		size_t n = strcspn(pattern, "."), m = strcspn(key, ".");

		if (strncmp(pattern, "*", n) && (n != m || strncmp(pattern, key, n)))
			return false;
		pattern += n + (pattern[n] == '.');
		key += m + (key[m] == '.');
	}
	return !*pattern && !*key;
}

const struct view_kind *view_kind_of(const char *key)
{
	const struct view_kind *k = kinds;

	while (k->key && !matches(k->key, key))
		k++;
	return k;
}

/* Which metric: the kind's, or the first that some case knows. */
static const char *metric_of(const struct sweep_record *s, const char *wanted)
{
	const char *first = NULL;

	for (size_t i = 0; i < s->n_cases; i++)
		for (size_t k = 0; k < s->cases[i]->n_metrics; k++) {
			const struct sweep_metric *m = &s->cases[i]->metrics[k];

			if (isnan(m->value))
				continue;
			if (!strcmp(m->name, wanted))
				return wanted;
			first = first ? first : m->name;
		}
	return first ? first : wanted;
}

static bool is_seek(const struct sweep_record *s)
{
	return s->n_cases && s->cases[0]->n_seeks;
}

/* A quantity's unit in charts, for keys that no row of the table names. */
static const char *plain_unit(const char *kind, double *scale)
{
	static const struct {
		const char *kind, *unit;
		double scale;
	} units[] = {{"rate", "Gbit/s", 1e9}, {"time", "s", 1}, {"bytes", "GB", 1e9},
		{"ratio", "%", .01}, {"bits", "bit", 1}};

	*scale = 1;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(kind, units[i].kind)) {
			*scale = units[i].scale;
			return units[i].unit;
		}
	return "";
}

static char *named(const char *name, const char *unit)
{
	return *unit ? memory_format("%s (%s)", name, unit) : memory_string(name);
}

/* Of metrics: "Compute utilisation" and what its axis says. */
static const struct {
	const char *metric, *title, *axis;
} metric_words[] = {
	{"useful_work", "Useful work", "useful work (% of the accelerators’ time)"},
	{"compute_utilisation", "Compute utilisation", "compute utilisation (%)"},
	{"availability", "Availability", "availability (%)"},
	{"goodput", "Goodput", "goodput (% of the ideal)"},
	{"uptime", "Uptime", "system uptime (%)"},
	{"wire_rate", "Rate on the wire", "greatest mean rate on the wire (Gbit/s)"},
	{"exchange_p50", "Exchange time", "median time of an exchange (s)"},
	{"exchange_p99", "Exchange time", "99th percentile of exchange times (s)"},
};

static void name_metric(struct view *v, const char *metric, const char **title)
{
	*title = metric;
	v->percent = true;
	for (size_t i = 0; i < sizeof metric_words / sizeof *metric_words; i++)
		if (!strcmp(metric_words[i].metric, metric)) {
			*title = metric_words[i].title;
			v->y_name = memory_string(metric_words[i].axis);
			v->percent = strchr(v->y_name, '%') != NULL;
		}
	if (!v->y_name)
		v->y_name = memory_format("%s (%%)", metric);
}

static double metric_scale(const char *metric)
{
	return !strcmp(metric, "wire_rate") ? 1e9 : !strncmp(metric, "exchange_", 9) ? 1 : .01;
}

/* What the y axis is, and its scale. */
static double set_y(struct view *v, const struct sweep_record *s, const char *metric,
	const char **title, char *buf, size_t size)
{
	const struct view_kind *found;
	double scale;

	if (!is_seek(s)) {
		name_metric(v, metric, title);
		return metric_scale(metric);
	}
	found = view_kind_of(s->cases[0]->seeks[0]->key);
	v->y_log = true;
	v->y_rate = !strcmp(s->cases[0]->seeks[0]->kind, "rate");
	if (found->key && !found->round_trip) {
		snprintf(buf, size, "%s %s",
			s->cases[0]->seeks[0]->largest ? "Largest" : "Required", found->title);
		v->y_name = memory_format("%s for %s (%s)", found->title,
			s->cases[0]->seeks[0]->condition, found->unit);
		scale = found->scale;
	} else {
		_free_ char *name = memory_format(
			"%s for %s", s->cases[0]->seeks[0]->key, s->cases[0]->seeks[0]->condition);

		snprintf(buf, size, "%s", s->cases[0]->seeks[0]->key);
		v->y_name = named(name, plain_unit(s->cases[0]->seeks[0]->kind, &scale));
	}
	*title = buf;
	return scale;
}

/* The line a case belongs to: its values of all other keys but the seed. */
static char *line_name(const struct sweep_record *s, const struct sweep_case *c, size_t axis)
{
	char *name = memory_string("");

	for (size_t i = 0; i < s->n_axes; i++) {
		const char *key = s->axes[i].key, *value = sweep_value(c, key);
		const char *dot = strrchr(key, '.');
		bool word = !strcmp(s->axes[i].kind, "word");
		char *longer;

		if (i == axis || !strcmp(key, "seed") || !value)
			continue;
		longer = memory_format("%s%s%s%s%s", name, *name ? ", " : "",
			word  ? ""
			: dot ? dot + 1
			      : key,
			word ? "" : " ", value);
		free(name);
		name = longer;
	}
	return name;
}

static struct view_line *find_line(struct view *v, char *name, const char *strategy)
{
	struct view_line *l;

	for (size_t i = 0; i < v->n; i++)
		if (!strcmp(v->lines[i].name, name)) {
			free(name);
			return &v->lines[i];
		}
	v->lines = memory_resize(v->lines, v->n + 1, sizeof *v->lines);
	l = &v->lines[v->n++];
	*l = (struct view_line){.name = name, .strategy = strategy};
	for (size_t i = 0; i + 1 < v->n; i++)
		l->dash += !strategy || strcmp(v->lines[i].strategy, strategy) == 0;
	return l;
}

static void add_point(struct view_line *l, double x, double y)
{
	size_t i = 0;

	while (i < l->n && l->points[i].x < x)
		i++;
	if (i < l->n && l->points[i].x == x) {
		struct view_point *p = &l->points[i];

		p->y = (p->y * p->n + y) / (p->n + 1);
		p->low = fmin(p->low, y);
		p->high = fmax(p->high, y);
		p->n++;
		return;
	}
	l->points = memory_resize(l->points, l->n + 1, sizeof *l->points);
	memmove(&l->points[i + 1], &l->points[i], (l->n - i) * sizeof *l->points);
	l->points[i] = (struct view_point){.x = x, .y = y, .low = y, .high = y, .n = 1};
	l->n++;
}

static bool has_strategies(const struct sweep_record *s)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (!strcmp(s->axes[i].key, "workload.strategy"))
			return true;
	return false;
}

static void add_cases(struct view *v, const struct sweep_record *s, size_t axis, const char *metric,
	double x_scale, double y_scale)
{
	bool strategies = has_strategies(s);

	for (size_t i = 0; i < s->n_cases; i++) {
		const struct sweep_case *c = s->cases[i];
		const char *value = sweep_value(c, s->axes[axis].key);
		double x = v->kind->round_trip ? c->rtt_s
			   : value	       ? sweep_number(s->axes[axis].kind, value)
					       : NAN;
		double y = c->n_seeks ? c->seeks[0]->found : sweep_metric_of(c, metric);
		struct view_line *l;

		if (isnan(x))
			continue;
		l = find_line(v, line_name(s, c, axis), strategies ? c->strategy : NULL);
		if (isnan(y))
			v->unanswered = true;
		else
			add_point(l, x / x_scale, y / y_scale);
	}
}

/* A curve needs two points somewhere. */
static bool is_curve(const struct view *v)
{
	bool curve = false;

	for (size_t i = 0; i < v->n; i++)
		curve |= v->lines[i].n > 1;
	return curve && v->n <= VIEW_LINES_MAX;
}

struct view *view_make(const struct sweep_record *s, size_t axis)
{
	const struct sweep_axis *a = &s->axes[axis];
	struct view *v;
	const char *metric, *title;
	char buf[160];
	double x_scale, y_scale;

	if (!strcmp(a->kind, "word") || !strcmp(a->key, "seed"))
		return NULL;
	v = memory_zero(1, sizeof *v);
	v->kind = view_kind_of(a->key);
	v->x_log = v->kind->log;
	v->x_rate = !strcmp(a->kind, "rate");
	metric = metric_of(s, v->kind->metric);
	x_scale = v->kind->scale;
	if (v->kind == OTHERS)
		v->x_name = named(a->key, plain_unit(a->kind, &x_scale));
	else
		v->x_name = named(v->kind->name, v->kind->unit);
	y_scale = set_y(v, s, metric, &title, buf, sizeof buf);
	v->title = memory_format("%s against %s", title, v->kind->title ? v->kind->title : a->key);
	add_cases(v, s, axis, metric, x_scale, y_scale);
	return is_curve(v) ? v : view_free(v);
}

struct view *view_free(struct view *v)
{
	if (!v)
		return NULL;
	for (size_t i = 0; i < v->n; i++) {
		free(v->lines[i].name);
		free(v->lines[i].points);
	}
	free(v->lines);
	free(v->title);
	free(v->x_name);
	free(v->y_name);
	free(v);
	return NULL;
}
