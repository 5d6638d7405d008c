/* Spread, then bisection; see search.h. Values between the bounds have few digits, to be read. */
#include "bench/seek/search.h"

#include <math.h>
#include <string.h>

#define STEPS_MAX 100

bool search_is_log(const struct search *s)
{
	return s->low > 0 && s->high >= 10 * s->low;
}

/* Two digits more than the tolerance asks for. */
static double round_value(const struct search *s, double value)
{
	double digits = ceil(-log10(s->tolerance)) + 2, power;

	if (s->whole && fabs(value) < 1e4)
		return round(value);
	if (value == 0)
		return 0;
	power = pow(10, floor(log10(fabs(value))) + 1 - fmin(digits, 15));
	value = round(value / power) * power;
	return s->whole ? round(value) : value;
}

/* The value at this share of the way from a to b. */
static double between(const struct search *s, double a, double b, double share)
{
	double value =
		search_is_log(s) && a > 0 && b > 0 ? a * pow(b / a, share) : a + (b - a) * share;

	return round_value(s, value);
}

static struct search_point *insert(struct search_result *r, const struct search_point *p)
{
	size_t i = r->n;

	while (i && r->points[i - 1].value > p->value)
		i--;
	memmove(&r->points[i + 1], &r->points[i], (r->n - i) * sizeof *p);
	r->points[i] = *p;
	r->n++;
	return &r->points[i];
}

static const struct search_point *seen(const struct search_result *r, double value)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->points[i].value == value)
			return &r->points[i];
	return NULL;
}

static int look(
	struct search_result *r, double value, search_try try, void *user, struct error *err)
{
	struct search_point p = {.value = value, .got = NAN};
	int e;

	if (seen(r, value))
		return 0;
	e = try(user, value, &p, err);
	if (e < 0)
		return e;
	p.value = value;
	insert(r, &p);
	return 0;
}

static int spread(struct search_result *r, const struct search *s, search_try try, void *user,
	struct error *err)
{
	int e = look(r, s->low, try, user, err);

	if (!e)
		e = look(r, s->high, try, user, err);
	for (int i = 1; !e && i < SEARCH_SPREAD - 1; i++) {
		double value = between(s, s->low, s->high, (double)i / (SEARCH_SPREAD - 1));

		if (value > s->low && value < s->high)
			e = look(r, value, try, user, err);
	}
	return e;
}

/* From the side where the search begins, the first that holds; r->n: none. */
static size_t first_that_holds(const struct search_result *r, bool largest)
{
	for (size_t k = 0; k < r->n; k++) {
		size_t i = largest ? r->n - 1 - k : k;

		if (r->points[i].holds)
			return i;
	}
	return r->n;
}

static bool near_enough(const struct search *s, double holds, double fails)
{
	double gap = fabs(holds - fails), size = fmax(fabs(holds), fabs(fails));

	if (s->whole && gap <= 1)
		return true;
	return gap <= s->tolerance * size && (!s->whole || size > 1e4);
}

static int bisect(struct search_result *r, const struct search *s, search_try try, void *user,
	struct error *err)
{
	for (int step = 0; step < STEPS_MAX && !near_enough(s, r->found, r->next); step++) {
		double mid = between(s, r->found, r->next, .5);
		const struct search_point *p;
		int e;

		if (seen(r, mid))
			break;
		e = look(r, mid, try, user, err);
		if (e)
			return e;
		p = seen(r, mid);
		*(p->holds ? &r->found : &r->next) = mid;
	}
	return 0;
}

int search_run(struct search_result *out, const struct search *s, search_try try, void *user,
	struct error *err)
{
	size_t i;
	int e;

	*out = (struct search_result){.outcome = SEARCH_NONE, .found = NAN, .next = NAN};
	e = spread(out, s, try, user, err);
	if (e)
		return e;
	i = first_that_holds(out, s->largest);
	if (i == out->n)
		return 0;
	out->found = out->points[i].value;
	out->outcome = SEARCH_BOUND;
	if (i == (s->largest ? out->n - 1 : 0))
		return 0;
	out->outcome = SEARCH_FOUND;
	out->next = out->points[s->largest ? i + 1 : i - 1].value;
	return bisect(out, s, try, user, err);
}

/* The metric moves against the direction between its ends by more than noise. */
static bool metric_turns(const struct search_result *r, size_t *at)
{
	double low = INFINITY, high = -INFINITY, worst = 0, ends;

	for (size_t i = 0; i < r->n; i++) {
		low = fmin(low, r->points[i].got);
		high = fmax(high, r->points[i].got);
	}
	ends = r->points[r->n - 1].got - r->points[0].got;
	for (size_t i = 0; i + 1 < r->n; i++) {
		double move = r->points[i + 1].got - r->points[i].got;
		double against = ends < 0 ? move : -move;

		if (against > worst) {
			worst = against;
			*at = i;
		}
	}
	return worst > (high - low) / 100;
}

bool search_turns(const struct search_result *r, bool largest, size_t *at)
{
	for (size_t i = 0; i + 1 < r->n; i++) {
		const struct search_point *before = &r->points[largest ? i + 1 : i];
		const struct search_point *after = &r->points[largest ? i : i + 1];

		if (before->holds && !after->holds) {
			*at = i;
			return true;
		}
	}
	return r->n > 1 && metric_turns(r, at);
}

const struct search_point *search_best(const struct search_result *r, double want)
{
	const struct search_point *best = NULL;

	for (size_t i = 0; i < r->n; i++) {
		const struct search_point *p = &r->points[i];

		if (!isnan(p->got) && (!best || fabs(p->got - want) < fabs(best->got - want)))
			best = p;
	}
	return best;
}
