/* The scenarios of scenarios/published/, in the program, so that it needs no path to them. */
#pragma once

struct embedded_scenario {
	const char *name, *text; /* of NAME.yaml */
};

extern const struct embedded_scenario embedded_scenarios[]; /* ends with one without name */
