/* See seek_options.h. */
#include "bench/cli/seek_options.h"

#include <errno.h>

#include "base/units.h"

bool seek_argument(struct seek_arguments *a, int option, const char *value)
{
	switch (option) {
	case SEEK_FIND:
		a->find = value;
		return true;
	case SEEK_FOR:
		a->condition = value;
		return true;
	case SEEK_MIN:
		a->min = value;
		return true;
	case SEEK_MAX:
		a->max = value;
		return true;
	case SEEK_TOLERANCE:
		a->tolerance = value;
		return true;
	case SEEK_LARGEST:
		a->largest = true;
		return true;
	default:
		return false;
	}
}

static int parse_tolerance(double *out, const char *text, struct error *err)
{
	struct error inner = {0};
	int64_t v;

	if (quantity_parse(text, QUANTITY_RATIO, &v, &inner))
		return error_set(
			err, -EINVAL, STATUS_INPUT, "--tolerance %.64s: %s", text, inner.text);
	if (v < 10 || v > RATIO_ONE / 2)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"--tolerance %.64s: from \"0.000001 %%\" to \"50 %%\"", text);
	*out = (double)v / (double)RATIO_ONE;
	return 0;
}

int seek_options_make(struct seek_options *out, const struct seek_arguments *a, struct error *err)
{
	struct error inner = {0};

	out->find = a->find;
	out->min = a->min;
	out->max = a->max;
	out->largest = a->largest;
	if (expectation_parse(&out->want, a->condition, &inner))
		return error_set(err, -EINVAL, STATUS_INPUT, "--for: %s", inner.text);
	return parse_tolerance(&out->tolerance, a->tolerance, err);
}
