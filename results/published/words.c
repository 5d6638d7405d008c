/* Numbers of published tables as text; see words.h. */
#include "results/published/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *shown, *base;
	double scale;
} units[] = {
	[PUBLISHED_RATE] = {"Gbit/s", "bit/s", 1e-9},
	[PUBLISHED_GOODPUT] = {"%", "share", 100},
	[PUBLISHED_UTILISATION] = {"%", "share", 100},
	[PUBLISHED_EXCHANGE] = {"s", "s", 1},
	[PUBLISHED_INTERVAL] = {"s", "s", 1},
};

const char *published_unit(const struct published_table *t)
{
	return units[t->quantity].shown;
}

const char *published_base_unit(const struct published_table *t)
{
	return units[t->quantity].base;
}

struct published_text published_number(const struct published_table *t, double value)
{
	double shown = value * units[t->quantity].scale;
	struct published_text s = {"\xe2\x80\x93"};

	if (isfinite(value))
		snprintf(s.text, sizeof s.text, "%.*f",
			shown >= 10			? 1
			: units[t->quantity].scale == 1 ? 3
							: 2,
			shown);
	return s;
}

struct published_text published_column(const struct published_table *t, size_t column)
{
	double value = t->columns[column];
	struct published_text s;

	if (!strcmp(t->column, "compute utilisation"))
		snprintf(s.text, sizeof s.text, "%g %%", 100 * value);
	else if (!strcmp(t->column, "chips"))
		snprintf(s.text, sizeof s.text, "%gk", value / 1e3);
	else if (!strcmp(t->column, "rate"))
		snprintf(s.text, sizeof s.text, "%gG", value / 1e9);
	else
		snprintf(s.text, sizeof s.text, "%s = %g", t->column, value);
	return s;
}
