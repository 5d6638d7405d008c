/*
 * Quantities with units, as users write them and as we print them.
 *
 * A number without its unit is refused, and so are the spellings that have led people astray
 * ("Gbps", "MB/s" for a rate): the message says what to write instead. Prefixes are decimal SI;
 * KiB, MiB and GiB are accepted for bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum quantity {
	QUANTITY_RATE,	/* "0.84 Gbit/s"    -> bit/s, > 0 */
	QUANTITY_TIME,	/* "300 ms"         -> ns, >= 0 (ns, us, ms, s, min, h, d) */
	QUANTITY_BYTES, /* "6 GB"           -> bytes, >= 0 */
	QUANTITY_COUNT, /* "12 B", "405 M"  -> a plain number of things: k, M, B, T or no suffix */
	QUANTITY_BITS,	/* "4 bit"          -> bits, 1 to 1024 */
	QUANTITY_RATIO, /* "0.1 %"          -> units of 1e-9: 1000000 */
};

/*
 * Parses text as a quantity of the kind. On success *out is set: an integer in the base unit.
 * A QUANTITY_RATIO is in units of 1e-9 ("0.1 %" -> 1000000), and needs its "%".
 * On error returns -EINVAL (no sense, wrong unit) or -ERANGE (does not fit an int64_t) and
 * sets err to one sentence without a position: the caller puts file:line:column before it.
 */
int quantity_parse(const char *text, enum quantity kind, int64_t *out, struct error *err);

#define RATIO_ONE INT64_C(1000000000)

/*
 * "base ± spread %": "3.75 s ± 5 %" or "3.75 s +- 5 %"; without a spread *spread is 0.
 * *spread is in units of 1e-9, below RATIO_ONE.
 */
int quantity_parse_spread(
	const char *text, enum quantity kind, int64_t *out, int64_t *spread, struct error *err);

/*
 * Formats a value in its base unit with the largest prefix that leaves at least 1 before the
 * point: min, h and d only for whole numbers of them, or for display from 2 of them on. exact:
 * as many digits as it takes to read back the same value; otherwise 4 significant digits (one
 * after the point for min, h and d). Writes at most size bytes and always a final NUL.
 * Returns buf.
 */
char *quantity_format(char *buf, size_t size, enum quantity kind, int64_t value, bool exact);

/*
 * A share of things in percent, "0.1 %", to so many significant digits, or as many more as it takes
 * for what is less than all not to be shown as 100 %. Returns buf.
 */
char *percent_format(char *buf, size_t size, double share, int digits);
