/*
 * Quantities: text to integers in a base unit and back; see units.h for what is accepted.
 *
 * Everything is decimal arithmetic on integers, so that "0.84 Gbit/s" is 840000000 and not the
 * nearest double to it. A number is its whole part and up to 18 digits after the point; a unit
 * is an integer multiple of the kind's base unit. What users have been seen to write by mistake
 * stands in a table beside what they meant, with the factor between the two, so that a message
 * can say the very text to write.
 */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"

#define K INT64_C(1000)
#define M (1000 * K)
#define G (1000 * M)
#define T (1000 * G)
#define FRACTION_DIGITS 18
#define QUOTE_MAX 48

struct unit {
	const char *name;
	int64_t size; /* in base units */
	bool whole;   /* printed only for a whole number of it, or from 2 of it on */
	bool input;   /* accepted, never printed */
};

/* `wrong` times `factor` base units is what the user meant, best written in `right`. */
struct mistake {
	const char *wrong, *right;
	int64_t factor; /* 0: only the spelling of `right` is wrong */
};

struct kind {
	const char *what, *example, *needs, *most;
	int64_t low, high;
	bool whole; /* a fraction of the base unit has no sense; otherwise rounded to nearest */
	const struct unit *units; /* smallest first, the one without a name first of all */
	const struct mistake *mistakes;
};

#define UNIT(name, size)                                                                           \
	{                                                                                          \
		name, size, false, false                                                           \
	}
#define WHOLE(name, size)                                                                          \
	{                                                                                          \
		name, size, true, false                                                            \
	}
#define INPUT(name, size)                                                                          \
	{                                                                                          \
		name, size, false, true                                                            \
	}
#define SPELL(wrong, right)                                                                        \
	{                                                                                          \
		wrong, right, 0                                                                    \
	}
#define END                                                                                        \
	{                                                                                          \
		0                                                                                  \
	}

static const struct kind kinds[] =
	{
		[QUANTITY_RATE] =
			{
				.what = "a rate",
				.example = "0.84 Gbit/s",
				.most = "9000000 Tbit/s",
				.needs = "bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s",
				.low = 1,
				.high = INT64_MAX,
				.units = (const struct unit[]){UNIT("bit/s", 1), UNIT("kbit/s", K),
					UNIT("Mbit/s", M), UNIT("Gbit/s", G), UNIT("Tbit/s", T),
					END},
				.mistakes =
					(const struct mistake[]){SPELL("bps", "bit/s"),
						SPELL("kbps", "kbit/s"), SPELL("Mbps", "Mbit/s"),
						SPELL("Gbps", "Gbit/s"), SPELL("Tbps", "Tbit/s"),
						SPELL("b/s", "bit/s"), SPELL("kb/s", "kbit/s"),
						SPELL("Mb/s", "Mbit/s"), SPELL("Gb/s", "Gbit/s"),
						SPELL("Tb/s", "Tbit/s"), SPELL("bit", "bit/s"),
						SPELL("kbit", "kbit/s"), SPELL("Mbit", "Mbit/s"),
						SPELL("Gbit", "Gbit/s"), SPELL("Tbit", "Tbit/s"),
						SPELL("kb", "kbit/s"), SPELL("Mb", "Mbit/s"),
						SPELL("Gb", "Gbit/s"), SPELL("bits/s", "bit/s"),
						SPELL("k", "kbit/s"), SPELL("M", "Mbit/s"),
						SPELL("G", "Gbit/s"), {"B/s", "bit/s", 8},
						{"kB/s", "kbit/s", 8 * K},
						{"MB/s", "Mbit/s", 8 * M},
						{"GB/s", "Gbit/s", 8 * G},
						{"TB/s", "Tbit/s", 8 * T},
						{"kBps", "kbit/s", 8 * K},
						{"MBps", "Mbit/s", 8 * M},
						{"GBps", "Gbit/s", 8 * G}, {"kB", "kbit/s", 8 * K},
						{"MB", "Mbit/s", 8 * M}, {"GB", "Gbit/s", 8 * G},
						{"KiB/s", "kbit/s", 8 << 10},
						{"MiB/s", "Mbit/s", 8 << 20},
						{"GiB/s", "Gbit/s", INT64_C(8) << 30},
						{"Kibit/s", "kbit/s", 1 << 10},
						{"Mibit/s", "Mbit/s", 1 << 20},
						{"Gibit/s", "Gbit/s", 1 << 30}, END},
			},
		[QUANTITY_TIME] =
			{
				.what = "a time",
				.example = "300 ms",
				.most = "106000 d",
				.needs = "ns, us, ms, s, min, h or d",
				.low = 0,
				.high = INT64_MAX,
				.units =
					(const struct unit[]){UNIT("ns", 1), UNIT("us", NS_PER_US),
						INPUT("\302\265s", NS_PER_US),
						INPUT("\316\274s", NS_PER_US),
						UNIT("ms", NS_PER_MS), UNIT("s", NS_PER_S),
						WHOLE("min", 60 * NS_PER_S),
						WHOLE("h", 3600 * NS_PER_S),
						WHOLE("d", 86400 * NS_PER_S), END},
				.mistakes =
					(const struct mistake[]){SPELL("nsec", "ns"),
						SPELL("usec", "us"), SPELL("msec", "ms"),
						SPELL("sec", "s"), SPELL("secs", "s"),
						SPELL("second", "s"), SPELL("seconds", "s"),
						SPELL("m", "min"), SPELL("mins", "min"),
						SPELL("minute", "min"), SPELL("minutes", "min"),
						SPELL("hr", "h"), SPELL("hrs", "h"),
						SPELL("hour", "h"), SPELL("hours", "h"),
						SPELL("day", "d"), SPELL("days", "d"),
						{"w", "d", 7 * 86400 * NS_PER_S},
						{"week", "d", 7 * 86400 * NS_PER_S},
						{"weeks", "d", 7 * 86400 * NS_PER_S},
						{"year", "d", 365 * 86400 * NS_PER_S},
						{"years", "d", 365 * 86400 * NS_PER_S}, END},
			},
		[QUANTITY_BYTES] =
			{
				.what = "a number of bytes",
				.example = "6 GB",
				.most = "9000 PB",
				.needs = "B, kB, MB, GB, TB or KiB, MiB, GiB",
				.low = 0,
				.high = INT64_MAX,
				.whole = true,
				.units =
					(const struct unit[]){UNIT("B", 1), UNIT("kB", K),
						INPUT("KiB", 1 << 10), UNIT("MB", M),
						INPUT("MiB", 1 << 20), UNIT("GB", G),
						INPUT("GiB", 1 << 30), UNIT("TB", T),
						UNIT("PB", 1000 * T), END},
				.mistakes =
					(const struct mistake[]){SPELL("byte", "B"),
						SPELL("bytes", "B"), SPELL("k", "kB"),
						SPELL("M", "MB"), SPELL("G", "GB"),
						SPELL("T", "TB"), SPELL("Ki", "KiB"),
						SPELL("Mi", "MiB"), SPELL("Gi", "GiB"), END},
			},
		[QUANTITY_COUNT] =
			{
				.what = "a number",
				.example = "12 B",
				.most = "9000000 T",
				.needs = "k, M, B (a thousand millions), T or none",
				.low = 0,
				.high = INT64_MAX,
				.whole = true,
				.units =
					(const struct unit[]){UNIT("", 1), UNIT("k", K),
						UNIT("M", M), UNIT("B", G), UNIT("T", T), END},
				.mistakes =
					(const struct mistake[]){SPELL("G", "B"), SPELL("bn", "B"),
						SPELL("billion", "B"), SPELL("million", "M"),
						SPELL("mln", "M"), SPELL("trillion", "T"),
						SPELL("thousand", "k"), END},
			},
		[QUANTITY_BITS] =
			{
				.what = "a number of bits",
				.example = "4 bit",
				.most = "1024 bit",
				.needs = "bit",
				.low = 1,
				.high = 1024,
				.whole = true,
				.units = (const struct unit[]){UNIT("bit", 1), END},
				.mistakes =
					(const struct mistake[]){SPELL("bits", "bit"),
						SPELL("b", "bit"), {"B", "bit", 8},
						{"byte", "bit", 8}, {"bytes", "bit", 8}, END},
			},
		[QUANTITY_RATIO] =
			{
				.what = "a share",
				.example = "0.1 %",
				.most = "900000000000 %",
				.needs = "%",
				.low = 0,
				.high = INT64_MAX,
				.units = (const struct unit[]){UNIT("%", RATIO_ONE / 100), END},
				.mistakes =
					(const struct mistake[]){SPELL("percent", "%"),
						SPELL("pct", "%"), {"ppm", "%", RATIO_ONE / M},
						{"\342\200\260", "%", RATIO_ONE / K}, END},
			},
};

/* A decimal number without its sign. */
struct decimal {
	int64_t whole;
	int64_t fraction; /* of 10^FRACTION_DIGITS */
};

/* The text as it may be shown in a message: no control characters, not too long. */
struct quote {
	char text[QUOTE_MAX + 8];
};

static struct quote quote(const char *text, size_t length)
{
	struct quote q;
	size_t n;

	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	n = length < QUOTE_MAX ? length : QUOTE_MAX;

	while (n < length && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--; /* not in the middle of a UTF-8 sequence */
	for (size_t i = 0; i < n; i++)
		q.text[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	strcpy(q.text + n, n < length ? "..." : "");
	return q;
}

/* value * size of d in base units; rounds to nearest, *exact tells whether it had to. */
static int decimal_times(const struct decimal *d, int64_t size, int64_t *out, bool *exact)
{
	const __int128 one = (__int128)G * G;
	__int128 part = (__int128)d->fraction * size;
	__int128 sum = (__int128)d->whole * size + (part + one / 2) / one;

	if (sum > INT64_MAX)
		return -ERANGE;
	*exact = part % one == 0;
	*out = (int64_t)sum;
	return 0;
}

/*
 * Reads digits, a point and digits. Returns the first character after, NULL if there is no
 * number; *range is set when there are more digits than fit.
 */
static const char *decimal_read(const char *s, struct decimal *out, bool *range)
{
	int64_t scale = G * G;
	bool digits = false;

	*out = (struct decimal){0};
	for (; isdigit((unsigned char)*s); s++, digits = true)
		if (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
			__builtin_add_overflow(out->whole, *s - '0', &out->whole))
			*range = true;
	if (*s != '.')
		return digits ? s : NULL;
	for (s++; isdigit((unsigned char)*s); s++, digits = true) {
		scale /= 10;
		out->fraction += (*s - '0') * scale;
		if (!scale && *s != '0')
			*range = true;
	}
	return digits ? s : NULL;
}

static const struct mistake *find_mistake(const struct kind *k, const char *s, size_t n, bool fold)
{
	for (const struct mistake *m = k->mistakes; m->wrong; m++)
		if (strlen(m->wrong) == n &&
			!(fold ? strncasecmp(m->wrong, s, n) : strncmp(m->wrong, s, n)))
			return m;
	return NULL;
}

static const struct unit *find_unit(const struct kind *k, const char *s, size_t n, bool fold)
{
	for (const struct unit *u = k->units; u->name; u++)
		if (strlen(u->name) == n &&
			!(fold ? strncasecmp(u->name, s, n) : strncmp(u->name, s, n)))
			return u;
	return NULL;
}

/* What to write instead of a value that was meant in another measure. */
static int refuse_measure(const struct kind *k, enum quantity kind, const char *shown,
	const struct mistake *m, const struct decimal *d, struct error *err)
{
	char right[64];
	int64_t value;
	bool exact;

	if (decimal_times(d, m->factor, &value, &exact) || value < k->low || value > k->high)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%s\": %s is written in %s, e.g. \"%s\"", shown, k->what, k->needs,
			k->example);
	quantity_format(right, sizeof right, kind, value, exact);
	return error_set(err, -EINVAL, STATUS_INPUT, "\"%s\": %s is written in %s; write \"%s\"",
		shown, k->what, k->needs, right);
}

static int refuse_unit(const struct kind *k, enum quantity kind, const char *text, const char *unit,
	size_t n, const struct decimal *d, struct error *err)
{
	struct quote shown = quote(text, strlen(text));
	struct quote number = quote(text, (size_t)(unit - text));
	const struct mistake *m = find_mistake(k, unit, n, false);
	const struct unit *u = m ? NULL : find_unit(k, unit, n, true);
	const char *right = u ? u->name : NULL;
	size_t digits = strlen(number.text);

	if (!m && !u)
		m = find_mistake(k, unit, n, true);
	if (m && m->factor)
		return refuse_measure(k, kind, shown.text, m, d, err);
	if (m)
		right = m->right;
	while (digits && isspace((unsigned char)number.text[digits - 1]))
		digits--;
	if (right)
		return error_set(err, -EINVAL, STATUS_INPUT, "\"%s\": write \"%.*s %s\"",
			shown.text, (int)digits, number.text, right);
	if (!n)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%s\": %s needs a unit (%s), e.g. \"%s\"", shown.text, k->what, k->needs,
			k->example);
	return error_set(err, -EINVAL, STATUS_INPUT,
		"\"%s\": \"%s\" is no unit of %s; use %s, e.g. \"%s\"", shown.text,
		quote(unit, n).text, k->what, k->needs, k->example);
}

static int refuse_number(const struct kind *k, const char *text, struct error *err)
{
	struct quote shown = quote(text, strlen(text));

	if (*text == '-' && isdigit((unsigned char)text[1]))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%s\": %s cannot be negative; write e.g. \"%s\"", shown.text, k->what,
			k->example);
	return error_set(err, -EINVAL, STATUS_INPUT, "\"%s\" is not %s; write e.g. \"%s\"",
		shown.text, k->what, k->example);
}

static int check_range(enum quantity kind, const char *text, int64_t value, bool exact,
	const struct decimal *d, struct error *err)
{
	const struct kind *k = &kinds[kind];
	struct quote shown = quote(text, strlen(text));
	char least[64];

	if (k->whole && !exact)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%s\": %s must be whole; write e.g. \"%s\"", shown.text, k->what,
			k->example);
	if (value > k->high)
		return error_set(err, -ERANGE, STATUS_INPUT, "\"%s\" is too large; at most \"%s\"",
			shown.text, k->most);
	if (value < k->low || (value == 0 && d->fraction))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%s\" is too small: %s must be at least \"%s\"", shown.text, k->what,
			quantity_format(least, sizeof least, kind, 1, true));
	return 0;
}

int quantity_parse(const char *text, enum quantity kind, int64_t *out, struct error *err)
{
	const struct kind *k = &kinds[kind];
	const struct unit *u;
	const char *start = text, *unit;
	struct decimal d;
	bool range = false, exact;
	int64_t value;
	size_t n;
	int r;

	while (isspace((unsigned char)*start))
		start++;
	unit = decimal_read(*start == '+' ? start + 1 : start, &d, &range);
	if (!unit)
		return refuse_number(k, start, err);
	while (isspace((unsigned char)*unit))
		unit++;
	n = strlen(unit);
	while (n && isspace((unsigned char)unit[n - 1]))
		n--;
	if (*unit == ',' && isdigit((unsigned char)unit[1]))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%s\": write a decimal point and no commas, e.g. \"%s\"",
			quote(start, strlen(start)).text, k->example);
	u = find_unit(k, unit, n, false);
	if (!u)
		return refuse_unit(k, kind, start, unit, n, &d, err);
	if (range || decimal_times(&d, u->size, &value, &exact))
		return error_set(err, -ERANGE, STATUS_INPUT,
			"\"%s\" is too large or has too many digits; at most \"%s\" and %d digits "
			"after the point",
			quote(start, strlen(start)).text, k->most, FRACTION_DIGITS);
	r = check_range(kind, start, value, exact, &d, err);
	if (r)
		return r;
	*out = value;
	return 0;
}

/* Finds the sign of a spread; *length is its length in bytes. */
static const char *find_spread(const char *text, size_t *length)
{
	static const char *const signs[] = {"\302\261", "+-", "+/-"};

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		const char *at = strstr(text, signs[i]);

		*length = strlen(signs[i]);
		if (at)
			return at;
	}
	return NULL;
}

int quantity_parse_spread(
	const char *text, enum quantity kind, int64_t *out, int64_t *spread, struct error *err)
{
	size_t length;
	const char *sign = find_spread(text, &length);
	char first[128];
	int64_t value, share = 0;
	int r;

	if (!sign) {
		r = quantity_parse(text, kind, out, err);
		if (!r)
			*spread = 0;
		return r;
	}
	if ((size_t)(sign - text) >= sizeof first)
		return refuse_number(&kinds[kind], text, err);
	memcpy(first, text, (size_t)(sign - text));
	first[sign - text] = '\0';
	r = quantity_parse(first, kind, &value, err);
	if (!r)
		r = quantity_parse(sign + length, QUANTITY_RATIO, &share, err);
	if (r)
		return r;
	if (share >= RATIO_ONE)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%s\": a spread must be below 100 %%; write e.g. \"%s +- 5 %%\"",
			quote(text, strlen(text)).text, kinds[kind].example);
	*out = value;
	*spread = share;
	return 0;
}

/* Rounds to 4 significant digits, halves up. */
static uint64_t round_digits(uint64_t value)
{
	uint64_t step = 1;

	while (value / step >= 10000)
		step *= 10;
	return step == 1 ? value : (value / step + (value % step >= step / 2)) * step;
}

/* value / size with the digits it takes, at most `digits` after the point, no zeros at the end. */
static void format_digits(char *buf, size_t size, uint64_t value, uint64_t unit, int digits)
{
	unsigned __int128 rest = value % unit;
	char fraction[FRACTION_DIGITS + 1];
	int n = 0, used = 0;

	while (rest && n < digits) {
		rest *= 10;
		fraction[n] = (char)('0' + (int)(rest / unit));
		rest %= unit;
		if (fraction[n++] != '0')
			used = n;
	}
	snprintf(buf, size, "%" PRIu64 "%s%.*s", value / unit, used ? "." : "", used, fraction);
}

/* The unit to print value in: the largest that suits it. */
static const struct unit *choose_unit(const struct kind *k, uint64_t value, bool exact)
{
	const struct unit *best = k->units;

	for (const struct unit *u = k->units; u->name; u++) {
		uint64_t size = (uint64_t)u->size;
		bool fits = value >= size;

		if (u->whole)
			fits = fits && (value % size == 0 || (!exact && value >= 2 * size));
		if (fits && !u->input)
			best = u;
	}
	return value ? best : k->units[0].name[0] == 'n' ? find_unit(k, "s", 1, false) : best;
}

char *quantity_format(char *buf, size_t size, enum quantity kind, int64_t value, bool exact)
{
	const struct kind *k = &kinds[kind];
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;
	const struct unit *u;
	char number[64];

	u = choose_unit(k, v, exact);
	if (!exact && !u->whole) {
		v = round_digits(v);
		u = choose_unit(k, v, exact);
	}
	format_digits(number, sizeof number, v, (uint64_t)u->size,
		exact || !u->whole ? FRACTION_DIGITS : 1);
	snprintf(buf, size, "%s%s%s%s", value < 0 ? "-" : "", number, *u->name ? " " : "", u->name);
	return buf;
}

char *percent_format(char *buf, size_t size, double share, int digits)
{
	double percent = share < 1 ? fmin(100 * share, nextafter(100, 0)) : 100 * share;

	do
		snprintf(buf, size, "%.*g %%", digits, percent);
	while (percent < 100 && strtod(buf, NULL) >= 100 && digits++ < DBL_DECIMAL_DIG);
	return buf;
}
