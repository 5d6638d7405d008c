/*
 * A command of the program: one row in the table of narrowlink.c, one file of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct command {
	const char *name;
	const char *arguments; /* "FILE" */
	const char *summary;   /* one line */
	const char *help;      /* options and examples, whole lines */
	/* argv[0] is the command's name. Returns the exit status; err holds the sentence. */
	enum exit_status (*run)(int argc, char **argv, struct error *err);
};

extern const struct command command_run, command_check, command_calibrate, command_profiles,
	command_doctor, command_report, command_published, command_seek, command_sweep,
	command_show, command_shape, command_clear, command_compare;

/* What several commands take: --json, --set, --dilation, --seed. */
struct overrides {
	const char *items[64]; /* "key=value"; "--key=value" for an option of its own */
	size_t count;
	char text[2][64]; /* storage for --dilation and --seed */
};
/* STATUS_INPUT when there are too many, or no "=" in it. */
int overrides_add(struct overrides *o, const char *item, struct error *err);
int overrides_dilation(struct overrides *o, const char *value, struct error *err);
int overrides_seed(struct overrides *o, const char *value, struct error *err);

/* STATUS_INPUT with a pointer to the command's --help. */
enum exit_status command_usage(const struct command *c, struct error *err, const char *why);
/*
 * The same for getopt_long's answers '?' and ':', naming the option; its string of short options
 * begins with ':', which tells a missing value from an option that does not exist.
 */
enum exit_status command_option(
	const struct command *c, int answer, char **argv, struct error *err);
